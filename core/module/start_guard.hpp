// What is remembered of starts of modules, so that one that ends the process is recognised when the next process begins.
#pragma once

#include <string>

namespace ry::module {

// Threads: that of the module_set.
class start_guard {
 public:
  virtual ~start_guard() = default;
  // Why the module with this file must not be started, a sentence without a full stop; empty: it may.
  virtual std::string objection(const std::string& module, const std::string& sha256) const = 0;
  // Around start().
  virtual void starting(const std::string& module, const std::string& sha256) = 0;
  virtual void started(const std::string& module) = 0;
};

}  // namespace ry::module
