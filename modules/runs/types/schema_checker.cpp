#include "types/schema_checker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_errors = 10;
// Steps of one check: far above the check of the largest output against an ordinary schema.
constexpr std::int64_t max_steps_of_check = 20'000'000;
constexpr std::size_t pattern_steps_per_step = 4;

unsigned type_bits(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null:
      return bit_null;
    case json::kind::bool_:
      return bit_boolean;
    case json::kind::string:
      return bit_string;
    case json::kind::array:
      return bit_array;
    case json::kind::object:
      return bit_object;
    default:
      return is_integral(v) ? bit_number | bit_integer : bit_number;
  }
}

bool is_multiple(const json::value& v, const json::value& of) {
  if (v.is_int64() && of.is_int64()) return v.get_int64() % of.get_int64() == 0;
  // Decimal fractions such as 0.1 have no exact double.
  const long double quotient = number_of(v) / number_of(of);
  return std::abs(quotient - std::round(quotient)) <= 1e-9L * std::max(1.0L, std::abs(quotient) * 1e-6L);
}

std::string number_text(const json::value& v) {
  return json::serialize(v);
}

struct check_too_long {};

class step_counter {
 public:
  void take(std::size_t steps) {
    left_ -= static_cast<std::int64_t>(std::min<std::size_t>(steps, max_steps_of_check));
    if (left_ < 0) throw check_too_long();
  }

 private:
  std::int64_t left_ = max_steps_of_check;
};

// Numbers are equal if their values are: 1 and 1.0.
bool same_value(const json::value& a, const json::value& b, step_counter& steps) {
  steps.take(1);
  if (a.is_number() || b.is_number()) return a.is_number() && b.is_number() && number_of(a) == number_of(b);
  if (a.kind() != b.kind()) return false;
  if (const json::string* text = a.if_string()) {
    steps.take(text->size() / 64);
    return *text == b.get_string();
  }
  if (const json::array* list = a.if_array()) {
    const json::array& other = b.get_array();
    return list->size() == other.size() &&
           std::equal(list->begin(), list->end(), other.begin(),
                      [&](const json::value& x, const json::value& y) { return same_value(x, y, steps); });
  }
  if (const json::object* o = a.if_object()) {
    const json::object& other = b.get_object();
    if (o->size() != other.size()) return false;
    for (const auto& member : *o) {
      const json::value* v = other.if_contains(member.key());
      if (v == nullptr || !same_value(member.value(), *v, steps)) return false;
    }
    return true;
  }
  return !a.is_bool() || a.get_bool() == b.get_bool();
}

class schema_checker {
 public:
  explicit schema_checker(const std::vector<subschema>& schemas) : schemas_(schemas) {}

  std::vector<std::string> run(const json::value& v) {
    try {
      (void)check(0, v);
    } catch (const check_too_long&) {
      errors_.push_back("the output is too complex to be checked against output_schema");
    }
    return std::move(errors_);
  }

 private:
  // A token of the pointer to the checked value.
  struct token {
    std::string_view key;
    std::size_t index = 0;
    bool is_index = false;
  };
  class inside {
   public:
    inside(schema_checker& c, token t) : checker_(c) { checker_.path_.push_back(t); }
    ~inside() { checker_.path_.pop_back(); }
    inside(const inside&) = delete;

   private:
    schema_checker& checker_;
  };

  std::string name() const {
    if (path_.empty()) return "the output";
    std::string out;
    for (const token& t : path_) out += "/" + (t.is_index ? std::to_string(t.index) : escaped_token(t.key));
    return shown_text(out);
  }
  // Reports an error of the current value; returns false.
  bool error(const std::string& message) {
    if (!quiet_ && errors_.size() < max_errors) errors_.push_back(name() + " " + message);
    return false;
  }
  // Whether to continue after an error: only to report more of them.
  bool wants_more() const { return !quiet_ && errors_.size() < max_errors; }

  bool matches_quietly(schema_id at, const json::value& v) {
    const bool before = std::exchange(quiet_, true);
    const bool out = check(at, v);
    quiet_ = before;
    return out;
  }

  bool check(schema_id at, const json::value& v) {
    const subschema& s = schemas_[at];
    steps_.take(1);
    if (s.constant) return *s.constant || error("is not allowed");
    bool ok = check_type(s, v);
    if (!ok) return false;  // further errors would repeat it
    ok = check_value(s, v);
    if ((ok || wants_more()) && v.is_number()) ok = check_number(s, v) && ok;
    if ((ok || wants_more()) && v.is_string()) ok = check_string(s, v.get_string()) && ok;
    if ((ok || wants_more()) && v.is_array()) ok = check_array(s, v.get_array()) && ok;
    if ((ok || wants_more()) && v.is_object()) ok = check_object(s, v.get_object()) && ok;
    if (ok || wants_more()) ok = check_combined(s, v) && ok;
    return ok;
  }

  bool check_type(const subschema& s, const json::value& v) {
    if (s.types == 0 || (s.types & type_bits(v)) != 0) return true;
    std::string names;
    for (const auto& [name, bit] : type_names)
      if ((s.types & bit) != 0) names += (names.empty() ? "" : " or ") + std::string(name);
    return error("must be of the type " + names);
  }

  bool check_value(const subschema& s, const json::value& v) {
    if (s.only_value != nullptr && !same_value(*s.only_value, v, steps_))
      return error("must be " + shown_text(json::serialize(*s.only_value)));
    if (s.one_of_values != nullptr && std::none_of(s.one_of_values->begin(), s.one_of_values->end(),
                                                   [&](const json::value& x) { return same_value(x, v, steps_); }))
      return error("must be one of " + shown_text(json::serialize(*s.one_of_values)));
    return true;
  }

  bool check_number(const subschema& s, const json::value& v) {
    const long double n = number_of(v);
    if (s.minimum != nullptr && n < number_of(*s.minimum)) return error("must be at least " + number_text(*s.minimum));
    if (s.maximum != nullptr && n > number_of(*s.maximum)) return error("must be at most " + number_text(*s.maximum));
    if (s.above != nullptr && n <= number_of(*s.above)) return error("must be greater than " + number_text(*s.above));
    if (s.below != nullptr && n >= number_of(*s.below)) return error("must be less than " + number_text(*s.below));
    if (s.multiple_of != nullptr && !is_multiple(v, *s.multiple_of))
      return error("must be a multiple of " + number_text(*s.multiple_of));
    return true;
  }

  bool check_string(const subschema& s, std::string_view text) {
    if (s.min_length || s.max_length) {
      steps_.take(text.size() / 64);
      const std::size_t n = count_characters(text);
      if (s.min_length && n < *s.min_length)
        return error("must have at least " + std::to_string(*s.min_length) + " characters");
      if (s.max_length && n > *s.max_length)
        return error("must have at most " + std::to_string(*s.max_length) + " characters");
    }
    if (!s.pattern) return true;
    steps_.take((text.size() + 1) * s.pattern->cost() / pattern_steps_per_step);
    return s.pattern->found_in(text) || error("must match the pattern of the schema");
  }

  bool check_array(const subschema& s, const json::array& list) {
    bool ok = true;
    if (s.min_items && list.size() < *s.min_items)
      ok = error("must have at least " + std::to_string(*s.min_items) + " items");
    if (s.max_items && list.size() > *s.max_items)
      ok = error("must have at most " + std::to_string(*s.max_items) + " items");
    for (std::size_t i = 0; i < list.size() && (ok || wants_more()); ++i) {
      const std::optional<schema_id> item = i < s.prefix.size() ? std::optional(s.prefix[i]) : s.items;
      if (!item) break;
      const inside here(*this, {{}, i, true});
      ok = check(*item, list[i]) && ok;
    }
    if (s.unique && (ok || wants_more()))
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t k = i + 1; k < list.size(); ++k)
          if (same_value(list[i], list[k], steps_))
            return error("must not contain the same item twice: items " + std::to_string(i) + " and " +
                         std::to_string(k));
    return ok;
  }

  bool check_object(const subschema& s, const json::object& o) {
    bool ok = true;
    if (s.min_properties && o.size() < *s.min_properties)
      ok = error("must have at least " + std::to_string(*s.min_properties) + " members");
    if (s.max_properties && o.size() > *s.max_properties)
      ok = error("must have at most " + std::to_string(*s.max_properties) + " members");
    steps_.take(s.required.size());
    for (const std::string_view name : s.required) {
      if (module_json::member_at(o, name) != nullptr || !(ok || wants_more())) continue;
      const inside here(*this, {name});
      ok = error("is required");
    }
    for (const auto& member : o) {
      if (!(ok || wants_more())) break;
      steps_.take(1);
      const std::string_view name = key_of(member);
      const inside here(*this, {name});
      if (s.names && !matches_quietly(*s.names, json::value(member.key())))
        ok = error("has a name that is not allowed");
      const auto known = s.properties.find(name);
      if (known != s.properties.end())
        ok = check(known->second, member.value()) && ok;
      else if (s.additional)
        ok = check(*s.additional, member.value()) && ok;
    }
    return ok;
  }

  bool check_combined(const subschema& s, const json::value& v) {
    bool ok = true;
    if (s.reference) ok = check(*s.reference, v);
    for (const schema_id id : s.all_of)
      if (ok || wants_more()) ok = check(id, v) && ok;
    const auto matches = [&](schema_id id) { return matches_quietly(id, v); };
    if (!s.any_of.empty() && (ok || wants_more()) && std::none_of(s.any_of.begin(), s.any_of.end(), matches))
      ok = explain(s.any_of, v);
    if (!s.one_of.empty() && (ok || wants_more())) {
      const auto n = std::count_if(s.one_of.begin(), s.one_of.end(), matches);
      if (n == 0) ok = explain(s.one_of, v);
      if (n > 1) ok = error("must match only one of the schemas of oneOf");
    }
    if (s.negated && (ok || wants_more()) && matches_quietly(*s.negated, v))
      ok = error("must not match the schema of not");
    return ok;
  }

  // Reports that a value matches none of the alternatives.
  bool explain(const std::vector<schema_id>& all, const json::value& v) {
    if (quiet_) return false;
    std::optional<schema_id> only;
    std::size_t plausible = 0;
    for (const schema_id id : all) {
      if ((types_of(id) & type_bits(v)) == 0) continue;
      only = id;
      ++plausible;
    }
    // The errors of the only alternative for this type explain more.
    return plausible == 1 ? check(*only, v) : error("matches none of the alternatives of the schema");
  }
  // The types that a subschema allows by `type`, its own or those that it refers to.
  unsigned types_of(schema_id id) const {
    unsigned out = ~0U;
    for (std::optional<schema_id> at = id; at; at = schemas_[*at].reference) {
      if (schemas_[*at].constant == false) return 0;
      if (schemas_[*at].types != 0) out &= schemas_[*at].types;
    }
    return out;
  }

  const std::vector<subschema>& schemas_;
  step_counter steps_;
  std::vector<token> path_;
  std::vector<std::string> errors_;
  bool quiet_ = false;
};

}  // namespace

std::vector<std::string> schema_errors(const std::vector<subschema>& schemas, const json::value& value) {
  return schema_checker(schemas).run(value);
}

}  // namespace runs
