#include "core/app/devkit/settings_reference.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>

namespace ry::app {

namespace json = boost::json;

namespace {

// Escapes text so that it cannot end the table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string code(std::string_view text) {
  return "`" + cell(text) + "`";
}

std::string text_of(const json::object& schema, std::string_view key) {
  const auto* v = schema.if_contains(key);
  return v && v->is_string() ? std::string(v->as_string()) : std::string();
}

std::string number(const json::value& v) {
  if (!v.is_double()) return json::serialize(v);
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", v.as_double());
  return text;
}

std::string types_of(const json::object& schema) {
  const auto word = [](std::string_view type) -> std::string {
    if (type == "string") return "text";
    if (type == "boolean") return "true or false";
    if (type == "array") return "list";
    if (type == "object") return "table";
    return std::string(type);
  };
  const auto* type = schema.if_contains("type");
  if (!type) return "any";
  if (type->is_string()) return word(type->as_string());
  std::string out;
  if (type->is_array())
    for (const auto& each : type->as_array()) out += (out.empty() ? "" : " or ") + word(each.as_string());
  return out;
}

std::string range(const json::object& schema, const char* least, const char* most, const std::string& singular = "",
                  const std::string& plural = "") {
  const auto* from = schema.if_contains(least);
  const auto* to = schema.if_contains(most);
  const auto counted = [&](const json::value& limit) {
    const auto text = number(limit);
    return text + (text == "1" ? singular : plural);
  };
  if (from && to) return number(*from) + " to " + counted(*to);
  if (from) return "at least " + counted(*from);
  if (to) return "at most " + counted(*to);
  return {};
}

std::string allowed(const json::object& schema) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  };
  if (const auto* list = schema.if_contains("enum"); list && list->is_array()) {
    std::string values;
    for (const auto& v : list->as_array())
      values += (values.empty() ? "" : ", ") + code(v.is_string() ? std::string(v.as_string()) : json::serialize(v));
    add(values);
  }
  add(range(schema, "minimum", "maximum"));
  add(range(schema, "minLength", "maxLength", " character", " characters"));
  add(range(schema, "minItems", "maxItems", " entry", " entries"));
  const auto form = text_of(schema, "form");
  if (const auto pattern = text_of(schema, "pattern"); !pattern.empty()) add(form.empty() ? code(pattern) : form);
  if (const auto point = text_of(schema, "driver_of"); !point.empty()) add("a driver of " + code(point));
  return out;
}

std::string key_part(std::string_view name) {
  for (const char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
      return "\"" + std::string(name) + "\"";
  return std::string(name);
}

std::string below(const std::string& key, std::string_view name) {
  return key.empty() ? std::string(name) : key + "." + std::string(name);
}

std::string default_of(const json::object& schema) {
  const auto* value = schema.if_contains("default");
  return !value ? std::string() : code(value->is_number() ? number(*value) : json::serialize(*value));
}

void walk_settings(const json::object& schema, const std::string& key, bool required, std::string& out) {
  const auto* properties = schema.if_contains("properties");
  const auto* free = schema.if_contains("additionalProperties");
  const auto needed = [&](std::string_view name) {
    const auto* list = schema.if_contains("required");
    if (!list || !list->is_array()) return false;
    for (const auto& each : list->as_array())
      if (each.is_string() && each.as_string() == name) return true;
    return false;
  };
  const bool is_table = properties || (free && free->is_object() && !free->as_object().empty());
  const auto meaning = text_of(schema, "description");
  if (!is_table || !meaning.empty()) {
    const auto* secret = schema.if_contains("secret");
    const auto value = default_of(schema);
    const bool is_secret = secret && secret->is_bool() && secret->as_bool();
    out += "| " + code(key) + " | " + types_of(schema) + (is_secret ? ", secret" : "") + " | " +
           (!value.empty() && !is_table ? value
            : required                  ? "required"
                                        : "") +
           " | " + allowed(schema) + " | " + cell(meaning) + " |\n";
  }
  if (properties)
    for (const auto& p : properties->as_object())
      walk_settings(p.value().as_object(), below(key, key_part(p.key())), needed(p.key()), out);
  if (is_table && free && free->is_object()) walk_settings(free->as_object(), below(key, "NAME"), false, out);
}

void walk_limits(const json::object& schema, const std::string& key, std::string& out) {
  if (const auto* limit = schema.if_contains("limit")) {
    const auto& l = limit->as_object();
    const auto name = [&](std::string_view member) {
      const auto text = text_of(l, member);
      return text.empty() ? text : code(text);
    };
    const auto stated = text_of(l, "default");
    out += "| " + cell(text_of(l, "resource")) + " | " + cell(text_of(l, "per")) + " | " + code(key) + " | " +
           (stated.empty() ? default_of(schema) : cell(stated)) + " | " + cell(text_of(l, "answer")) + " | " +
           name("metric") + " | " + name("alert") + " |\n";
  }
  if (const auto* properties = schema.if_contains("properties"))
    for (const auto& p : properties->as_object())
      walk_limits(p.value().as_object(), below(key, key_part(p.key())), out);
  if (const auto* free = schema.if_contains("additionalProperties"); free && free->is_object())
    walk_limits(free->as_object(), below(key, "NAME"), out);
}

}  // namespace

std::string settings_table(const json::value& schema, std::string_view at) {
  std::string rows;
  walk_settings(schema.as_object(), std::string(at), false, rows);
  if (rows.empty()) return {};
  return "| Setting | Type | Default | Allowed | Meaning |\n|---|---|---|---|---|\n" + rows;
}

std::string limit_rows(const json::value& schema, std::string_view at) {
  std::string rows;
  walk_limits(schema.as_object(), std::string(at), rows);
  return rows;
}

}  // namespace ry::app
