// The configuration of one process: read once, checked, then only looked at.
//
// Order of what wins: file < modules.d/*.toml < environment < --set. Threads: immutable after
// load(), but for the settings of modules, which are checked one by one when their schema is known.
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

// How the configuration treats one module.
struct module_entry {
  std::string name;
  bool enabled = false;
  bool required = true;
  std::string sha256;
  std::string path;   // empty: <modules.path>/<name>.so
  std::string where;  // where it was enabled
  bool allow_newer_schema = false;
};

class config {
 public:
  // Reads and checks the host's part. Never throws for bad input: see faults().
  config(const sources& from, const environment& env, const defaults& places);

  // The path of the file that was read; empty if there is none.
  const std::string& file() const noexcept { return file_; }
  // Everything found wrong so far, in the order it was found.
  const problems& faults() const noexcept { return faults_; }
  // Environment variables that name no setting; known once the modules' settings are checked.
  const problems& warnings() const noexcept { return warnings_; }
  // Adds what only the rest of the host or a module can see: a value of the right form that cannot be used.
  void refuse(std::string_view key, std::string message);
  // Where the setting was set whose name `text` begins with, or the table around it when it stands nowhere.
  std::string place(std::string_view text) const;

  // Host settings; the key must stand in the schema and faults() must be empty.
  std::string text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::chrono::milliseconds duration(std::string_view key) const;  // a key ending in _seconds
  double number(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;  // a single string is a list of one
  std::vector<std::string> names(std::string_view key) const;  // of the members of a table
  bool has(std::string_view key) const;  // of a setting without a default: it was given

  std::vector<module_entry> modules() const;
  std::vector<std::string> module_paths() const;  // modules.path, split at ':'

  // Takes [a.b] for [a_b] where both a and a_b are modules. Refuses top-level tables and modules.<name> entries that belong to nothing in `module_names`
  // (all modules on disk, enabled or not).
  void check_names(const std::vector<std::string>& module_names);
  // Checks the table [name] against the module's schema (JSON text). The settings with defaults, or
  // nullopt when something was wrong (then faults() has grown).
  std::optional<std::string> module_settings(const std::string& name, std::string_view schema_json);

  // The settings that module_settings() has accepted, with defaults; empty: none of this module.
  std::string accepted_settings(const std::string& name) const;

  // Once all modules are created: names of drivers in the checked settings of modules that nobody
  // provides. `drivers` are pairs of extension point and name.
  void check_drivers(const std::vector<std::pair<std::string, std::string>>& drivers);

  // Once all modules are created: names of tiers, models and the like that no setting defines.
  void check_references();

  // Tables with settings that no module_settings() has looked at: those of modules that are not enabled.
  problems unchecked() const;

  // "key = value" of each limit or protection that is turned off: the value equals the member "off" of its schema.
  // Modules whose settings were not checked are left out.
  std::vector<std::string> disabled() const;
  // What is in force, one "key = value  # where" per line, secrets masked. Modules whose settings
  // were not checked are left out.
  std::string listing() const;
  // Texts that must never appear in a log.
  std::vector<std::string> secret_texts() const;

 private:
  const boost::json::value& at(std::string_view key) const;
  const boost::json::value* find(std::string_view key) const;

  std::string file_;
  node tree_;
  boost::json::value schema_;
  boost::json::value host_;
  std::map<std::string, std::pair<boost::json::value, boost::json::value>>
      modules_;  // value, schema
  problems faults_, warnings_;

  // Moves what is a warning out of the faults.
  void set_warnings_aside();
};

}  // namespace ry::app::config
