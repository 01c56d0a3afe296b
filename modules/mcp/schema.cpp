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
constexpr std::uint64_t a_visit = 25;  // one schema against one value
constexpr std::uint64_t an_entry = 10;  // of a list that is scanned
constexpr std::uint64_t a_schema = 300;  // parsing its keywords, once
constexpr std::uint64_t a_member = 40;  // in addition, for each of the schema's first members
constexpr std::size_t max_members_searched = 18;  // larger objects have an index
constexpr std::uint64_t a_ref_byte = 32;  // each name on the path is compared with up to 18 others
constexpr std::uint64_t a_search = 20;  // looking up a name in an object
constexpr std::uint64_t a_name_byte = 2;

// Bit flags for the kinds of values.
enum : unsigned { object = 1, array = 2, string = 4, boolean = 8, null = 16, number = 32, integer = 64, any = ~0u };

unsigned kinds_of(const json::value& v) {
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
  const json::value* constant = nullptr;
  const json::array* choice = nullptr;
  std::optional<double> minimum, maximum, above, below;
  std::optional<double> min_length, max_length, min_items, max_items, min_properties, max_properties;
  const json::array* required = nullptr;
  const json::object* properties = nullptr;
  const json::value* other_properties = nullptr;
  const json::array* first_items = nullptr;
  const json::value* other_items = nullptr;
  const json::array *all_of = nullptr, *any_of = nullptr, *one_of = nullptr;
  const json::value* no = nullptr;
};

// The position of a value: a member or an element of its parent.
struct place {
  const place* above = nullptr;
  std::optional<std::string_view> key = std::nullopt;  // nullopt: an element
  std::size_t index = 0;
};

std::string path_to(const place& end) {
  std::vector<const place*> way;
  for (const auto* p = &end; p->above != nullptr; p = p->above) way.push_back(p);
  std::string out;
  for (auto p = way.rbegin(); p != way.rend() && out.size() < max_report; ++p) {
    out += '/';
    out += (*p)->key ? std::string(cut(*(*p)->key, max_report)) : std::to_string((*p)->index);
  }
  return out;
}

class checker {
 public:
  explicit checker(const json::value& root) : root_(root) {}

  // False: the value differs, or gave_up().
  bool check(const json::value& schema, const json::value& v, const place& at, int depth) {
    if (depth > max_schema_depth) gave_up_ = true;
    if (!spend(a_visit)) return false;
    if (schema.is_bool()) return schema.get_bool() || differs(at, "is not allowed");
    const auto* s = schema.if_object();
    if (s == nullptr) return true;
    const auto* r = rules_of(*s);
    if (r == nullptr) return false;
    if (r->target != nullptr && !check(*r->target, v, at, depth + 1)) return false;
    return kind(*r, v, at) && bounds(*r, v, at) && members(*r, v, at, depth) && items(*r, v, at, depth) &&
           combined(*r, v, at, depth);
  }

  bool gave_up() const noexcept { return gave_up_; }
  const std::string& report() const noexcept { return report_; }
  std::uint64_t work() const noexcept { return work_; }

 private:
  // Charges work. False: the limit is exceeded, and validation must stop.
  bool spend(std::uint64_t work) {
    if (work > max_schema_work - work_) gave_up_ = true;
    if (gave_up_) return false;
    work_ += work;
    return true;
  }

  bool spend_on_search(std::string_view name) { return spend(a_search + a_name_byte * name.size()); }

  bool differs(const place& at, std::string_view how, std::string_view what = {}) {
    if (quiet_ == 0) report_ = path_to(at) + ": " + std::string(how) + std::string(cut(what, max_report));
    return false;
  }

  bool same(const json::value& a, const json::value& b) {
    if (!spend(an_entry)) return false;
    if (a.is_number() && b.is_number()) {
      return a.is_double() || b.is_double() ? a.to_number<double>() == b.to_number<double>() : a == b;
    }
    if (a.kind() != b.kind()) return false;
    if (const auto* s = a.if_string()) {
      return s->size() == b.get_string().size() && spend(s->size()) && *s == b.get_string();
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
        if (!spend_on_search(sv(member.key()))) return false;
        const auto* twin = other.if_contains(member.key());
        if (twin == nullptr || !same(member.value(), *twin)) return false;
      }
      return true;
    }
    return a == b;
  }

  // nullptr: gave_up().
  const rules* rules_of(const json::object& s) {
    const auto found = rules_.find(&s);
    if (found != rules_.end()) return &found->second;
    if (!spend(a_schema + a_member * std::min(s.size(), max_members_searched))) return nullptr;
    auto& r = rules_[&s];
    const auto bound = [&](const char* key) -> std::optional<double> {
      const auto* v = s.if_contains(key);
      if (v == nullptr || !v->is_number()) return std::nullopt;
      return v->to_number<double>();
    };
    if (const auto* ref = s.if_contains("$ref"); ref != nullptr && ref->is_string()) {
      const auto pointer = sv(ref->get_string());
      if (pointer.starts_with('#')) {
        if (!spend(a_ref_byte * pointer.size())) return nullptr;
        json::error_code ec;
        r.target = root_.find_pointer(jv(pointer.substr(1)), ec);
      }
    }
    r.type = s.if_contains("type");
    if (r.type != nullptr && r.type->is_string()) r.types = type_named(sv(r.type->get_string()));
    if (const auto* types = array_at(s, "type")) {
      if (!spend(an_entry * types->size())) return nullptr;
      r.types = 0;
      for (const auto& each : *types) {
        if (each.is_string()) r.types |= type_named(sv(each.get_string()));
      }
    }
    r.constant = s.if_contains("const");
    r.choice = array_at(s, "enum");
    r.minimum = bound("minimum"), r.maximum = bound("maximum");
    r.above = bound("exclusiveMinimum"), r.below = bound("exclusiveMaximum");
    r.min_length = bound("minLength"), r.max_length = bound("maxLength");
    r.min_items = bound("minItems"), r.max_items = bound("maxItems");
    r.min_properties = bound("minProperties"), r.max_properties = bound("maxProperties");
    r.required = array_at(s, "required");
    r.properties = object_at(s, "properties");
    if (!s.contains("patternProperties")) r.other_properties = s.if_contains("additionalProperties");
    r.first_items = array_at(s, "prefixItems");
    r.other_items = s.if_contains("items");
    if (r.other_items != nullptr && r.other_items->is_array()) {  // the form before 2020-12
      r.first_items = r.other_items->if_array();
      r.other_items = s.if_contains("additionalItems");
    }
    r.all_of = array_at(s, "allOf"), r.any_of = array_at(s, "anyOf"), r.one_of = array_at(s, "oneOf");
    r.no = s.if_contains("not");
    return &r;
  }

  bool kind(const rules& r, const json::value& v, const place& at) {
    if (r.types != any && (r.types & kinds_of(v)) == 0) {
      if (r.type->is_string()) return differs(at, "is not of the type ", sv(r.type->get_string()));
      char list[max_report];
      json::serializer writer;
      writer.reset(r.type);
      return differs(at, "is of none of the types ", sv(writer.read(list, sizeof list)));
    }
    if (r.constant != nullptr && !same(*r.constant, v)) {
      return differs(at, "is not the value of const");
    }
    if (r.choice == nullptr) return true;
    for (const auto& each : *r.choice) {
      if (same(each, v)) return true;
      if (gave_up_) return false;
    }
    return differs(at, "is none of the values that it may have");
  }

  bool bounds(const rules& r, const json::value& v, const place& at) {
    if (v.is_string()) {
      if (!r.min_length && !r.max_length) return true;
      const auto s = sv(v.get_string());
      if (!spend(s.size())) return false;
      const auto n = static_cast<double>(characters(s));
      if (r.min_length && n < *r.min_length) return differs(at, "has a length below minLength");
      if (r.max_length && n > *r.max_length) return differs(at, "has a length above maxLength");
    } else if (v.is_array()) {
      const auto n = static_cast<double>(v.get_array().size());
      if (r.min_items && n < *r.min_items) return differs(at, "has a count below minItems");
      if (r.max_items && n > *r.max_items) return differs(at, "has a count above maxItems");
    } else if (v.is_object()) {
      const auto n = static_cast<double>(v.get_object().size());
      if (r.min_properties && n < *r.min_properties) return differs(at, "has a count below minProperties");
      if (r.max_properties && n > *r.max_properties) return differs(at, "has a count above maxProperties");
    } else if (v.is_number()) {
      const auto n = v.to_number<double>();
      if (r.minimum && n < *r.minimum) return differs(at, "is below minimum");
      if (r.maximum && n > *r.maximum) return differs(at, "is above maximum");
      if (r.above && n <= *r.above) return differs(at, "is not above exclusiveMinimum");
      if (r.below && n >= *r.below) return differs(at, "is not below exclusiveMaximum");
    }
    return true;
  }

  bool members(const rules& r, const json::value& v, const place& at, int depth) {
    const auto* o = v.if_object();
    if (o == nullptr) return true;
    if (r.required != nullptr) {
      for (const auto& name : *r.required) {
        if (!spend(an_entry)) return false;
        if (!name.is_string()) continue;
        if (!spend_on_search(sv(name.get_string()))) return false;
        if (!o->contains(name.get_string())) {
          return differs(at, std::string(cut(sv(name.get_string()), max_report)) + " is missing");
        }
      }
    }
    if (r.properties == nullptr && r.other_properties == nullptr) return true;
    for (const auto& member : *o) {
      const auto key = sv(member.key());
      const json::value* of = nullptr;
      if (!spend_on_search(key)) return false;
      if (r.properties != nullptr) of = r.properties->if_contains(member.key());
      if (of == nullptr) of = r.other_properties;
      if (of != nullptr && !check(*of, member.value(), {.above = &at, .key = key}, depth + 1)) return false;
    }
    return true;
  }

  bool items(const rules& r, const json::value& v, const place& at, int depth) {
    const auto* a = v.if_array();
    if (a == nullptr) return true;
    const std::size_t ahead = r.first_items != nullptr ? r.first_items->size() : 0;
    for (std::size_t i = 0; i < a->size(); ++i) {
      const auto* of = i < ahead ? &(*r.first_items)[i] : r.other_items;
      if (of == nullptr) break;
      if (!check(*of, (*a)[i], {.above = &at, .index = i}, depth + 1)) return false;
    }
    return true;
  }

  bool combined(const rules& r, const json::value& v, const place& at, int depth) {
    if (r.all_of != nullptr) {
      for (const auto& each : *r.all_of) {
        if (!check(each, v, at, depth + 1)) return false;
      }
    }
    for (const auto* some : {r.any_of, r.one_of}) {
      if (some == nullptr || some->empty()) continue;
      std::size_t matched = 0;
      for (const auto& each : *some) {
        if (matches(each, v, at, depth + 1)) ++matched;
        if (gave_up_) return false;
        if (some == r.any_of && matched > 0) break;
      }
      // The last alternative is checked again for its report only if a report is wanted, so that nesting does not
      // multiply the work.
      if (matched == 0) return quiet_ == 0 && check(some->back(), v, at, depth + 1);
      if (some == r.one_of && matched > 1) return differs(at, "matches more than one of oneOf");
    }
    if (r.no == nullptr) return true;
    if (matches(*r.no, v, at, depth + 1)) return differs(at, "matches the schema of not");
    return !gave_up_;
  }

  // Like check(), but without a report.
  bool matches(const json::value& schema, const json::value& v, const place& at, int depth) {
    ++quiet_;
    const bool out = check(schema, v, at, depth);
    --quiet_;
    return out;
  }

  const json::value& root_;
  std::unordered_map<const json::object*, rules> rules_;
  std::uint64_t work_ = 0;
  int quiet_ = 0;
  bool gave_up_ = false;
  std::string report_;
};

}  // namespace

schema_verdict held_against(const json::value& schema, const json::value& v) {
  checker c(schema);
  c.check(schema, v, {}, 0);
  schema_verdict out{.gave_up = c.gave_up(), .work = c.work()};
  if (!out.gave_up) out.mismatch = cut(c.report(), max_report);
  return out;
}

std::string schema_mismatch(const json::value& schema, const json::value& v) {
  return held_against(schema, v).mismatch;
}

}  // namespace mcp
