// The modules of one process, from files to running code and back:
//   prepare()  inspect -> resolve -> load -> settings -> create -> validate all -> drivers are announced -> settings
//              are checked by the modules themselves
//   [the caller runs migrations()]
//   start()    every module starts, dependencies first
//   [the caller serves routes(), jobs(), consumers()]
//   stop()     in reverse: drivers withdrawn, stop, wait for what is outstanding, destroy
// and for a change while the host serves:
//   stage()    new generations beside the old ones: load, settings, create, validate
//   [the caller runs staged_migrations()]
//   start_staged()
//   commit()   [the caller serves routes(), jobs(), consumers(), and drains what leaving() still does]
//   end_leaving()
// `runyard check` ends after prepare(), `runyard modules` after prepare() or start() with
// describe().
//
// Lifetime: the runtime, its registry and the loops outlive the set; loops run until stop()
// returned. Threads: one thread for everything but health() and describe() [any]; it waits for calls of
// modules no longer than registry::limits and the deadlines it gives. Errors: sentences in the report;
// nothing throws but std::bad_alloc.
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

// One file the configuration speaks of.
struct module_spec {
  enum class use { enabled, disabled };
  enum class on_failure { abort, skip };  // skip: it and all that need it are left out
  std::filesystem::path file;
  use used = use::enabled;
  on_failure failure = on_failure::abort;
  std::string sha256;  // hex pin of the file's contents; empty = none
  bool allow_newer_schema = false;
};

struct problem {
  std::string module;   // its name, or the file's
  std::string message;  // one sentence
  bool fatal = false;   // a required module fails: the host must not serve
  bool follows = false;  // only because another module, which has a problem too, is missing
};

struct report {
  std::vector<problem> problems;
  bool ok() const noexcept;  // nothing fatal
  std::string text() const;  // one line per problem
};

// Settings of a module as JSON with defaults filled in, or why they are refused (one sentence).
struct settings_result {
  std::string json = "{}";
  std::string error;
};
using settings_fn =
    std::function<settings_result(const module_facts& facts, std::string_view schema_json)>;

// What modules say themselves about their settings, for whoever knows where those were set. Both may be empty.
struct setting_faults {
  // Takes one fault of ry.settings_check/1, with the whole name of its setting; returns what the report says of it.
  std::function<std::string(const module_facts& facts, std::string_view key, std::string message)> refuse;
  // Where the setting was set whose whole name a sentence begins with ("mail.smtp.url must ..."); empty: none.
  std::function<std::string(const module_facts& facts, std::string_view sentence)> place;
};

// A short life of a module in another process: what takes its process down or hangs does so there. Each step waits and
// answers why it must not be done here, a sentence without a full stop; empty: it came to its end, well or not.
class rehearsal {
 public:
  virtual ~rehearsal() = default;
  virtual std::string load() = 0;
  // After load(): create(), destroy() and unloading.
  virtual std::string create(const std::string& settings_json,
                             const std::unordered_map<std::string, std::string>& host_facts) = 0;
};
// Begins one with the library at a path that other processes of this user can read. Does not wait.
using rehearse_fn = std::function<std::unique_ptr<rehearsal>(const std::string& path)>;

struct set_options {
  std::uint32_t host_minor = RY_ABI_MINOR;
  settings_fn settings;  // empty: every module gets "{}"
  setting_faults faults;
  // Why no module may have this name, as the end of a sentence without a full stop; empty, or none given: it may.
  std::function<std::string(std::string_view name)> taken_by;
  // Tries a module that may fail, because it is not required or is to replace a running one.
  rehearse_fn rehearse;
  // Routes of the host itself (GET, outside of http.base_path), which modules cannot take.
  std::vector<std::string> host_routes = {"/healthz", "/readyz", "/metrics", "/openapi.json"};
  // Components of the host that descriptions of modules may refer to: "schemas/host.Error".
  std::set<std::string> host_components;
};

struct module_migrations {
  std::string module;  // also the schema
  std::vector<migration> list;
  bool allow_newer_schema = false;  // the operator accepts applied migrations that are not in `list`
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
  module_spec spec;  // enabled: loaded anew, or for the first time; disabled: to go
};

struct change_request {
  std::vector<module_change> modules;
  settings_fn settings;  // of the new generations
  setting_faults faults;
};

// How a generation that was replaced or taken out ended.
struct module_end {
  enum class outcome {
    unloaded,
    still_mapped,  // it ended, but the dynamic loader keeps its code (thread-locals, a sanitizer, its own wish)
    retired,       // it would not end and stays in memory
  };
  std::string module, version;
  std::uint64_t generation = 0;
  outcome how = outcome::unloaded;
  std::string why;  // of still_mapped and retired
};

enum class unmapping {
  keep_mapped,  // the process ends anyway
  unmap,        // dlclose, where nothing speaks against it
};

class module_set {
 public:
  module_set(runtime& rt, set_options options);
  ~module_set();  // stop() with a deadline of two seconds, if that was not done
  module_set(const module_set&) = delete;
  module_set& operator=(const module_set&) = delete;

  // Once. When the report is not ok, everything that was created is destroyed again.
  report prepare(const std::vector<module_spec>& specs);
  // Something outside failed for one module (its migrations, say): leaves it and all that need it
  // out, or is fatal when one of them is required. Between prepare() and start().
  report fail(std::string_view module, std::string message);
  // Once, after prepare(). When the report is not ok, everything is stopped again.
  report start();
  // Idempotent. The routes of the modules must get no more requests. What does not end before the
  // deadline is left mapped and alive, with a line in the log.
  void stop(std::chrono::system_clock::time_point deadline,
            unmapping unmap = unmapping::keep_mapped);

  // --- changes, one at a time, between start() and stop(). Modules that use what a changed one provides
  // are made anew with it. Any problem in a report: nothing has changed, what was made is destroyed.
  report stage(const change_request& request);
  std::vector<module_migrations> staged_migrations() const;  // after stage()
  std::vector<job_kind> staged_jobs() const;                 // after stage()
  report start_staged();                                     // after stage()
  // Starts and ends the staged modules, to learn whether they start, before anything is done for them that
  // stays. After it nothing is staged.
  struct trial_start {
    report problems;
    bool missed_schema = false;  // a statement named a table, column or function that does not exist
  };
  trial_start try_staged();
  void abandon();                                            // instead of start_staged() or commit()
  // The new generations are the set from now on: services and drivers are theirs. Waits until the deadline
  // for owners of extension points that cannot take a driver's successor beside it.
  void commit(std::chrono::steady_clock::time_point deadline);
  // After commit(): those that have left the set but still live, and their end. The routes of those
  // must get no more requests.
  std::vector<ry_host*> leaving() const;
  std::vector<module_end> end_leaving(std::chrono::steady_clock::time_point deadline);

  // What the present modules registered, dependencies first.
  std::vector<module_migrations> migrations() const;
  std::vector<route> routes() const;
  std::vector<job_kind> jobs() const;
  std::vector<consumer> consumers() const;
  struct contribution {
    ry_host* owner;
    const void* table;
    void* self;
  };
  // The driver of that name of an extension point; nullopt: there is none. Good until the set stops or changes.
  std::optional<contribution> find_driver(std::string_view point, std::string_view name) const;
  std::vector<module_text> descriptions() const;  // of routes, see ry_registrar_v1::describe

  // Started modules only. RY_DEADLINE_EXCEEDED for one that does not answer within `patience`, in all. [any], after
  // prepare()
  std::vector<module_health> health(std::chrono::milliseconds patience = std::chrono::seconds(1)) const;
  // All modules that were found, in order of start; the disabled and the refused last. [any],
  // after prepare()
  std::vector<module_description> describe() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace ry::module
