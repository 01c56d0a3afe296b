// Input and output of a set of modules: files, settings, options, reports, and requests of hot swaps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/module/host.hpp"
#include "core/module/manifest.hpp"
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
  std::string message;  // for the operator
  bool fatal = false;  // a required module failed: the host must not serve
  bool follows = false;  // a consequence of another module's problem
};

struct report {
  std::vector<problem> problems;
  bool ok() const noexcept;  // no fatal problem
  std::string text() const;  // one line per problem
};

// A module's settings as JSON with defaults filled in, or why they are rejected.
struct settings_result {
  std::string json = "{}";
  std::string error;
};
using settings_fn = std::function<settings_result(const module_manifest& manifest, std::string_view schema_json)>;

// Relate modules' own messages about settings to the place where a setting was set. Both may be empty.
struct setting_faults {
  // Returns the report's text for one fault of ry.settings_check/1; `key` is the full name of the setting.
  std::function<std::string(const module_manifest& manifest, std::string_view key, std::string message)> refuse;
  // Returns where a setting was set, if the message begins with its full name ("mail.smtp.url must ..."); empty:
  // unknown.
  std::function<std::string(const module_manifest& manifest, std::string_view sentence)> position_of;
};

// A preflight: loads and creates a module in a sandboxed process, where a crash or a hang does no harm. Each step waits
// and returns why the host must not do it, as a message without a full stop; empty if the step returned, whether or not
// the module reported success.
class preflight {
 public:
  virtual ~preflight() = default;
  virtual std::string load() = 0;
  // After load(): runs create(), destroy() and unloading.
  virtual std::string create(const std::string& settings_json,
                             const std::unordered_map<std::string, std::string>& host_values) = 0;
};
// Starts a preflight of the library at a path that other processes of this user can read. Does not wait.
using preflight_fn = std::function<std::unique_ptr<preflight>(const std::string& path)>;

struct set_options {
  std::uint32_t host_minor = RY_ABI_MINOR;
  settings_fn settings;  // empty: every module gets "{}"
  setting_faults faults;
  // Why modules must not use this name, as the end of an error message without a full stop; empty, or not set: they
  // may.
  std::function<std::string(std::string_view name)> taken_by;
  // Runs a preflight for modules that may fail: those that are optional or will replace a running instance.
  preflight_fn run_preflight;
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

struct provided_services {
  std::string module;
  std::vector<std::string> services;  // "accounts/1"
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

struct swap_request {
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
  std::uint64_t instance = 0;
  outcome how = outcome::unloaded;
  std::string why;  // if still_mapped or retired
};

enum class unmapping {
  keep_mapped,  // the process is ending
  unmap,  // dlclose, if nothing prevents it
};

}  // namespace ry::module
