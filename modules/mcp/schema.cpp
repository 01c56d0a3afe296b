#include "schema.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "text.hpp"

namespace mcp {
namespace {

constexpr int most_steps = 200'000;
constexpr int most_depth = 64;

std::optional<double> number_of(const json::value* v) {
  if (v == nullptr || !v->is_number()) return std::nullopt;
  return v->to_number<double>();
}

bool equal(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
  return a == b;
}

bool is_of(const json::value& v, std::string_view type) {
  if (type == "object") return v.is_object();
  if (type == "array") return v.is_array();
  if (type == "string") return v.is_string();
  if (type == "boolean") return v.is_bool();
  if (type == "null") return v.is_null();
  if (type == "number") return v.is_number();
  if (type == "integer") {
    return v.is_int64() || v.is_uint64() || (v.is_double() && std::trunc(v.get_double()) == v.get_double());
  }
  return true;
}

std::size_t characters(std::string_view s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

class checker {
 public:
  explicit checker(const json::value& root) : root_(root) {}

  // Empty: it matches.
  std::string check(const json::value& schema, const json::value& v, const std::string& at, int depth) {
    if (++steps_ > most_steps || depth > most_depth) exhausted_ = true;
    if (exhausted_) return {};
    if (schema.is_bool()) return schema.get_bool() ? std::string() : at + ": may not be there";
    const auto* s = schema.if_object();
    if (s == nullptr) return {};
    std::string out;
    const auto first = [&](auto&& test) {
      if (out.empty()) out = test();
    };
    first([&] { return reference(*s, v, at, depth); });
    first([&] { return kind(*s, v, at); });
    first([&] { return bounds(*s, v, at); });
    first([&] { return members(*s, v, at, depth); });
    first([&] { return items(*s, v, at, depth); });
    first([&] { return combined(*s, v, at, depth); });
    return out;
  }

  bool exhausted() const noexcept { return exhausted_; }

 private:
  std::string reference(const json::object& s, const json::value& v, const std::string& at, int depth) {
    const auto ref = text_of(s, "$ref");
    if (ref.empty() || ref[0] != '#') return {};
    json::error_code ec;
    const auto* to = root_.find_pointer(jv(std::string_view(ref).substr(1)), ec);
    return ec || to == nullptr ? std::string() : check(*to, v, at, depth + 1);
  }

  static std::string kind(const json::object& s, const json::value& v, const std::string& at) {
    const auto* type = s.if_contains("type");
    if (type != nullptr && type->is_string() && !is_of(v, sv(type->get_string()))) {
      return at + ": is not of the type " + std::string(sv(type->get_string()));
    }
    if (type != nullptr && type->is_array() &&
        std::none_of(type->get_array().begin(), type->get_array().end(),
                     [&](const auto& t) { return t.is_string() && is_of(v, sv(t.get_string())); })) {
      return at + ": is of none of the types " + json::serialize(*type);
    }
    if (const auto* only = s.if_contains("const"); only != nullptr && !equal(*only, v)) {
      return at + ": is not the constant that it must be";
    }
    const auto* choice = array_of(s, "enum");
    if (choice != nullptr &&
        std::none_of(choice->begin(), choice->end(), [&](const auto& c) { return equal(c, v); })) {
      return at + ": is none of the values that it may have";
    }
    return {};
  }

  static std::string bounds(const json::object& s, const json::value& v, const std::string& at) {
    std::optional<double> n = number_of(&v);
    std::string what = "is";
    const char *least = "minimum", *most = "maximum";
    if (v.is_string()) {
      n = static_cast<double>(characters(sv(v.get_string())));
      what = "has a length";
      least = "minLength", most = "maxLength";
    } else if (v.is_array() || v.is_object()) {
      n = static_cast<double>(v.is_array() ? v.get_array().size() : v.get_object().size());
      what = "has a count";
      least = v.is_array() ? "minItems" : "minProperties";
      most = v.is_array() ? "maxItems" : "maxProperties";
    }
    if (!n) return {};
    if (const auto bound = number_of(s.if_contains(least)); bound && *n < *bound) {
      return at + ": " + what + " below " + least;
    }
    if (const auto bound = number_of(s.if_contains(most)); bound && *n > *bound) {
      return at + ": " + what + " above " + most;
    }
    if (!v.is_number()) return {};
    if (const auto bound = number_of(s.if_contains("exclusiveMinimum")); bound && *n <= *bound) {
      return at + ": is not above exclusiveMinimum";
    }
    if (const auto bound = number_of(s.if_contains("exclusiveMaximum")); bound && *n >= *bound) {
      return at + ": is not below exclusiveMaximum";
    }
    return {};
  }

  std::string members(const json::object& s, const json::value& v, const std::string& at, int depth) {
    const auto* o = v.if_object();
    if (o == nullptr) return {};
    if (const auto* required = array_of(s, "required")) {
      for (const auto& name : *required) {
        if (name.is_string() && !o->contains(name.get_string())) {
          return at + ": " + std::string(sv(name.get_string())) + " is missing";
        }
      }
    }
    const auto* known = object_of(s, "properties");
    const auto* others = s.contains("patternProperties") ? nullptr : s.if_contains("additionalProperties");
    for (const auto& member : *o) {
      const auto* of = known != nullptr ? known->if_contains(member.key()) : nullptr;
      if (of == nullptr) of = others;
      if (of == nullptr) continue;
      auto out = check(*of, member.value(), at + "/" + std::string(sv(member.key())), depth + 1);
      if (!out.empty()) return out;
    }
    return {};
  }

  std::string items(const json::object& s, const json::value& v, const std::string& at, int depth) {
    const auto* a = v.if_array();
    if (a == nullptr) return {};
    const auto* first = array_of(s, "prefixItems");
    const auto* rest = s.if_contains("items");
    if (rest != nullptr && rest->is_array()) {  // as it was written before 2020-12
      first = rest->if_array();
      rest = s.if_contains("additionalItems");
    }
    const std::size_t ahead = first != nullptr ? first->size() : 0;
    for (std::size_t i = 0; i < a->size(); ++i) {
      const auto* of = i < ahead ? &(*first)[i] : rest;
      if (of == nullptr) break;
      auto out = check(*of, (*a)[i], at + "/" + std::to_string(i), depth + 1);
      if (!out.empty()) return out;
    }
    return {};
  }

  std::string combined(const json::object& s, const json::value& v, const std::string& at, int depth) {
    if (const auto* all = array_of(s, "allOf")) {
      for (const auto& each : *all) {
        auto out = check(each, v, at, depth + 1);
        if (!out.empty()) return out;
      }
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const auto* some = array_of(s, key);
      if (some == nullptr || some->empty()) continue;
      std::string last;
      std::size_t matched = 0;
      for (const auto& each : *some) {
        auto out = check(each, v, at, depth + 1);
        if (out.empty()) ++matched;
        else last = std::move(out);
      }
      if (matched == 0) return last;
      if (matched > 1 && key[0] == 'o') return at + ": matches more than one of oneOf";
    }
    const auto* no = s.if_contains("not");
    if (no != nullptr && check(*no, v, at, depth + 1).empty()) {
      return at + ": matches what it must not";
    }
    return {};
  }

  const json::value& root_;
  int steps_ = 0;
  bool exhausted_ = false;  // then whatever came out says nothing
};

}  // namespace

std::string schema_mismatch(const json::value& schema, const json::value& v) {
  checker c(schema);
  const auto out = c.check(schema, v, "", 0);
  return c.exhausted() ? std::string() : std::string(cut(out, 500));
}

}  // namespace mcp
