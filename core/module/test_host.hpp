// For tests: the environment of a module set (loops, operations, registry) and a log of the fixture modules' calls.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "core/exec/blocking_pool.hpp"
#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/module/fixtures/trace.h"
#include "core/module/host.hpp"
#include "core/module/module_set.hpp"
#include "core/module/registry.hpp"
#include "core/observe/metrics.hpp"

namespace ry::module {

// Global, because the fixtures' interface has no context argument.
class trace_log {
 public:
  static trace_log& get() {
    static trace_log the;
    return the;
  }
  void add(std::string line) {
    std::unique_lock lock(mutex_);
    lines_.push_back(line);
    changed_.wait(lock, [&] { return line != held_; });
  }
  // A thread that adds this line blocks until another line, or none, is held.
  void hold(std::string line) {
    std::lock_guard lock(mutex_);
    held_ = std::move(line);
    changed_.notify_all();
  }
  std::vector<std::string> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string held_;
  std::vector<std::string> lines_;
};

struct test_host {
  test_host() {
    trace_log::get().take();
    static const fixture_trace trace = {sizeof(fixture_trace), 0, [](const char* module, const char* what) noexcept {
                                          trace_log::get().add(std::string(module) + " " + what);
                                        }};
    modules.interfaces.add(FIXTURE_TRACE_1, &trace, sizeof trace);
    rt.loops = &loops;
    rt.ops = &ops;
    rt.blocking = &blocking;
    rt.metrics = &metrics;
    rt.modules = &modules;
  }
  ~test_host() { loops.stop_and_join(); }

  registry modules;
  exec::loop_pool loops{2};
  exec::op_table ops;
  exec::blocking_pool blocking{1};
  observe::metrics metrics;
  runtime rt;
};

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(RY_FIXTURES) / (name + ".so");
}

}  // namespace ry::module
