// Asks modules for their health without waiting for those that do not answer. A module that is still in its health()
// when it is asked again is not asked twice: the answer is that it is slow.
//
// Threads: ask() [any]. Each question runs on a thread of its own, which keeps the module from being destroyed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/module/generation.hpp"
#include "core/module/module_set.hpp"

namespace ry::module {

class health_checks {
 public:
  struct question {
    std::string module;
    std::shared_ptr<generation> gen;
    hold living;  // given back before `gen`
  };

  // One answer for each question, in their order, within `patience`.
  std::vector<module_health> ask(const std::vector<question>& questions, std::chrono::milliseconds patience);

 private:
  struct asked;
  std::shared_ptr<asked> begin(const question& q);

  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<asked>> running_;  // by generation
};

}  // namespace ry::module
