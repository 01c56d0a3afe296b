// The modules of one process and their lifecycle, from files to running code and back:
//   prepare()  inspect -> resolve -> load -> settings -> create -> validate all -> announce drivers -> let the
//              modules check their settings
//   [the caller runs migrations()]
//   start()    every module starts, dependencies first
//   [the caller serves routes(), jobs(), consumers()]
//   stop()     in reverse: withdraw drivers, stop, wait for outstanding work, destroy
// A hot swap while the host serves:
//   stage()    new instances beside the old ones: load, settings, create, validate
//   [the caller runs staged_migrations()]
//   start_staged()
//   commit()   [the caller serves routes(), jobs(), consumers(), and drains the work of leaving()]
//   end_leaving()
// `runyard check` ends after prepare(), `runyard modules` after prepare() or start() with
// describe().
//
// Lifetime: the runtime, its registry and the loops must outlive the set; loops run until stop() has returned.
// Threads: one thread for everything except health() and describe() [any]. It waits for module calls no longer than
// registry::limits and the given deadlines. Errors: sentences in the report; functions throw only std::bad_alloc.
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
#include "core/module/facts.hpp"
#include "core/module/host.hpp"
#include "core/module/inspect.hpp"
#include "core/module/registration.hpp"

namespace ry::module {

// One module file that the configuration names.
struct module_spec {
  enum class use { enabled, disabled };
  enum class on_failure { abort, skip };  // skip: drop it and all modules that need it
  std::filesystem::path file;
  use used = use::enabled;
  on_failure failure = on_failure::abort;
  std::string sha256;  // hex pin of the file's contents; empty = none
  bool allow_newer_schema = false;
};

struct problem {
  std::string module;  // its name, or the file's
  std::string message;  // one sentence
  bool fatal = false;  // a required module failed: the host must not serve
  bool follows = false;  // a consequence of another module's problem
};

struct report {
  std::vector<problem> problems;
  bool ok() const noexcept;  // no fatal problem
  std::string text() const;  // one line per problem
};

// A module's settings as JSON with defaults filled in, or why they are rejected (one sentence).
struct settings_result {
  std::string json = "{}";
  std::string error;
};
using settings_fn = std::function<settings_result(const module_facts& facts, std::string_view schema_json)>;

// Relate modules' own messages about settings to the place where a setting was set. Both may be empty.
struct setting_faults {
  // Returns the report's text for one fault of ry.settings_check/1; `key` is the full name of the setting.
  std::function<std::string(const module_facts& facts, std::string_view key, std::string message)> refuse;
  // Returns where a setting was set, if the sentence begins with its full name ("mail.smtp.url must ..."); empty:
  // unknown.
  std::function<std::string(const module_facts& facts, std::string_view sentence)> place;
};

// A preflight: loads and creates a module in a sandboxed process, where a crash or a hang does no harm. Each step
// waits and returns why the host must not do it, as a sentence without a full stop; empty if the step returned,
// whether or not the module reported success.
class rehearsal {
 public:
  virtual ~rehearsal() = default;
  virtual std::string load() = 0;
  // After load(): runs create(), destroy() and unloading.
  virtual std::string create(const std::string& settings_json,
                             const std::unordered_map<std::string, std::string>& host_facts) = 0;
};
// Starts a preflight of the library at a path that other processes of this user can read. Does not wait.
using rehearse_fn = std::function<std::unique_ptr<rehearsal>(const std::string& path)>;

struct set_options {
  std::uint32_t host_minor = RY_ABI_MINOR;
  settings_fn settings;  // empty: every module gets "{}"
  setting_faults faults;
  // Why modules must not use this name, as the end of a sentence without a full stop; empty, or not set: they may.
  std::function<std::string(std::string_view name)> taken_by;
  // Runs a preflight for modules that may fail: those that are optional or will replace a running instance.
  rehearse_fn rehearse;
  // Routes of the host (GET, outside of http.base_path), which modules cannot register.
  std::vector<std::string> host_routes = {"/healthz", "/readyz", "/metrics", "/openapi.json"};
  // Components of the host that modules' descriptions may refer to: "schemas/host.Error".
  std::set<std::string> host_components;
};

struct module_migrations {
  std::string module;  // also the schema
  std::vector<migration> list;
  bool allow_newer_schema = false;  // the operator accepts applied migrations that are missing in `list`
};

struct module_text {
  std::string module, version;
  std::vector<std::string> parts;
};

struct module_health {
  std::string module;
  ry_status status = RY_OK;
  std::string message;
  bool required = true;
};

struct module_change {
  std::string name;
  module_spec spec;  // enabled: load a new instance; disabled: remove the module
};

struct change_request {
  std::vector<module_change> modules;
  settings_fn settings;  // of the new instances
  setting_faults faults;
};

// How an instance that was replaced or removed ended.
struct module_end {
  enum class outcome {
    unloaded,
    still_mapped,  // it ended, but the dynamic loader keeps its code (thread-locals, a sanitizer, its own request)
    retired,  // it did not end and stays in memory
  };
  std::string module, version;
  std::uint64_t generation = 0;
  outcome how = outcome::unloaded;
  std::string why;  // if still_mapped or retired
};

enum class unmapping {
  keep_mapped,  // the process is ending
  unmap,  // dlclose, if nothing prevents it
};

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

  // --- hot swaps, one at a time, between start() and stop(). Modules that use what a swapped module provides get new
  // instances too. If a report has a problem, nothing has changed and the new instances are destroyed.
  report stage(const change_request& request);
  std::vector<module_migrations> staged_migrations() const;  // after stage()
  std::vector<job_kind> staged_jobs() const;  // after stage()
  report start_staged();  // after stage()
  // Starts and ends the staged modules, to test whether they start before anything permanent is done for them.
  // Afterwards nothing is staged.
  struct trial_start {
    report problems;
    bool missed_schema = false;  // a statement named a missing table, column or function
  };
  trial_start try_staged();
  void abandon();  // instead of start_staged() or commit()
  // Switches to the new instances, their services and drivers. Waits until the deadline for owners of extension
  // points that cannot use a driver and its successor at the same time.
  void commit(std::chrono::steady_clock::time_point deadline);
  // After commit(): the old instances that still live, and their end. Stop routing requests to them first.
  std::vector<ry_host*> leaving() const;
  std::vector<module_end> end_leaving(std::chrono::steady_clock::time_point deadline);

  // Registrations of the present modules, dependencies first.
  std::vector<module_migrations> migrations() const;
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

  // Started modules only. RY_DEADLINE_EXCEEDED for each that does not answer within `patience`, which limits the
  // whole call. [any], after prepare()
  std::vector<module_health> health(std::chrono::milliseconds patience = std::chrono::seconds(1)) const;
  // All modules that were found, in start order; disabled and refused ones last. [any], after prepare()
  std::vector<module_description> describe() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace ry::module
