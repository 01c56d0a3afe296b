#include "header_values.hpp"

#include <common/header_field.hpp>

#include <algorithm>
#include <charconv>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>

namespace mcp {
namespace {

constexpr std::string_view annotation = "x-mcp-header";
constexpr std::size_t max_annotation_depth = 32;
constexpr std::size_t max_headers = 64;  // per tool; a request carries all of them

bool is_short_name(std::string_view s) {
  return s.size() <= 128 && header_field::is_name(s);
}

bool is_simple_type(const json::value* type) {
  if (type == nullptr || !type->is_string()) return false;
  const auto t = sv(type->get_string());
  return t == "string" || t == "integer" || t == "boolean";
}

class annotation_scanner {
 public:
  header_scan result;

  void scan(const json::value& v, std::size_t depth = 0) {
    if (!result.problem.empty()) return;
    if (depth > max_annotation_depth) {
      if (contains_annotation(v, 0)) refuse("a header annotation is nested too deeply");
      return;
    }
    const auto* o = v.if_object();
    if (o == nullptr) return;
    if (const auto* name = o->if_contains(jv(annotation))) add(*o, *name);
    for (const auto& [key, member] : *o) {
      if (!result.problem.empty()) return;
      if (sv(key) == annotation || sv(key) == "default" || sv(key) == "const" || sv(key) == "enum" ||
          sv(key) == "examples") {
        continue;
      }
      if (sv(key) == "properties" && member.is_object()) {
        for (const auto& [name, property] : member.get_object()) {
          if (!result.problem.empty()) return;
          path_.push_back(sv(name));
          scan(property, depth + 1);
          path_.pop_back();
        }
      } else if (contains_annotation(member, 0)) {
        refuse("a header annotation is at a position where the argument cannot be found: under \"" +
               std::string(sv(key)) + "\"");
      }
    }
  }

 private:
  void refuse(std::string reason) {
    if (result.problem.empty()) result.problem = std::move(reason);
  }
  void add(const json::object& o, const json::value& name) {
    if (path_.empty()) return refuse("a header annotation is not on an argument");
    if (!name.is_string() || !is_short_name(sv(name.get_string()))) {
      return refuse("a header annotation is not a valid header name");
    }
    if (!is_simple_type(o.if_contains("type"))) {
      return refuse("a header annotation is on an argument that is not a string, integer or boolean");
    }
    if (result.mirrored.size() == max_headers) return refuse("it has more than 64 header annotations");
    auto header = "Mcp-Param-" + std::string(sv(name.get_string()));
    for (const auto& m : result.mirrored) {
      if (ry::iequals(m.header, header)) return refuse("a header annotation is used twice");
    }
    result.mirrored.push_back({std::move(header), {path_.begin(), path_.end()}});
  }
  static bool contains_annotation(const json::value& v, std::size_t depth) {
    if (depth > 128) return true;
    if (const auto* o = v.if_object()) {
      return std::any_of(o->begin(), o->end(), [&](const auto& m) {
        return sv(m.key()) == annotation || contains_annotation(m.value(), depth + 1);
      });
    }
    if (const auto* a = v.if_array()) {
      return std::any_of(a->begin(), a->end(), [&](const auto& each) { return contains_annotation(each, depth + 1); });
    }
    return false;
  }

  std::vector<std::string_view> path_;  // to the current property
};

std::string plain_text(const json::value& v) {
  if (v.is_string()) return std::string(sv(v.get_string()));
  if (!v.is_double()) return json::serialize(v);
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, v.get_double()).ptr;
  return std::string(digits, end);
}

const json::value* at_path(const json::object& o, const std::vector<std::string>& path) {
  const json::object* current = &o;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto* v = current->if_contains(jv(path[i]));
    if (v == nullptr || i + 1 == path.size()) return v;
    current = v->if_object();
    if (current == nullptr) return nullptr;
  }
  return nullptr;
}

}  // namespace

std::string header_value(std::string_view text) {
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  const bool outer_spaces = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  const bool looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
  if (printable && !outer_spaces && !looks_encoded) return std::string(text);
  return "=?base64?" + ry::base64_encode(text, ry::base64_alphabet::standard, true) + "?=";
}

header_scan scan_headers(const json::value& input_schema) {
  annotation_scanner s;
  s.scan(input_schema);
  return std::move(s.result);
}

std::vector<std::pair<std::string, std::string>> mirror_arguments(const std::vector<mirrored_argument>& mirrored,
                                                                  const json::object& arguments) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& m : mirrored) {
    const auto* v = at_path(arguments, m.path);
    if (v == nullptr || v->is_null() || v->is_structured()) continue;
    out.emplace_back(m.header, header_value(plain_text(*v)));
  }
  return out;
}

}  // namespace mcp
