#include "mcp_list.hpp"

#include <common/header_field.hpp>
#include <common/unicode.hpp>
#include <common/url.hpp>
#include <json/known_members.hpp>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <locale>
#include <ry/cpp/base64.hpp>
#include <unordered_set>

namespace agents {
namespace {

namespace json = boost::json;

constexpr std::size_t max_servers = 100;
constexpr std::size_t max_tools = 1000;
constexpr std::size_t max_pairs = 100;
constexpr std::int64_t max_call_seconds = 24 * 3600;

[[noreturn]] void reject(const std::string& path, const char* what) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "agents.invalid_value", path + " " + what);
}

std::string_view sv(const json::string& s) {
  return {s.data(), s.size()};
}
json::string_view jv(std::string_view s) {
  return {s.data(), s.size()};
}

const json::value* find(const json::object& o, const char* name, const char* other = nullptr) {
  const auto* v = o.if_contains(name);
  return v || !other ? v : o.if_contains(other);
}

std::string text(const json::value* v, const std::string& path, std::size_t max) {
  if (!v) reject(path, "is required");
  if (!v->is_string()) reject(path, "must be a string");
  const auto s = sv(v->get_string());
  if (s.empty() || s.size() > max) reject(path, "is empty or too long");
  if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    reject(path, "must not contain control characters");
  }
  return std::string(s);
}

std::string visible_text(const json::value* v, const std::string& path, std::size_t max) {
  auto s = text(v, path, max);
  if (unicode::is_blank(s)) reject(path, "must not be blank");
  return s;
}

std::string name_text(const json::value* v, const std::string& path, std::size_t max) {
  if (!v) reject(path, "is required");
  if (!v->is_string()) reject(path, "must be a string");
  auto s = unicode::clean_name(sv(v->get_string()));
  if (s.empty() || s.size() > max) reject(path, "is blank or too long");
  return s;
}

json::array texts(const json::value* v, const std::string& path, std::size_t max_items) {
  if (!v || !v->is_array()) reject(path, "must be a list of strings");
  json::array out;
  for (const auto& item : v->get_array()) {
    if (out.size() == max_items) reject(path, "is too long");
    out.emplace_back(text(&item, path + "[" + std::to_string(out.size()) + "]", 4096));
  }
  return out;
}

json::array without_duplicates(const json::array& all) {
  json::array out;
  std::unordered_set<std::string_view> seen;
  for (const auto& item : all) {
    if (seen.insert(sv(item.get_string())).second) out.push_back(item);
  }
  return out;
}

bool has_text(const json::object& o, const char* name, std::string_view text) {
  const auto* v = o.if_contains(name);
  return v && v->is_string() && sv(v->get_string()) == text;
}

// Whether both configurations have the same address or command. Stored secrets must not be sent to another server.
bool same_server(const json::object& given, const json::object& stored) {
  for (const char* key : {"url", "command", "args", "profile_id"}) {
    const auto* a = given.if_contains(key);
    const auto* b = stored.if_contains(key);
    if ((a == nullptr) != (b == nullptr)) return false;
    if (a == nullptr || *a == *b) continue;
    const bool equivalent = key == std::string_view("url") && a->is_string() && b->is_string() &&
                            urls::same(sv(a->get_string()), sv(b->get_string()));
    if (!equivalent) return false;
  }
  return true;
}

// The stored configuration of the same server, which supplies the values for masked secrets. The server may have been
// renamed. If several match, the one with the same name is preferred. nullptr if there is none.
const json::object* stored_config(const json::array& stored, const std::string& name, const std::string& type,
                                  const json::object& given) {
  const json::object* found = nullptr;
  for (const auto& item : stored) {
    const auto* o = item.if_object();
    const auto* config = o ? o->if_contains("config") : nullptr;
    if (!config || !config->is_object() || !has_text(*o, "type", type) || !same_server(given, config->get_object()))
      continue;
    if (!found || has_text(*o, "name", name)) found = &config->get_object();
  }
  return found;
}

// Header names are case-insensitive; names of environment variables are case-sensitive.
const json::value* stored_secret(const json::object& stored, std::string_view part, std::string_view key) {
  for (const auto& member : stored) {
    const std::string_view name(member.key().data(), member.key().size());
    if (name == key || (part == "headers" && boost::algorithm::iequals(name, key, std::locale::classic()))) {
      return &member.value();
    }
  }
  return nullptr;
}

json::object secrets(const json::value* given, const char* name, const std::string& path, const json::object* before,
                     const seal_fn& seal) {
  if (!given->is_object()) reject(path, "must be an object whose values are strings");
  const auto* old = before ? before->if_contains(name) : nullptr;
  json::object out;
  for (const auto& [key, value] : given->get_object()) {
    const auto at = path + "." + std::string(key.data(), key.size());
    if (out.size() == max_pairs) reject(path, "is too long");
    if (!value.is_string()) reject(at, "must be a string");
    if (sv(value.get_string()) == mask) {
      const auto* kept =
          old && old->is_object() ? stored_secret(old->get_object(), name, {key.data(), key.size()}) : nullptr;
      if (!kept) reject(at, "is masked, but no value is stored for it");
      out[key] = *kept;
      continue;
    }
    // A stored header is kept even if it was stored before names were checked.
    if (name == std::string_view("headers") && !header_field::is_name({key.data(), key.size()}))
      reject(at, "is not a valid header name");
    const auto plain = text(&value, at, 8192);
    out[key] = json::object{{"sealed", ry::base64_encode(seal(plain), ry::base64_alphabet::url, false)}};
  }
  return out;
}

bool is_revision(std::string_view s) {
  if (s == "auto") return true;
  if (s.size() != 10 || s[4] != '-' || s[7] != '-') return false;
  return std::all_of(s.begin(), s.end(), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

void require_known_config(const json::object& config, std::string_view type, const std::string& path) {
  std::vector<std::string_view> known = {"reuse",           "session",      "revision",  "tasks",
                                         "timeout_seconds", "instructions", "resources", "on_tool_change"};
  const auto add = [&known](std::initializer_list<std::string_view> more) { known.insert(known.end(), more); };
  if (type == "json")
    add({"command", "args", "env"});
  else if (type == "http" || type == "sse")
    add({"url", "headers"});
  else
    add({"profile_id"});
  module_json::require_known_members(config, known, path);
}

// custom: the name of a custom transport, whose addresses may have other forms; empty: none.
json::object read_config(const json::object& given, const std::string& type, const std::string& custom,
                         const std::string& path, const json::object* before, const seal_fn& seal) {
  json::object out;
  // Applies to every route: an unknown member of a local program (such as `cwd`) would be ignored silently and change
  // what is run.
  if (type == "json" && custom.empty()) require_known_config(given, type, path + ".");
  if (type == "http" || type == "sse") {
    const auto url = visible_text(find(given, "url"), path + ".url", 2048);
    const auto has_scheme = [&](const char* scheme) {
      return boost::algorithm::istarts_with(url, scheme, std::locale::classic());
    };
    if (custom.empty() && !has_scheme("http://") && !has_scheme("https://")) {
      reject(path + ".url", "must begin with http:// or https://");
    }
    out["url"] = url;
    if (const auto* h = find(given, "headers"); h && !h->is_null()) {
      out["headers"] = secrets(h, "headers", path + ".headers", before, seal);
    }
  } else if (type == "json") {
    out["command"] = visible_text(find(given, "command"), path + ".command", 4096);
    if (const auto* args = find(given, "args"); args && !args->is_null()) {
      out["args"] = texts(args, path + ".args", max_pairs);
    }
    if (const auto* env = find(given, "env"); env && !env->is_null()) {
      out["env"] = secrets(env, "env", path + ".env", before, seal);
    }
  } else {
    out["profile_id"] = visible_text(find(given, "profile_id"), path + ".profile_id", 200);
  }
  if (const auto* reuse = find(given, "reuse"); reuse && !reuse->is_null()) {
    if (!reuse->is_bool()) reject(path + ".reuse", "must be true or false");
    if (reuse->get_bool()) out["reuse"] = true;
  }
  if (const auto* revision = find(given, "revision"); revision && !revision->is_null()) {
    if (!revision->is_string() || !is_revision(sv(revision->get_string()))) {
      reject(path + ".revision", "must be \"auto\" or a revision of MCP (YYYY-MM-DD)");
    }
    if (revision->get_string() != "auto") out["revision"] = *revision;
  }
  if (const auto* session = find(given, "session"); session && !session->is_null()) {
    const auto scope = session->is_string() ? sv(session->get_string()) : std::string_view();
    if (scope != "call" && scope != "run" && scope != "thread") {
      reject(path + ".session", "must be \"call\", \"run\" or \"thread\"");
    }
    out["session"] = *session;
  }
  if (const auto* tasks = find(given, "tasks"); tasks && !tasks->is_null()) {
    if (!tasks->is_bool()) reject(path + ".tasks", "must be true or false");
    if (!tasks->get_bool()) out["tasks"] = false;
  }
  if (const auto* seconds = find(given, "timeout_seconds"); seconds && !seconds->is_null()) {
    if (!seconds->is_int64() || seconds->get_int64() < 1 || seconds->get_int64() > max_call_seconds) {
      reject(path + ".timeout_seconds", "must be a whole number from 1 to 86400");
    }
    out["timeout_seconds"] = *seconds;
  }
  for (const char* key : {"instructions", "resources"}) {
    const auto* on = find(given, key);
    if (!on || on->is_null()) continue;
    if (!on->is_bool()) reject(path + "." + key, "must be true or false");
    out[key] = *on;
  }
  if (const auto* reaction = find(given, "on_tool_change"); reaction && !reaction->is_null()) {
    const auto what = reaction->is_string() ? sv(reaction->get_string()) : std::string_view();
    if (what != "log" && what != "ask" && what != "block") {
      reject(path + ".on_tool_change", "must be \"log\", \"ask\" or \"block\"");
    }
    if (what != "log") out["on_tool_change"] = *reaction;
  }
  return out;
}

json::array parse_stored(std::string_view stored) {
  json::error_code ec;
  auto v = json::parse(jv(stored), ec);
  return !ec && v.is_array() ? std::move(v.get_array()) : json::array();
}

}  // namespace

std::string mcp_secret_context(std::string_view agent_id) {
  return "agents.mcp:" + std::string(agent_id);
}

std::string read_mcp_list(const json::value& given, std::string_view stored_text, const seal_fn& seal) {
  if (!given.is_array()) reject("custom_mcps", "must be a list");
  if (given.get_array().size() > max_servers) reject("custom_mcps", "is too long");
  const auto stored = parse_stored(stored_text);
  json::array out;
  for (const auto& item : given.get_array()) {
    const auto path = "custom_mcps[" + std::to_string(out.size()) + "]";
    if (!item.is_object()) reject(path, "must be an object");
    const auto& o = item.get_object();
    json::object kept;
    const auto name = name_text(find(o, "name"), path + ".name", 200);
    const auto type = text(find(o, "type"), path + ".type", 40);
    for (const auto& other : out) {
      if (sv(other.at("name").get_string()) == name) reject(path + ".name", "is used twice");
    }
    if (type != "http" && type != "sse" && type != "json" && type != "prebuilt" && type != "composio") {
      reject(path + ".type", "must be one of http, sse, prebuilt, json");
    }
    kept["name"] = name;
    kept["type"] = type;
    std::string custom;
    if (const auto* c = find(o, "customType", "custom_type"); c && !c->is_null()) {
      custom = text(c, path + ".customType", 100);
      kept["customType"] = custom;
    }
    const auto* config = find(o, "config");
    if (!config || !config->is_object()) reject(path + ".config", "must be an object");
    const json::object* before = stored_config(stored, name, type, config->get_object());
    kept["config"] = read_config(config->get_object(), type, custom, path + ".config", before, seal);
    kept["enabledTools"] =
        without_duplicates(texts(find(o, "enabledTools", "enabled_tools"), path + ".enabledTools", max_tools));
    out.push_back(std::move(kept));
  }
  return json::serialize(out);
}

void require_known_mcp_members(const json::value& given) {
  const auto* list = given.if_array();
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const auto* o = list->at(i).if_object();
    if (!o) continue;
    const auto path = "custom_mcps[" + std::to_string(i) + "].";
    module_json::require_known_members(
        *o, {"name", "type", "customType", "custom_type", "config", "enabledTools", "enabled_tools"}, path);
    const auto* config = find(*o, "config");
    const auto* type = find(*o, "type");
    if (config && config->is_object() && type && type->is_string())
      require_known_config(config->get_object(), sv(type->get_string()), path + "config.");
  }
}

std::string unchecked_mcp_list(const json::value& given, std::string_view read, std::string_view stored) {
  const auto next = parse_stored(read);
  const auto now = parse_stored(stored);
  const auto same_configuration = [](const json::value& a, const json::value& b) {
    const auto* x = a.if_object();
    const auto* y = b.if_object();
    if (!x || !y) return false;
    for (const char* member : {"type", "customType", "config"}) {
      const auto* p = x->if_contains(member);
      const auto* q = y->if_contains(member);
      if ((p == nullptr) != (q == nullptr) || (p != nullptr && *p != *q)) return false;
    }
    return true;
  };
  json::array out(next.size());
  bool any = false;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (std::any_of(now.begin(), now.end(), [&](const auto& each) { return same_configuration(each, next[i]); }))
      continue;
    out[i] = given.at(i);
    any = true;
  }
  return any ? json::serialize(out) : std::string();
}

json::array masked_mcp_list(std::string_view stored) {
  auto list = parse_stored(stored);
  for (auto& item : list) {
    auto* o = item.if_object();
    auto* config = o && o->if_contains("config") ? o->at("config").if_object() : nullptr;
    if (!config) continue;
    for (const char* name : {"headers", "env"}) {
      auto* values = config->if_contains(name);
      if (!values || !values->is_object()) continue;
      for (auto& member : values->get_object()) member.value() = jv(mask);
    }
  }
  return list;
}

}  // namespace agents
