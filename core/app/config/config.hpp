// The configuration of one process: read and checked once, immutable afterwards.
//
// Precedence, lowest first: file, modules.d/*.toml, environment, --set. Threads: immutable after load_config(), except for
// the settings of modules, which are checked one by one when their schema is known.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/config/host_schema.hpp"
#include "core/app/config/sources.hpp"
#include "core/app/config/tree.hpp"

namespace ry::app::config {

// The configuration's entry for one module.
struct module_entry {
  std::string name;
  bool enabled = false;
  bool required = true;
  std::string sha256;
  std::string path;  // empty: <modules.path>/<name>.so
  std::string where;  // where it was enabled (a position)
  bool allow_newer_schema = false;
};

class config {
 public:
  // Reads and checks the host's part. Never throws for bad input; see faults().
  config(const sources& from, const environment& env, const defaults& places);

  // The path of the file that was read; empty if there is none.
  const std::string& file() const noexcept { return file_; }
  // All faults found so far, in the order in which they were found.
  const problems& faults() const noexcept { return faults_; }
  // Environment variables that match no setting; complete once the modules' settings are checked.
  const problems& warnings() const noexcept { return warnings_; }
  // Adds a fault that only the rest of the host or a module can detect: a well-formed value that cannot be used.
  void refuse(std::string_view key, std::string message);
  // The position of the setting whose name `text` begins with, or of the enclosing table if it is not set.
  std::string position_of(std::string_view text) const;

  // Host settings. The key must be in the schema, and faults() must be empty.
  std::string text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::chrono::milliseconds duration(std::string_view key) const;  // a key ending in _seconds
  double number(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;  // a single string is a list of one
  std::vector<std::string> names(std::string_view key) const;  // the member names of a table
  bool has(std::string_view key) const;  // for a setting without a default: whether it is set

  std::vector<module_entry> modules() const;
  std::vector<std::string> module_paths() const;  // modules.path, split at ':'

  // Reads [a.b] as [a_b] if both a and a_b are modules. Rejects top-level tables and modules.<name> entries that
  // match no name in `module_names` (all modules on disk, enabled or not).
  void check_names(const std::vector<std::string>& module_names);
  // Checks the table [name] against the module's schema (JSON text). Returns the settings with defaults, or nullopt
  // if there was a fault, which is then in faults().
  std::optional<std::string> module_settings(const std::string& name, std::string_view schema_json);

  // The settings that module_settings() accepted, with defaults; empty if it accepted none for this module.
  std::string accepted_settings(const std::string& name) const;

  // Finds driver names in the checked settings that no module provides. Must be called after all modules are
  // created. `drivers` are pairs of extension point and name.
  void check_drivers(const std::vector<std::pair<std::string, std::string>>& drivers);

  // Finds names of tiers, models etc. that no setting defines. Must be called after all modules are created.
  void check_references();

  // Tables whose settings module_settings() has not checked: those of modules that are not enabled.
  problems unchecked() const;

  // "key = value" of each limit or protection that is turned off: its value equals the "off" member of its schema.
  // Modules whose settings were not checked are skipped.
  std::vector<std::string> disabled() const;
  // The effective configuration, one "key = value  # where" per line, with secrets masked. Modules whose settings were
  // not checked are skipped.
  std::string listing() const;
  // The secrets, which must never appear in a log.
  std::vector<std::string> secret_texts() const;
  // The files that contain secrets. Modules whose settings were not checked are skipped.
  std::vector<std::string> secret_files() const;

 private:
  const boost::json::value& at(std::string_view key) const;
  const boost::json::value* find(std::string_view key) const;

  std::string file_;
  node tree_;
  boost::json::value schema_;
  boost::json::value host_;
  std::map<std::string, std::pair<boost::json::value, boost::json::value>> modules_;  // value, schema
  problems faults_, warnings_;

  // Moves warnings out of the faults.
  void set_warnings_aside();
};

}  // namespace ry::app::config
