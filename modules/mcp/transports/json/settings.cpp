#include "settings.hpp"

#include <signal.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <initializer_list>
#include <ry/cpp/settings_check.hpp>
#include <ry/ry.hpp>

#include "json/members.hpp"

namespace mcp_json {

namespace json = boost::json;

namespace {

std::string text(const json::value& v) {
  return v.is_string() ? std::string(v.get_string().data(), v.get_string().size()) : std::string();
}

std::uint64_t number(const json::object& o, const char* key, std::uint64_t default_value) {
  return static_cast<std::uint64_t>(module_json::integer_at(o, key, static_cast<std::int64_t>(default_value)));
}

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : line + ' ') {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  return out;
}

// Variables that can make a program run other code, and variables that the module sets for every program.
bool is_forbidden_variable(std::string_view name) {
  for (const char* prefix : {"LD_", "DYLD_", "BASH_FUNC_"}) {
    if (name.starts_with(prefix)) return true;
  }
  for (const char* each : {"PATH", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "BASH_ENV", "ENV", "PERL5OPT",
                           "RUBYOPT", "GCONV_PATH", "HOME", "TMPDIR", "SHELL", "USER", "LOGNAME"}) {
    if (name == each) return true;
  }
  return false;
}

bool is_variable_name(std::string_view s) {
  return !s.empty() && s.size() <= 128 && !(s[0] >= '0' && s[0] <= '9') && std::all_of(s.begin(), s.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

// Resolves symbolic links in the existing part of the path.
std::filesystem::path resolved(std::string_view path) {
  std::error_code bad;
  auto out = std::filesystem::weakly_canonical(std::filesystem::path(path), bad);
  if (bad) out = std::filesystem::path(path).lexically_normal();
  return out.has_filename() || !out.has_relative_path() ? out : out.parent_path();
}

bool contains(const std::filesystem::path& outer, const std::filesystem::path& inner) {
  const auto [end, at] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return end == outer.end();
}

// The private path that contains `path` or is inside it; empty: none.
std::string overlapping_private_path(std::string_view path, std::string_view private_paths) {
  const auto visible = resolved(path);
  while (!private_paths.empty()) {
    const auto end = std::min(private_paths.find('\n'), private_paths.size());
    const auto each = private_paths.substr(0, end);
    private_paths.remove_prefix(std::min(end + 1, private_paths.size()));
    if (each.empty()) continue;
    const auto secret = resolved(each);
    if (contains(visible, secret) || contains(secret, visible)) return std::string(each);
  }
  return {};
}

bool has_no_nul(const std::string& s) {
  return s.find('\0') == std::string::npos;
}

}  // namespace

settings read_settings(std::string_view text_json, std::string_view mode, std::string_view private_paths,
                       ry::settings_faults& faults) {
  const auto v = text_json.empty() ? json::value(json::object())
                                   : json::parse(json::string_view(text_json.data(), text_json.size()));
  const auto& o = v.as_object();
  settings s;
  if (const auto* list = o.if_contains("allowed_commands"); list != nullptr && list->is_array()) {
    for (const auto& each : list->get_array()) s.allowed_commands.push_back(text(each));
  }
  if (const auto* any = o.if_contains("allow_any_command"); any != nullptr && any->is_bool() && any->get_bool()) {
    if (mode != "local")
      faults.add("allow_any_command",
                 "true lets every user run any program on this machine, so it requires deployment.mode = \"local\"");
    else if (o.contains("allowed_commands"))
      faults.add("allow_any_command", "true overrides allowed_commands: remove one of the two settings");
    else
      s.any_command = true;
  }
  if (const auto* list = o.if_contains("allowed_env"); list != nullptr && list->is_array()) {
    for (const auto& each : list->get_array()) s.allowed_env.push_back(text(each));
  }
  s.sandbox = o.contains("sandbox") ? text(o.at("sandbox")) : std::string();
  if (s.sandbox.empty()) s.sandbox = "bubblewrap";
  if (s.sandbox == "none") s.sandbox.clear();
  if (const auto* network = o.if_contains("network"); network != nullptr && network->is_bool()) {
    s.network = network->get_bool();
  }
  for (const auto& [key, to] : {std::pair{"readable", &s.readable}, std::pair{"writable", &s.writable}}) {
    const auto* list = o.if_contains(key);
    if (list == nullptr || !list->is_array()) continue;
    for (const auto& each : list->get_array()) {
      auto path = text(each);
      if (const auto secret = overlapping_private_path(path, private_paths); !secret.empty())
        faults.add(std::string(key) + "[" + std::to_string(to->size()) + "]",
                   "\"" + path + "\" exposes the server's own path " + secret +
                       ": name only the directories that programs need");
      to->push_back(std::move(path));
    }
  }
  // If every command is allowed, the directories where programs are installed must be visible in the sandbox.
  if (s.any_command && !o.contains("readable")) s.readable = {"/home", "/opt", "/root", "/srv"};
  s.memory_bytes = number(o, "memory_mb", 2048) << 20;
  s.processes = number(o, "processes", 1024);
  s.open_files = number(o, "open_files", 4096);
  s.file_bytes = number(o, "file_mb", 1024) << 20;
  s.scratch_bytes = number(o, "scratch_mb", 512) << 20;
  s.wall_ms = number(o, "wall_seconds", 14400) * 1000;
  s.cache_bytes = number(o, "package_cache_mb", 1024) << 20;
  s.total_cache_bytes = number(o, "package_cache_total_mb", 8192) << 20;
  s.cache_lifetime_s = number(o, "package_cache_days", 7) * 24 * 3600;
  s.max_children = number(o, "max_children", 64);
  s.max_per_account = number(o, "max_children_per_account", 16);
  s.path = o.contains("path") ? text(o.at("path")) : "/usr/local/bin:/usr/bin:/bin";
  s.directory = o.contains("directory") ? text(o.at("directory")) : std::string();
  return s;
}

command read_command(std::string_view config_json) {
  json::error_code ec;
  const auto v = json::parse(json::string_view(config_json.data(), config_json.size()), ec);
  const auto* o = v.if_object();
  command c;
  if (ec || o == nullptr || !o->contains("command") || text(o->at("command")).empty()) {
    throw ry::bad_request("mcp.config", "the configuration has no command");
  }
  c.argv.push_back(text(o->at("command")));
  if (const auto* args = o->if_contains("args"); args != nullptr && args->is_array()) {
    for (const auto& each : args->get_array()) {
      if (!each.is_string()) throw ry::bad_request("mcp.config", "args must be strings");
      c.argv.push_back(text(each));
    }
  }
  if (const auto* env = o->if_contains("env"); env != nullptr && env->is_object()) {
    for (const auto& [key, value] : env->get_object()) {
      std::string name(key.data(), key.size());
      if (!value.is_string() || !is_variable_name(name)) {
        throw ry::bad_request("mcp.config", "env must be an object with variable names as keys and strings as values");
      }
      if (is_forbidden_variable(name)) {
        throw ry::bad_request("mcp.config", "env." + name + " must not be set: it changes which program is executed");
      }
      c.env.emplace_back(std::move(name), text(value));
    }
  }
  for (const auto& each : c.argv) {
    if (!has_no_nul(each)) throw ry::bad_request("mcp.config", "the command contains a NUL character");
  }
  for (const auto& each : c.env) {
    if (!has_no_nul(each.second)) throw ry::bad_request("mcp.config", "env contains a NUL character");
  }
  return c;
}

bool allowed(const settings& s, const command& c) {
  if (s.any_command) return true;
  return std::any_of(s.allowed_commands.begin(), s.allowed_commands.end(), [&](const auto& entry) {
    const auto required = words(entry);
    return !required.empty() && required.size() <= c.argv.size() &&
           std::equal(required.begin(), required.end(), c.argv.begin());
  });
}

std::vector<std::pair<std::string, std::string>> cache_variables(const command& c, const std::string& directory) {
  const auto& path = c.argv.front();
  const auto name = path.substr(path.rfind('/') + 1);
  if (name == "npx" || name == "npm") {
    // Cached packages are used without checking the registry for newer versions; the cache's expiry limits their age.
    return {{"npm_config_cache", directory + "/npm"},
            {"npm_config_prefer_offline", "true"},
            {"npm_config_update_notifier", "false"}};
  }
  if (name == "uvx" || name == "uv") {
    return {{"UV_CACHE_DIR", directory + "/uv"},
            {"UV_PYTHON_INSTALL_DIR", directory + "/uv-python"},
            {"UV_TOOL_DIR", directory + "/uv-tools"}};
  }
  return {};
}

std::string limit_reached(const settings& s, bool sandboxed, std::int32_t code, std::int32_t reason,
                          std::string_view errors) {
  const auto contains_any = [&](std::initializer_list<std::string_view> phrases) {
    return std::any_of(phrases.begin(), phrases.end(),
                       [&](auto phrase) { return errors.find(phrase) != std::string_view::npos; });
  };
  const auto mb = [](const char* key, std::uint64_t bytes) {
    return std::string(key) + " = " + std::to_string(bytes >> 20);
  };
  if (reason == RY_REASON_DEADLINE) return "wall_seconds = " + std::to_string(s.wall_ms / 1000);
  if (reason == RY_REASON_OVERLOAD && contains_any({"sandbox: terminated: its cache"}))
    return mb("package_cache_mb", s.cache_bytes);
  if (reason == RY_REASON_OVERLOAD) return mb("memory_mb", s.memory_bytes);
  if (code == -SIGXFSZ || code == 128 + SIGXFSZ || contains_any({"EFBIG", "File too large"}))
    return mb("file_mb", s.file_bytes);
  if (contains_any({"EMFILE", "Too many open files", "too many open files"}))
    return "open_files = " + std::to_string(s.open_files);
  if (!sandboxed) return {};
  if (contains_any({"EAGAIN", "Resource temporarily unavailable", "resource temporarily unavailable",
                    "uv_thread_create", "pthread_create", "can't start new thread", "Cannot fork", "newosproc"})) {
    return "processes = " + std::to_string(s.processes);
  }
  if (contains_any({"ENOSPC", "No space left on device", "no space left on device"}))
    return mb("scratch_mb", s.scratch_bytes);
  if (contains_any({"ENOMEM", "Cannot allocate memory", "cannot allocate memory", "heap out of memory",
                    "std::bad_alloc", "MemoryError", "out of memory", "Out of memory"})) {
    return mb("memory_mb", s.memory_bytes);
  }
  return {};
}

bool machine_is_short_of_resources(std::string_view errors) {
  return errors.find("sandbox: terminated: the server's disk is nearly full") != std::string_view::npos ||
         errors.find("sandbox: terminated: the server is nearly out of memory") != std::string_view::npos;
}

std::string disallowed_variable(const settings& s, const command& c) {
  if (s.any_command) return {};
  for (const auto& [name, value] : c.env) {
    if (std::find(s.allowed_env.begin(), s.allowed_env.end(), name) == s.allowed_env.end()) return name;
  }
  return {};
}

}  // namespace mcp_json
