// Asks modules for their health without waiting for modules that do not answer. If a module's previous health() call
// is still running, it is reported as slow instead of being called again.
//
// Threads: ask() [any]. Each call runs on its own thread, which keeps the module from being destroyed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/module/describe.hpp"
#include "core/module/inspect.hpp"
#include "core/module/module_instance.hpp"
#include "core/module/set_types.hpp"

namespace ry::module {

class health_checks {
 public:
  struct question {
    std::string module;
    std::shared_ptr<module_instance> gen;
    hold living;  // released before `gen`
  };

  // One answer per question, in the same order, within `time_limit`.
  std::vector<module_health> ask(const std::vector<question>& questions, std::chrono::milliseconds time_limit);

 private:
  struct asked;
  std::shared_ptr<asked> begin(const question& q);

  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<asked>> running_;  // by instance number
};

}  // namespace ry::module
