#include "settings.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/types.hpp>

namespace mcp_json {

namespace json = boost::json;

namespace {

std::string text(const json::value& v) {
  return v.is_string() ? std::string(v.get_string().data(), v.get_string().size()) : std::string();
}

std::uint64_t number(const json::object& o, const char* key, std::uint64_t otherwise) {
  const auto* v = o.if_contains(key);
  return v != nullptr && v->is_int64() ? static_cast<std::uint64_t>(v->get_int64()) : otherwise;
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

// Names with which a program is made to run other code than its own, and those that every child is given.
bool dangerous(std::string_view name) {
  for (const char* prefix : {"LD_", "DYLD_", "BASH_FUNC_"}) {
    if (name.starts_with(prefix)) return true;
  }
  for (const char* each : {"PATH", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "BASH_ENV", "ENV",
                           "PERL5OPT", "RUBYOPT", "GCONV_PATH", "HOME", "TMPDIR", "SHELL", "USER", "LOGNAME"}) {
    if (name == each) return true;
  }
  return false;
}

bool name_of_variable(std::string_view s) {
  return !s.empty() && s.size() <= 128 && !(s[0] >= '0' && s[0] <= '9') &&
         std::all_of(s.begin(), s.end(), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

bool clean(const std::string& s) {
  return s.find('\0') == std::string::npos;
}

}  // namespace

settings read_settings(std::string_view text_json, std::string_view mode) {
  const auto v = text_json.empty() ? json::value(json::object())
                                   : json::parse(json::string_view(text_json.data(), text_json.size()));
  const auto& o = v.as_object();
  settings s;
  if (const auto* list = o.if_contains("allowed_commands"); list != nullptr && list->is_array()) {
    for (const auto& each : list->get_array()) s.allowed_commands.push_back(text(each));
  } else {
    s.any_command = mode == "local";
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
    for (const auto& each : list->get_array()) to->push_back(text(each));
  }
  // Where everything may be started it must be found, too.
  if (s.any_command && !o.contains("readable")) s.readable = {"/home", "/opt", "/root", "/srv"};
  s.memory_bytes = number(o, "memory_mb", 2048) << 20;
  s.open_files = number(o, "open_files", 1024);
  s.file_bytes = number(o, "file_mb", 256) << 20;
  s.wall_ms = number(o, "wall_seconds", 900) * 1000;
  s.most_children = number(o, "max_children", 64);
  s.most_per_account = number(o, "max_children_per_account", 8);
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
      if (!each.is_string()) throw ry::bad_request("mcp.config", "args must be texts");
      c.argv.push_back(text(each));
    }
  }
  if (const auto* env = o->if_contains("env"); env != nullptr && env->is_object()) {
    for (const auto& [key, value] : env->get_object()) {
      std::string name(key.data(), key.size());
      if (!value.is_string() || !name_of_variable(name)) {
        throw ry::bad_request("mcp.config", "env must be texts under names of variables");
      }
      if (dangerous(name)) {
        throw ry::bad_request("mcp.config", "env." + name + " may not be set: it changes what is run");
      }
      c.env.emplace_back(std::move(name), text(value));
    }
  }
  for (const auto& each : c.argv) {
    if (!clean(each)) throw ry::bad_request("mcp.config", "the command holds a NUL character");
  }
  for (const auto& each : c.env) {
    if (!clean(each.second)) throw ry::bad_request("mcp.config", "env holds a NUL character");
  }
  return c;
}

bool allowed(const settings& s, const command& c) {
  if (s.any_command) return true;
  return std::any_of(s.allowed_commands.begin(), s.allowed_commands.end(), [&](const auto& entry) {
    const auto want = words(entry);
    return !want.empty() && want.size() <= c.argv.size() &&
           std::equal(want.begin(), want.end(), c.argv.begin());
  });
}

std::string refused_variable(const settings& s, const command& c) {
  if (s.any_command) return {};
  for (const auto& [name, value] : c.env) {
    if (std::find(s.allowed_env.begin(), s.allowed_env.end(), name) == s.allowed_env.end()) return name;
  }
  return {};
}

}  // namespace mcp_json
