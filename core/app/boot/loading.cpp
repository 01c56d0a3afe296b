#include "core/app/boot/loading.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "core/app/boot/api_document.hpp"
#include "core/app/boot/module_names.hpp"
#include "core/app/boot/preflight.hpp"
#include "core/module/inspect.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* listed_as_fault = "see the configuration errors above";

module::module_spec spec_of(const fs::path& file, const config::module_entry* entry) {
  using module::module_spec;
  module_spec spec;
  spec.file = file;
  spec.used = entry && entry->enabled ? module_spec::use::enabled : module_spec::use::disabled;
  if (entry) {
    spec.failure = entry->required ? module_spec::on_failure::abort : module_spec::on_failure::skip;
    spec.sha256 = entry->sha256;
    spec.allow_newer_schema = entry->allow_newer_schema;
  }
  return spec;
}

}  // namespace

found_modules find_modules(config::config& c) {
  found_modules found;
  const auto entries = c.modules();
  const auto entry_of = [&](const std::string& name) -> const config::module_entry* {
    const auto it = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.name == name; });
    return it == entries.end() ? nullptr : &*it;
  };
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const fs::path& file) {
    if (!seen.insert(name).second) return;
    found.names.push_back(name);
    found.specs.push_back(spec_of(file, entry_of(name)));
  };
  for (const auto& e : entries) {
    if (e.path.empty()) continue;
    std::error_code ec;
    if (e.enabled && !fs::is_regular_file(e.path, ec))
      c.refuse("modules." + e.name + ".path", "there is no file " + e.path);
    else
      add(e.name, e.path);
  }
  for (const auto& dir : c.module_paths())
    for (const auto& file : module::discover(dir)) add(file.stem().string(), file);
  return found;
}

module::set_options module_options(config::config& c) {
  module::set_options options;
  options.taken_by = taken_by;
  options.run_preflight = run_preflight;
  options.host_components = host_components();
  options.settings = [&c](const module::module_manifest& manifest, std::string_view schema) {
    module::settings_result result;
    const auto entries = c.modules();
    const bool named = std::any_of(entries.begin(), entries.end(),
                                   [&](const auto& e) { return e.enabled && e.name == manifest.name; });
    if (!named) {
      result.error = "its file must be called " + manifest.name +
                     ".so, because its settings are in the table modules." + manifest.name;
      return result;
    }
    if (auto json = c.module_settings(manifest.name, schema)) {
      result.json = std::move(*json);
    } else {
      result.error = listed_as_fault;
    }
    return result;
  };
  options.faults.refuse = [&c](const module::module_manifest&, std::string_view key, std::string message) {
    c.refuse(key, std::move(message));
    return std::string(listed_as_fault);
  };
  options.faults.position_of = [&c](const module::module_manifest& manifest, std::string_view sentence) {
    return sentence.starts_with(manifest.name + ".") ? c.position_of(sentence) : std::string();
  };
  return options;
}

void report_modules(const module::report& r, report_target target) {
  std::string without;
  for (const auto& p : r.problems) {
    if (p.follows) {
      without += (without.empty() ? "" : ", ") + p.module;
      continue;
    }
    if (p.message.find(listed_as_fault) != std::string::npos) continue;
    if (target == report_target::log && !p.fatal)
      observe::log(observe::level::error, "module", "module skipped", {{"module", p.module}, {"reason", p.message}});
    else
      std::fprintf(stderr, "%s%s\n", p.fatal ? "" : "skipped: ", p.message.c_str());
  }
  if (!without.empty() && target == report_target::log && r.ok())
    observe::log(observe::level::error, "module", "modules skipped because a module that they need was skipped",
                 {{"modules", without}});
  else if (!without.empty())
    std::fprintf(stderr, "skipped because of the above: %s\n", without.c_str());
}

}  // namespace ry::app
