// Records module starts, so that the next process can recognise a module that terminated the previous one.
#pragma once

#include <string>

namespace ry::module {

// Threads: the thread of the module_set.
class start_guard {
 public:
  virtual ~start_guard() = default;
  // Why the module with this file must not be started, as a message without a full stop; empty: it may.
  virtual std::string objection(const std::string& module, const std::string& sha256) const = 0;
  // Called before and after start().
  virtual void starting(const std::string& module, const std::string& sha256) = 0;
  virtual void started(const std::string& module) = 0;
};

}  // namespace ry::module
