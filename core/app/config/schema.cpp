#include "core/app/config/schema.hpp"

#include "core/app/config/name_check.hpp"
#include "core/app/config/nearest.hpp"
#include "core/app/config/schema_lookup.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <regex>
#include <ry/cpp/utf8.hpp>

namespace ry::app::config {

namespace json = boost::json;

namespace {

constexpr std::string_view mask = "********";
constexpr std::size_t longest_for_pattern = 4096;  // std::regex recurses per character

bool flag(const json::value& schema, std::string_view key) {
  const auto* v = member(schema, key);
  return v && v->is_bool() && v->get_bool();
}

bool is_type_name(std::string_view t) {
  return t == "object" || t == "array" || t == "string" || t == "integer" || t == "number" || t == "boolean";
}

// The types that the schema allows; empty: any type.
std::vector<std::string> types_of(const json::value& schema) {
  std::vector<std::string> types;
  if (const auto* t = member(schema, "type")) {
    if (const auto* one = t->if_string()) types.emplace_back(*one);
    if (const auto* many = t->if_array())
      for (const auto& each : *many)
        if (const auto* s = each.if_string()) types.emplace_back(*s);
  }
  return types;
}

bool allows(const std::vector<std::string>& types, std::string_view type) {
  return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

// Formats a number for people: Boost.JSON writes 0.1 as 1E-1.
std::string number_text(const json::value& n) {
  if (!n.is_double()) return json::serialize(n);
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, n.get_double()).ptr};
}

std::string_view type_of(const node& value) {
  if (value.is == node::kind::table) return "object";
  if (value.is == node::kind::list) return "array";
  if (value.scalar.is_string()) return "string";
  if (value.scalar.is_bool()) return "boolean";
  return value.scalar.is_double() ? "number" : "integer";
}

std::string_view human(std::string_view type) {
  if (type == "object") return "a table";
  if (type == "array") return "a list";
  if (type == "string") return "a string";
  if (type == "integer") return "an integer";
  if (type == "number") return "a number";
  return "true or false";
}

std::string human(const std::vector<std::string>& types) {
  std::string out;
  for (const auto& t : types) {
    if (!out.empty()) out += " or ";
    out += human(t);
  }
  return out;
}

double as_double(const json::value& v) {
  if (v.is_int64()) return static_cast<double>(v.get_int64());
  if (v.is_uint64()) return static_cast<double>(v.get_uint64());
  return v.is_double() ? v.get_double() : 0;
}

bool less(const json::value& a, const json::value& b) {
  if (a.is_int64() && b.is_int64()) return a.get_int64() < b.get_int64();
  return as_double(a) < as_double(b);
}

// Counts characters, not bytes: a schema's limits are written for people.
std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

node from_json(const json::value& v, const std::string& where) {
  node n;
  n.where = where;
  if (const auto* o = v.if_object()) {
    n.is = node::kind::table;
    for (const auto& [key, value] : *o) n.members.emplace_back(key, from_json(value, where));
  } else if (const auto* a = v.if_array()) {
    n.is = node::kind::list;
    for (const auto& value : *a) n.items.push_back(from_json(value, where));
  } else if (v.is_uint64()) {
    n.scalar = static_cast<std::int64_t>(v.get_uint64());
  } else {
    n.scalar = v;
  }
  return n;
}

// Parses text from the environment or the command line as the expected type.
node retyped(const node& value, const std::vector<std::string>& types) {
  if (!value.loose || types.empty()) return value;
  const auto type = type_of(value);
  if (type != "string" && allows(types, type)) return value;
  if (type == "integer" && allows(types, "number")) return value;
  const std::string& text = *value.loose;
  node out;
  out.where = value.where;
  out.loose = value.loose;
  if (allows(types, "boolean") && (text == "true" || text == "false")) {
    out.scalar = text == "true";
    return out;
  }
  if (allows(types, "integer") || allows(types, "number")) {
    const char* end = text.data() + text.size();
    std::int64_t i = 0;
    double d = 0;
    if (const auto r = std::from_chars(text.data(), end, i); r.ec == std::errc{} && r.ptr == end) {
      out.scalar = i;
      return out;
    }
    if (const auto r = std::from_chars(text.data(), end, d);
        allows(types, "number") && r.ec == std::errc{} && r.ptr == end) {
      out.scalar = d;
      return out;
    }
  }
  if (allows(types, "string")) {
    // A quoted TOML string keeps its meaning; anything else is the text itself.
    if (type == "string") return value;
    out.scalar = text;
    return out;
  }
  if (allows(types, "array") && type != "array") {
    out.is = node::kind::list;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      auto part = rest.substr(0, comma);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      if (!part.empty()) {
        node item;
        item.where = value.where;
        item.scalar = std::string(part);
        item.loose = std::string(part);
        out.items.push_back(std::move(item));
      }
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    return out;
  }
  return value;
}

// How to write a value of another type; empty if no hint is needed.
std::string type_hint(const node& value, const std::vector<std::string>& types) {
  const auto* text = value.scalar.if_string();
  if (value.is != node::kind::scalar || !text || value.loose) return {};
  if (types.size() == 1 && types[0] == "array") return "; put it into brackets: [\"...\"]";
  if (!allows(types, "integer") && !allows(types, "number")) return {};
  const auto unit = std::string_view(*text).find_first_not_of("0123456789.");
  if (text->empty() || unit == 0) return {};
  return unit == std::string_view::npos ? "; remove the quotes" : "; write it without quotes and without a unit";
}

// The schema's member "form" describes "pattern" in words.
std::string form(const json::value& schema, const std::string& pattern) {
  const auto* f = member(schema, "form");
  return f && f->is_string() ? "must be " + std::string(f->get_string())
                             : "must match the regular expression " + pattern;
}

class checker {
 public:
  checker(key_path path, problems& out) : path_(std::move(path)), out_(out) {}

  json::value check(const node& given, const json::value& schema) {
    if (given.unresolved) return nullptr;
    const auto types = types_of(schema);
    const node value = retyped(given, types);
    const auto type = type_of(value);
    const bool fits = allows(types, type) || (type == "integer" && allows(types, "number"));
    if (!fits) {
      fail(value, "must be " + human(types) + ", not " + std::string(human(type)) + type_hint(value, types));
      return nullptr;
    }
    if (value.is == node::kind::table) return table(value, schema);
    if (value.is == node::kind::list) return list(value, schema);
    return scalar(value, schema);
  }

 private:
  void fail(const node& at, std::string message) { out_.push_back({at.where, to_text(path_), std::move(message)}); }

  json::value table(const node& value, const json::value& schema) {
    json::object result;
    const auto* properties = member(schema, "properties");
    const auto* known = properties ? properties->if_object() : nullptr;
    const auto* additional = member(schema, "additionalProperties");
    // An empty schema allows everything, even in nested tables.
    if (schema.is_object() && schema.get_object().empty()) additional = &schema;
    for (const auto& [key, child] : value.members) {
      path_.push_back(key);
      if (const auto* s = known ? known->if_contains(key) : nullptr) {
        result[key] = check(child, *s);
      } else if (additional && additional->is_object()) {
        result[key] = check(child, *additional);
      } else if (additional && additional->is_bool() && additional->get_bool()) {
        result[key] = check(child, json::object());
      } else {
        unknown(child, key, known);
      }
      path_.pop_back();
    }
    if (known) add_missing(value, *known, result);
    if (const auto* required = member(schema, "required"); required && required->is_array())
      for (const auto& name : required->get_array())
        if (name.is_string() && !result.contains(name.get_string())) {
          const auto key = std::string(name.get_string());
          path_.push_back(key);
          if (!value.find(key)) fail(value, "is required");
          path_.pop_back();
        }
    return result;
  }

  void unknown(const node& child, const std::string& key, const json::object* known) {
    std::vector<std::string> names;
    if (known)
      for (const auto& p : *known) names.emplace_back(p.key());
    const auto meant = nearest(key, names);
    fail(child, meant.empty() ? "unknown key" : "unknown key; did you mean \"" + meant + "\"?");
    out_.back().warning = is_only_environment(child);
  }

  void add_missing(const node& value, const json::object& known, json::object& result) {
    for (const auto& [key, schema] : known) {
      if (value.find(key)) continue;
      if (const auto* fallback = member(schema, "default")) {
        path_.emplace_back(key);
        result[key] = check(from_json(*fallback, value.where + " (default)"), schema);
        path_.pop_back();
      } else if (const auto types = types_of(schema); types.size() == 1 && types[0] == "object") {
        // A table that is not set still has its defaults, unless it has required members.
        node absent;
        absent.is = node::kind::table;
        problems refused;
        auto filled = checker({}, refused).check(absent, schema);
        if (refused.empty()) result[key] = std::move(filled);
      }
    }
  }

  json::value list(const node& value, const json::value& schema) {
    bounds(value, schema, value.items.size(), "minItems", "maxItems", "entry", "entries");
    json::array result;
    static const json::value any = json::object();
    const auto* items = member(schema, "items");
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      path_.push_back("[" + std::to_string(i) + "]");
      result.push_back(check(value.items[i], items ? *items : any));
      path_.pop_back();
    }
    return result;
  }

  json::value scalar(const node& value, const json::value& schema) {
    const auto& v = value.scalar;
    if (const auto* s = v.if_string()) {
      const std::string_view text(*s);
      if (!is_utf8(text)) {
        fail(value, "must be UTF-8");
        return nullptr;
      }
      if (text.find('\0') != std::string_view::npos) fail(value, "must not contain a NUL character");
      bounds(value, schema, length(text), "minLength", "maxLength", "character", "characters");
      if (const auto* p = member(schema, "pattern"); p && p->is_string()) {
        const auto pattern = std::string(p->get_string());
        if (text.size() > longest_for_pattern || !std::regex_search(text.begin(), text.end(), std::regex(pattern)))
          fail(value, form(schema, pattern));
      }
    } else if (!v.is_bool()) {
      range(value, member(schema, "minimum"), member(schema, "maximum"));
    }
    if (const auto* choices = member(schema, "enum"); choices && choices->is_array())
      choice(value, schema, choices->get_array());
    return v;
  }

  void range(const node& value, const json::value* low, const json::value* high) {
    const bool too_low = low && less(value.scalar, *low), too_high = high && less(*high, value.scalar);
    if (!too_low && !too_high) return;
    if (low && high)
      fail(value, "must be from " + number_text(*low) + " to " + number_text(*high));
    else
      fail(value, too_low ? "must be at least " + number_text(*low) : "must be at most " + number_text(*high));
  }

  void choice(const node& value, const json::value& schema, const json::array& choices) {
    if (std::find(choices.begin(), choices.end(), value.scalar) != choices.end()) return;
    std::string all;
    std::vector<std::string> names;
    for (const auto& c : choices) {
      if (!all.empty()) all += ", ";
      all += json::serialize(c);
      if (c.is_string()) names.emplace_back(c.get_string());
    }
    std::string message = "must be one of " + all;
    if (value.scalar.is_string() && !flag(schema, "secret")) {
      const auto meant = nearest(value.scalar.get_string(), names);
      if (!meant.empty()) message += "; did you mean \"" + meant + "\"?";
    }
    fail(value, std::move(message));
  }

  void bounds(const node& value, const json::value& schema, std::size_t size, std::string_view low,
              std::string_view high, std::string_view one, std::string_view many) {
    const json::value n = static_cast<std::int64_t>(size);
    const auto amount = [&](const json::value& limit) {
      return json::serialize(limit) + " " + std::string(limit == 1 ? one : many);
    };
    if (const auto* l = member(schema, low); l && less(n, *l)) fail(value, "must have at least " + amount(*l));
    if (const auto* h = member(schema, high); h && less(*h, n)) fail(value, "must have at most " + amount(*h));
  }

  key_path path_;
  problems& out_;
};

// Calls f(value, schema) for every string that the schema marks as secret, directly or in an enclosing value.
template <class Value, class F>
void each_secret(Value& value, const json::value& schema, bool inherited, F&& f) {
  const bool secret = inherited || flag(schema, "secret");
  if (auto* o = value.if_object()) {
    const auto* properties = member(schema, "properties");
    const auto* additional = member(schema, "additionalProperties");
    static const json::value any = json::object();
    for (auto&& entry : *o) {
      const json::value* s = properties ? member(*properties, entry.key()) : nullptr;
      if (!s && additional && additional->is_object()) s = additional;
      each_secret(entry.value(), s ? *s : any, secret, f);
    }
  } else if (auto* a = value.if_array()) {
    const auto* items = member(schema, "items");
    static const json::value any = json::object();
    for (auto& item : *a) each_secret(item, items ? *items : any, secret, f);
  } else if (secret && !value.is_null() && !(value.is_string() && value.get_string().empty())) {
    f(value);
  }
}

// "user:password" of "https://user:password@host/path"; empty if there is none.
std::string_view userinfo_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const auto authority = url.substr(scheme + 3, url.find_first_of("/?#", scheme + 3) - scheme - 3);
  const auto at = authority.rfind('@');
  return at == std::string_view::npos ? std::string_view() : authority.substr(0, at);
}

template <class F>
void each_text(json::value& value, F&& f) {
  if (auto* o = value.if_object())
    for (auto&& entry : *o) each_text(entry.value(), f);
  else if (auto* a = value.if_array())
    for (auto& item : *a) each_text(item, f);
  else if (auto* s = value.if_string())
    f(*s);
}

// A setting's member "limit" is the source of its row in docs/limits.md.
std::string limit_fault(const json::value& limit) {
  if (!limit.is_object()) return "\"limit\" must be an object";
  static const std::vector<std::string_view> known = {"resource", "per", "answer", "default", "metric", "alert"};
  for (const auto& [key, text] : limit.get_object()) {
    if (std::find(known.begin(), known.end(), std::string_view(key)) == known.end())
      return "\"limit\" has the unknown member \"" + std::string(key) + "\"";
    if (!text.is_string() || text.get_string().empty()) return "\"limit." + std::string(key) + "\" must be a string";
  }
  for (const auto* needed : {"resource", "per", "answer"})
    if (!limit.get_object().contains(needed)) return "\"limit\" needs \"" + std::string(needed) + "\"";
  return {};
}

std::string fault_at(const json::value& schema, const std::string& path) {
  const auto here = [&](std::string_view what) {
    return (path.empty() ? std::string("the top level") : path) + ": " + std::string(what);
  };
  if (!schema.is_object()) return here("must be an object");
  if (const auto* t = member(schema, "type")) {
    const auto types = types_of(schema);
    const auto given = t->is_array() ? t->get_array().size() : 1;
    if (types.size() != given || !std::all_of(types.begin(), types.end(), is_type_name))
      return here("\"type\" names no known type");
  }
  if (const auto* p = member(schema, "pattern")) {
    if (!p->is_string()) return here("\"pattern\" must be a string");
    try {
      std::regex(std::string(p->get_string()));
    } catch (const std::regex_error&) {
      return here("\"pattern\" is not a valid regular expression");
    }
  }
  if (const auto* f = member(schema, "form"); f && (!f->is_string() || !member(schema, "pattern")))
    return here("\"form\" must be a string that describes \"pattern\"");
  for (const auto* number : {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"})
    if (const auto* v = member(schema, number); v && !v->is_number())
      return here("\"" + std::string(number) + "\" must be a number");
  for (const auto* array : {"enum", "required"})
    if (const auto* v = member(schema, array); v && !v->is_array())
      return here("\"" + std::string(array) + "\" must be an array");
  if (const auto* off = member(schema, "off"); off && !off->is_number() && !off->is_string())
    return here("\"off\" must be a number or a string");
  if (const auto* f = member(schema, "secret_file"); f && !f->is_bool())
    return here("\"secret_file\" must be true or false");
  if (auto fault = name_rule_fault(schema); !fault.empty()) return here(fault);
  if (const auto* limit = member(schema, "limit"))
    if (auto fault = limit_fault(*limit); !fault.empty()) return here(fault);
  if (const auto* p = member(schema, "properties")) {
    if (!p->is_object()) return here("\"properties\" must be an object");
    for (const auto& [key, child] : p->get_object()) {
      auto f = fault_at(child, path.empty() ? std::string(key) : path + "." + std::string(key));
      if (!f.empty()) return f;
    }
  }
  if (const auto* a = member(schema, "additionalProperties"); a && !a->is_bool()) {
    auto f = fault_at(*a, path + ".*");
    if (!f.empty()) return f;
  }
  if (const auto* i = member(schema, "items")) {
    auto f = fault_at(*i, path + "[]");
    if (!f.empty()) return f;
  }
  return {};
}

bool is_off(const json::value& value, const json::value& off) {
  if (value.is_number() && off.is_number()) return value.to_number<double>() == off.to_number<double>();
  return value == off;
}

// Calls `visit(value, schema)` for each setting that is not a table; `path` is then its name.
template <class Visit>
void for_each_setting(const json::value& value, const json::value& schema, key_path& path, const Visit& visit) {
  const auto* o = value.if_object();
  if (!o) return visit(value, schema);
  const auto* properties = member(schema, "properties");
  const auto* additional = member(schema, "additionalProperties");
  for (const auto& [key, child] : *o) {
    const auto* s = properties ? member(*properties, key) : nullptr;
    if (!s && additional && additional->is_object()) s = additional;
    if (!s) continue;
    path.emplace_back(key);
    for_each_setting(child, *s, path, visit);
    path.pop_back();
  }
}

}  // namespace

void find_disabled(const json::value& value, const json::value& schema, key_path path, std::vector<std::string>& out) {
  for_each_setting(value, schema, path, [&](const json::value& v, const json::value& s) {
    const auto* off = member(s, "off");
    if (off && is_off(v, *off)) out.push_back(to_text(path) + " = " + json::serialize(v));
  });
}

void find_secret_files(const json::value& value, const json::value& schema, std::vector<std::string>& out) {
  key_path path;
  for_each_setting(value, schema, path, [&](const json::value& v, const json::value& s) {
    const auto* is_file = member(s, "secret_file");
    if (is_file && *is_file == true && v.is_string() && !v.get_string().empty()) out.emplace_back(v.get_string());
  });
}

json::value check(const node& value, const json::value& schema, key_path path, problems& out) {
  return checker(std::move(path), out).check(value, schema);
}

void check_drivers(const json::value& value, const json::value& schema, const node* given, key_path path,
                   const std::vector<std::pair<std::string, std::string>>& drivers, problems& out) {
  if (const auto* o = value.if_object()) {
    const auto* properties = member(schema, "properties");
    const auto* additional = member(schema, "additionalProperties");
    for (const auto& [key, child] : *o) {
      const json::value* s = properties ? member(*properties, key) : nullptr;
      if (!s && additional && additional->is_object()) s = additional;
      if (!s) continue;
      path.emplace_back(key);
      check_drivers(child, *s, given ? given->find(key) : nullptr, path, drivers, out);
      path.pop_back();
    }
    return;
  }
  const auto* point = member(schema, "driver_of");
  if (!point || !point->is_string() || !value.is_string() || value.get_string().empty()) return;
  const std::string name(value.get_string());
  std::string loaded;
  std::vector<std::string> names;
  for (const auto& [of, driver] : drivers) {
    if (of != point->get_string()) continue;
    if (driver == name) return;
    names.push_back(driver);
    loaded += (loaded.empty() ? "" : ", ") + driver;
  }
  const auto meant = nearest(name, names);
  out.push_back({given ? given->where : "default", to_text(path),
                 "no driver \"" + name + "\" of " + std::string(point->get_string()) +
                     " is loaded (loaded: " + (loaded.empty() ? "none" : loaded) + ")" +
                     (meant.empty() ? "" : "; did you mean \"" + meant + "\"?")});
}

std::string schema_fault(const json::value& schema) {
  return fault_at(schema, "");
}

json::value masked(const json::value& value, const json::value& schema) {
  json::value copy = value;
  each_secret(copy, schema, false, [](json::value& v) { v = mask; });
  each_text(copy, [](json::string& text) {
    const auto hidden = userinfo_of(text);
    if (!hidden.empty()) text.replace(static_cast<std::size_t>(hidden.data() - text.data()), hidden.size(), mask);
  });
  return copy;
}

std::vector<std::string> secrets(const json::value& value, const json::value& schema) {
  std::vector<std::string> found;
  each_secret(value, schema, false, [&](const json::value& v) {
    found.push_back(v.is_string() ? std::string(v.get_string()) : json::serialize(v));
  });
  json::value copy = value;
  each_text(copy, [&](const json::string& text) {
    const auto hidden = userinfo_of(text);
    const auto colon = hidden.find(':');
    if (colon == std::string_view::npos || colon + 1 == hidden.size()) return;
    found.emplace_back(hidden);
    found.emplace_back(hidden.substr(colon + 1));
  });
  return found;
}

}  // namespace ry::app::config
