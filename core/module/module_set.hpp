// The modules of one process and their lifecycle, from files to running code and back:
//   prepare()  inspect -> resolve -> load -> settings -> create -> validate all -> announce drivers -> let the
//              modules check their settings
//   [the caller runs migrations()]
//   start()    every module starts, dependencies first
//   [the caller serves routes(), jobs(), consumers()]
//   stop()     in reverse: withdraw drivers, stop, wait for outstanding work, destroy
// A hot swap while the host serves: begin_swap(), see module_swap.hpp.
// `runyard check` ends after prepare(), `runyard modules` after prepare() or start() with
// describe().
//
// Lifetime: the runtime, its registry and the loops must outlive the set; loops run until stop() has returned.
// Threads: one thread for everything except health() and describe() [any]. It waits for module calls no longer than
// registry::limits and the given deadlines. Errors: messages in the report; functions throw only std::bad_alloc.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/module/describe.hpp"
#include "core/module/host.hpp"
#include "core/module/inspect.hpp"
#include "core/module/manifest.hpp"
#include "core/module/registration.hpp"
#include "core/module/set_types.hpp"

namespace ry::module {

class module_swap;

class module_set {
 public:
  module_set(runtime& rt, set_options options);
  ~module_set();  // stop() with a deadline of two seconds, if it was not called
  module_set(const module_set&) = delete;
  module_set& operator=(const module_set&) = delete;

  // Call once. If the report is not ok, everything that was created is destroyed again.
  report prepare(const std::vector<module_spec>& specs);
  // Reports a failure outside of the set for one module (of its migrations, for example): drops the module and all
  // that need it, or is fatal if one of them is required. Between prepare() and start().
  report fail(std::string_view module, std::string message);
  // Call once, after prepare(). If the report is not ok, everything is stopped again.
  report start();
  // Idempotent. Stop routing requests to the modules first. Modules that do not end before the deadline stay mapped
  // and alive, with a line in the log.
  void stop(std::chrono::system_clock::time_point deadline, unmapping unmap = unmapping::keep_mapped);

  // A hot swap while the host serves, one at a time, between start() and stop(). Must not outlive the set.
  std::unique_ptr<module_swap> begin_swap();

  // Registrations of the present modules, dependencies first.
  std::vector<module_migrations> migrations() const;
  // The services that the manifests of the present modules declare.
  std::vector<provided_services> provided() const;
  std::vector<route> routes() const;
  std::vector<job_kind> jobs() const;
  std::vector<consumer> consumers() const;
  struct contribution {
    ry_host* owner;
    const void* table;
    void* self;
  };
  // The driver with this name of an extension point; nullopt: none. Valid until the set stops or changes.
  std::optional<contribution> find_driver(std::string_view point, std::string_view name) const;
  std::vector<module_text> descriptions() const;  // of routes, see ry_registrar_v1::describe

  // Started modules only. RY_DEADLINE_EXCEEDED for each that does not answer within `time_limit`, which limits the
  // whole call. [any], after prepare()
  std::vector<module_health> health(std::chrono::milliseconds time_limit = std::chrono::seconds(1)) const;
  // All modules that were found, in start order; disabled and refused ones last. [any], after prepare()
  std::vector<module_description> describe() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace ry::module
