#include "schema.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "text.hpp"

namespace mcp {
namespace {

constexpr int max_schema_depth = 64;
constexpr std::size_t max_report = 500;

// Costs in nanoseconds on a slow machine.
constexpr std::uint64_t visit_cost = 25;  // one schema against one value
constexpr std::uint64_t entry_cost = 10;  // per element of a scanned list
constexpr std::uint64_t schema_cost = 300;  // once per schema, to parse its keywords
constexpr std::uint64_t member_cost = 40;  // in addition, for each of the first members of a schema
constexpr std::size_t max_members_searched = 18;  // larger objects have an index
constexpr std::uint64_t ref_byte_cost = 32;  // each name on the path is compared with up to 18 others
constexpr std::uint64_t lookup_cost = 20;  // looking up a name in an object
constexpr std::uint64_t name_byte_cost = 2;

// Bit flags for the kinds of values.
enum : unsigned { object = 1, array = 2, string = 4, boolean = 8, null = 16, number = 32, integer = 64, any = ~0u };

unsigned types_of(const json::value& v) {
  switch (v.kind()) {
    case json::kind::object:
      return object;
    case json::kind::array:
      return array;
    case json::kind::string:
      return string;
    case json::kind::bool_:
      return boolean;
    case json::kind::null:
      return null;
    case json::kind::int64:
    case json::kind::uint64:
      return number | integer;
    case json::kind::double_:
      break;
  }
  return number | (std::trunc(v.get_double()) == v.get_double() ? integer : 0u);
}

unsigned type_named(std::string_view name) {
  if (name == "object") return object;
  if (name == "array") return array;
  if (name == "string") return string;
  if (name == "boolean") return boolean;
  if (name == "null") return null;
  if (name == "number") return number;
  if (name == "integer") return integer;
  return any;
}

std::size_t characters(std::string_view s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The supported keywords of one schema.
struct rules {
  const json::value* target = nullptr;  // of $ref
  const json::value* type = nullptr;
  unsigned types = any;
  const json::value* const_value = nullptr;
  const json::array* enum_values = nullptr;
  std::optional<double> minimum, maximum, exclusive_minimum, exclusive_maximum;
  std::optional<double> min_length, max_length, min_items, max_items, min_properties, max_properties;
  const json::array* required = nullptr;
  const json::object* properties = nullptr;
  const json::value* additional_properties = nullptr;
  const json::array* prefix_items = nullptr;
  const json::value* remaining_items = nullptr;
  const json::array *all_of = nullptr, *any_of = nullptr, *one_of = nullptr;
  const json::value* not_schema = nullptr;
};

// The position of a value: a member or an element of its parent.
struct position {
  const position* parent = nullptr;
  std::optional<std::string_view> key = std::nullopt;  // nullopt: an element
  std::size_t index = 0;
};

std::string path_to(const position& end) {
  std::vector<const position*> steps;
  for (const auto* p = &end; p->parent != nullptr; p = p->parent) steps.push_back(p);
  std::string out;
  for (auto p = steps.rbegin(); p != steps.rend() && out.size() < max_report; ++p) {
    out += '/';
    out += (*p)->key ? std::string(truncated(*(*p)->key, max_report)) : std::to_string((*p)->index);
  }
  return out;
}

class schema_validator {
 public:
  explicit schema_validator(const json::value& root) : root_(root) {}

  // Returns false if the value does not match, or if limit_exceeded().
  bool check(const json::value& schema, const json::value& v, const position& at, int depth) {
    if (depth > max_schema_depth) limit_exceeded_ = true;
    if (!charge(visit_cost)) return false;
    if (schema.is_bool()) return schema.get_bool() || differs(at, "is not allowed");
    const auto* s = schema.if_object();
    if (s == nullptr) return true;
    const auto* r = rules_of(*s);
    if (r == nullptr) return false;
    if (r->target != nullptr && !check(*r->target, v, at, depth + 1)) return false;
    return check_type_and_value(*r, v, at) && check_bounds(*r, v, at) && check_members(*r, v, at, depth) &&
           check_items(*r, v, at, depth) && check_combinations(*r, v, at, depth);
  }

  bool limit_exceeded() const noexcept { return limit_exceeded_; }
  const std::string& report() const noexcept { return report_; }
  std::uint64_t work() const noexcept { return work_; }

 private:
  // Charges work. Returns false if the limit is exceeded: validation must stop.
  bool charge(std::uint64_t work) {
    if (work > max_schema_work - work_) limit_exceeded_ = true;
    if (limit_exceeded_) return false;
    work_ += work;
    return true;
  }

  bool charge_lookup(std::string_view name) { return charge(lookup_cost + name_byte_cost * name.size()); }

  bool differs(const position& at, std::string_view message, std::string_view detail = {}) {
    if (suppressed_ == 0)
      report_ = path_to(at) + ": " + std::string(message) + std::string(truncated(detail, max_report));
    return false;
  }

  bool same(const json::value& a, const json::value& b) {
    if (!charge(entry_cost)) return false;
    if (a.is_number() && b.is_number()) {
      return a.is_double() || b.is_double() ? a.to_number<double>() == b.to_number<double>() : a == b;
    }
    if (a.kind() != b.kind()) return false;
    if (const auto* s = a.if_string()) {
      return s->size() == b.get_string().size() && charge(s->size()) && *s == b.get_string();
    }
    if (const auto* list = a.if_array()) {
      const auto& other = b.get_array();
      if (list->size() != other.size()) return false;
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (!same((*list)[i], other[i])) return false;
      }
      return true;
    }
    if (const auto* o = a.if_object()) {
      const auto& other = b.get_object();
      if (o->size() != other.size()) return false;
      for (const auto& member : *o) {
        if (!charge_lookup(sv(member.key()))) return false;
        const auto* counterpart = other.if_contains(member.key());
        if (counterpart == nullptr || !same(member.value(), *counterpart)) return false;
      }
      return true;
    }
    return a == b;
  }

  // Returns nullptr if limit_exceeded().
  const rules* rules_of(const json::object& s) {
    const auto found = rules_.find(&s);
    if (found != rules_.end()) return &found->second;
    if (!charge(schema_cost + member_cost * std::min(s.size(), max_members_searched))) return nullptr;
    auto& r = rules_[&s];
    const auto bound = [&](const char* key) -> std::optional<double> {
      const auto* v = s.if_contains(key);
      if (v == nullptr || !v->is_number()) return std::nullopt;
      return v->to_number<double>();
    };
    if (const auto* ref = s.if_contains("$ref"); ref != nullptr && ref->is_string()) {
      const auto pointer = sv(ref->get_string());
      if (pointer.starts_with('#')) {
        if (!charge(ref_byte_cost * pointer.size())) return nullptr;
        json::error_code ec;
        r.target = root_.find_pointer(jv(pointer.substr(1)), ec);
      }
    }
    r.type = s.if_contains("type");
    if (r.type != nullptr && r.type->is_string()) r.types = type_named(sv(r.type->get_string()));
    if (const auto* types = array_at(s, "type")) {
      if (!charge(entry_cost * types->size())) return nullptr;
      r.types = 0;
      for (const auto& each : *types) {
        if (each.is_string()) r.types |= type_named(sv(each.get_string()));
      }
    }
    r.const_value = s.if_contains("const");
    r.enum_values = array_at(s, "enum");
    r.minimum = bound("minimum"), r.maximum = bound("maximum");
    r.exclusive_minimum = bound("exclusiveMinimum"), r.exclusive_maximum = bound("exclusiveMaximum");
    r.min_length = bound("minLength"), r.max_length = bound("maxLength");
    r.min_items = bound("minItems"), r.max_items = bound("maxItems");
    r.min_properties = bound("minProperties"), r.max_properties = bound("maxProperties");
    r.required = array_at(s, "required");
    r.properties = object_at(s, "properties");
    if (!s.contains("patternProperties")) r.additional_properties = s.if_contains("additionalProperties");
    r.prefix_items = array_at(s, "prefixItems");
    r.remaining_items = s.if_contains("items");
    if (r.remaining_items != nullptr && r.remaining_items->is_array()) {  // the form before JSON Schema 2020-12
      r.prefix_items = r.remaining_items->if_array();
      r.remaining_items = s.if_contains("additionalItems");
    }
    r.all_of = array_at(s, "allOf"), r.any_of = array_at(s, "anyOf"), r.one_of = array_at(s, "oneOf");
    r.not_schema = s.if_contains("not");
    return &r;
  }

  bool check_type_and_value(const rules& r, const json::value& v, const position& at) {
    if (r.types != any && (r.types & types_of(v)) == 0) {
      if (r.type->is_string()) return differs(at, "is not of the type ", sv(r.type->get_string()));
      char list[max_report];
      json::serializer writer;
      writer.reset(r.type);
      return differs(at, "is of none of the types ", sv(writer.read(list, sizeof list)));
    }
    if (r.const_value != nullptr && !same(*r.const_value, v)) {
      return differs(at, "is not the value of const");
    }
    if (r.enum_values == nullptr) return true;
    for (const auto& each : *r.enum_values) {
      if (same(each, v)) return true;
      if (limit_exceeded_) return false;
    }
    return differs(at, "is none of the values that it may have");
  }

  bool check_bounds(const rules& r, const json::value& v, const position& at) {
    if (v.is_string()) {
      if (!r.min_length && !r.max_length) return true;
      const auto s = sv(v.get_string());
      if (!charge(s.size())) return false;
      const auto n = static_cast<double>(characters(s));
      if (r.min_length && n < *r.min_length) return differs(at, "is shorter than minLength");
      if (r.max_length && n > *r.max_length) return differs(at, "is longer than maxLength");
    } else if (v.is_array()) {
      const auto n = static_cast<double>(v.get_array().size());
      if (r.min_items && n < *r.min_items) return differs(at, "has fewer items than minItems");
      if (r.max_items && n > *r.max_items) return differs(at, "has more items than maxItems");
    } else if (v.is_object()) {
      const auto n = static_cast<double>(v.get_object().size());
      if (r.min_properties && n < *r.min_properties) return differs(at, "has fewer properties than minProperties");
      if (r.max_properties && n > *r.max_properties) return differs(at, "has more properties than maxProperties");
    } else if (v.is_number()) {
      const auto n = v.to_number<double>();
      if (r.minimum && n < *r.minimum) return differs(at, "is below minimum");
      if (r.maximum && n > *r.maximum) return differs(at, "is above maximum");
      if (r.exclusive_minimum && n <= *r.exclusive_minimum) return differs(at, "is not above exclusiveMinimum");
      if (r.exclusive_maximum && n >= *r.exclusive_maximum) return differs(at, "is not below exclusiveMaximum");
    }
    return true;
  }

  bool check_members(const rules& r, const json::value& v, const position& at, int depth) {
    const auto* o = v.if_object();
    if (o == nullptr) return true;
    if (r.required != nullptr) {
      for (const auto& name : *r.required) {
        if (!charge(entry_cost)) return false;
        if (!name.is_string()) continue;
        if (!charge_lookup(sv(name.get_string()))) return false;
        if (!o->contains(name.get_string())) {
          return differs(at, std::string(truncated(sv(name.get_string()), max_report)) + " is missing");
        }
      }
    }
    if (r.properties == nullptr && r.additional_properties == nullptr) return true;
    for (const auto& member : *o) {
      const auto key = sv(member.key());
      const json::value* of = nullptr;
      if (!charge_lookup(key)) return false;
      if (r.properties != nullptr) of = r.properties->if_contains(member.key());
      if (of == nullptr) of = r.additional_properties;
      if (of != nullptr && !check(*of, member.value(), {.parent = &at, .key = key}, depth + 1)) return false;
    }
    return true;
  }

  bool check_items(const rules& r, const json::value& v, const position& at, int depth) {
    const auto* a = v.if_array();
    if (a == nullptr) return true;
    const std::size_t prefix_size = r.prefix_items != nullptr ? r.prefix_items->size() : 0;
    for (std::size_t i = 0; i < a->size(); ++i) {
      const auto* of = i < prefix_size ? &(*r.prefix_items)[i] : r.remaining_items;
      if (of == nullptr) break;
      if (!check(*of, (*a)[i], {.parent = &at, .index = i}, depth + 1)) return false;
    }
    return true;
  }

  bool check_combinations(const rules& r, const json::value& v, const position& at, int depth) {
    if (r.all_of != nullptr) {
      for (const auto& each : *r.all_of) {
        if (!check(each, v, at, depth + 1)) return false;
      }
    }
    for (const auto* alternatives : {r.any_of, r.one_of}) {
      if (alternatives == nullptr || alternatives->empty()) continue;
      std::size_t matched = 0;
      for (const auto& each : *alternatives) {
        if (matches(each, v, at, depth + 1)) ++matched;
        if (limit_exceeded_) return false;
        if (alternatives == r.any_of && matched > 0) break;
      }
      // The last alternative is checked again for its report, but only if a report is requested, so that nesting does
      // not multiply the work.
      if (matched == 0) return suppressed_ == 0 && check(alternatives->back(), v, at, depth + 1);
      if (alternatives == r.one_of && matched > 1) return differs(at, "matches more than one of oneOf");
    }
    if (r.not_schema == nullptr) return true;
    if (matches(*r.not_schema, v, at, depth + 1)) return differs(at, "matches the schema of not");
    return !limit_exceeded_;
  }

  // Like check(), but does not write a report.
  bool matches(const json::value& schema, const json::value& v, const position& at, int depth) {
    ++suppressed_;
    const bool out = check(schema, v, at, depth);
    --suppressed_;
    return out;
  }

  const json::value& root_;
  std::unordered_map<const json::object*, rules> rules_;
  std::uint64_t work_ = 0;
  int suppressed_ = 0;
  bool limit_exceeded_ = false;
  std::string report_;
};

}  // namespace

validation_result validate(const json::value& schema, const json::value& v) {
  schema_validator c(schema);
  c.check(schema, v, {}, 0);
  validation_result out{.limit_exceeded = c.limit_exceeded(), .work = c.work()};
  if (!out.limit_exceeded) out.mismatch = truncated(c.report(), max_report);
  return out;
}

std::string schema_mismatch(const json::value& schema, const json::value& v) {
  return validate(schema, v).mismatch;
}

}  // namespace mcp
