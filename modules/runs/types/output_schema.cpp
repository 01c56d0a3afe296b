#include "types/output_schema.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <ry/cpp/types.hpp>
#include <ry/cpp/utf8.hpp>
#include <stdexcept>
#include <unordered_map>

#include "json/exact.hpp"
#include "json/members.hpp"
#include "text.hpp"
#include "types/schema_pattern.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_schema_depth = 60, max_output_depth = 60;  // of the JSON text; a model request may have 64
constexpr std::size_t max_subschemas = 2000;
// Of subschemas that apply to the same value, through allOf, anyOf, oneOf, not and $ref.
constexpr std::size_t max_nested_subschemas = 32;
constexpr std::size_t max_errors = 10;
constexpr std::size_t max_shown_bytes = 200;  // of a pointer or name in an error
// Steps of one check: far above the check of the largest output against an ordinary schema.
constexpr std::int64_t max_steps_of_check = 20'000'000;
constexpr std::size_t pattern_steps_per_step = 4;

enum type_bit : unsigned {
  bit_null = 1,
  bit_boolean = 2,
  bit_integer = 4,
  bit_number = 8,
  bit_string = 16,
  bit_array = 32,
  bit_object = 64
};
constexpr std::pair<std::string_view, unsigned> type_names[] = {
    {"null", bit_null},     {"boolean", bit_boolean}, {"integer", bit_integer}, {"number", bit_number},
    {"string", bit_string}, {"array", bit_array},     {"object", bit_object}};

std::string shown_text(std::string_view text) {
  std::string out = plain_sentence(text.substr(0, ry::whole_characters(text.substr(0, max_shown_bytes))));
  return text.size() > max_shown_bytes ? out + "..." : out;
}

std::string escaped_token(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string_view key_of(const json::key_value_pair& member) {
  return member.key();
}

// All integers of JSON and all doubles are exact in this type.
long double number_of(const json::value& v) {
  if (v.is_int64()) return static_cast<long double>(v.get_int64());
  if (v.is_uint64()) return static_cast<long double>(v.get_uint64());
  return static_cast<long double>(v.get_double());
}

bool is_integral(const json::value& v) {
  return v.is_int64() || v.is_uint64() || (v.is_double() && std::trunc(v.get_double()) == v.get_double());
}

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

// The unescaped tokens of a local reference such as "#/$defs/item"; nullopt: it is not local, or invalid.
std::optional<std::vector<std::string>> tokens_of(std::string_view reference) {
  if (!reference.starts_with('#')) return std::nullopt;
  std::string fragment;
  for (const char c : reference.substr(1)) fragment += c == '+' ? "%2B" : std::string(1, c);  // not a form
  const std::optional<std::string> decoded = ry::percent_decode(fragment);
  if (!decoded) return std::nullopt;
  std::vector<std::string> out;
  std::string_view rest = *decoded;
  while (!rest.empty()) {
    if (rest.front() != '/') return std::nullopt;
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    std::string token;
    for (std::size_t i = 0; i < end; ++i) {
      if (rest[i] != '~') {
        token += rest[i];
        continue;
      }
      if (++i == end || (rest[i] != '0' && rest[i] != '1')) return std::nullopt;
      token += rest[i] == '0' ? '~' : '/';
    }
    out.push_back(std::move(token));
    rest.remove_prefix(end);
  }
  return out;
}

const json::value* value_at(const json::value& root, const std::vector<std::string>& tokens) {
  const json::value* at = &root;
  for (const std::string& token : tokens) {
    if (const json::object* o = at->if_object()) {
      at = module_json::member_at(*o, token);
    } else if (const json::array* list = at->if_array()) {
      const std::optional<std::int64_t> index = parse_int(token);
      at = index && *index >= 0 && static_cast<std::size_t>(*index) < list->size() && std::to_string(*index) == token
               ? &(*list)[static_cast<std::size_t>(*index)]
               : nullptr;
    } else {
      at = nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

using schema_id = std::size_t;

struct subschema {
  // Its place in the document, for error messages: a keyword of the parent, and a key or index below it.
  schema_id parent = 0;
  std::string_view keyword, key;
  std::optional<std::size_t> index;

  std::optional<bool> constant;  // of a schema that is `true` or `false`
  unsigned types = 0;  // type_bit; 0: all
  const json::array* one_of_values = nullptr;  // enum
  const json::value* only_value = nullptr;  // const
  const json::value *minimum = nullptr, *maximum = nullptr, *above = nullptr, *below = nullptr, *multiple_of = nullptr;
  std::optional<std::size_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::optional<schema_pattern> pattern;
  bool unique = false;
  std::map<std::string_view, schema_id> properties;
  std::vector<std::string_view> required;
  std::vector<schema_id> prefix, all_of, any_of, one_of;
  std::optional<schema_id> additional, items, names, negated, reference;
};

// A problem of a schema; the message has no pointer.
struct schema_fault {
  schema_id at;
  std::string keyword, message;
};

constexpr std::string_view annotations[] = {"$schema",   "$comment",   "title",           "description",
                                            "default",   "examples",   "format",          "readOnly",
                                            "writeOnly", "deprecated", "contentEncoding", "contentMediaType"};

class schema_reader {
 public:
  schema_reader(const json::value& root, std::vector<subschema>& out) : root_(root), out_(out) {}

  void run() {
    (void)add(root_, {});
    for (schema_id i = 0; i < out_.size(); ++i) {
      current_ = i;
      if (const bool* constant = values_[i]->if_bool())
        out_[i].constant = *constant;
      else if (const json::object* o = values_[i]->if_object())
        read_object(*o);
      else
        fault("", "must be an object or a boolean");
    }
    heights_.assign(out_.size(), 0);
    for (schema_id i = 0; i < out_.size(); ++i) (void)height(i, 0);
  }

  std::string pointer(schema_id at, std::string_view keyword) const {
    std::string out = keyword.empty() ? std::string() : "/" + escaped_token(keyword);
    for (; at != 0; at = out_[at].parent) {
      const subschema& s = out_[at];
      std::string own = "/" + std::string(s.keyword);
      if (s.index) own += "/" + std::to_string(*s.index);
      if (s.key.data() != nullptr) own += "/" + escaped_token(s.key);
      out.insert(0, own);
    }
    return out;
  }

 private:
  [[noreturn]] void fault(std::string_view keyword, std::string message) const {
    throw schema_fault{current_, std::string(keyword), std::move(message)};
  }

  schema_id add(const json::value& v, subschema place) {
    const auto known = ids_.find(&v);
    if (known != ids_.end()) return known->second;
    if (out_.size() == max_subschemas)
      fault("", "has too many subschemas: the schema must have at most " + std::to_string(max_subschemas));
    place.parent = current_;
    out_.push_back(std::move(place));
    values_.push_back(&v);
    ids_.emplace(&v, out_.size() - 1);
    return out_.size() - 1;
  }
  schema_id add(std::string_view keyword, const json::value& v) {
    subschema place;
    place.keyword = keyword;
    return add(v, std::move(place));
  }
  std::vector<schema_id> add_list(std::string_view keyword, const json::value& v) {
    const json::array* list = v.if_array();
    if (list == nullptr || list->empty()) fault(keyword, "must be an array of schemas that is not empty");
    std::vector<schema_id> out;
    for (const json::value& item : *list) {
      subschema place;
      place.keyword = keyword;
      place.index = out.size();
      out.push_back(add(item, std::move(place)));
    }
    return out;
  }
  std::map<std::string_view, schema_id> add_map(std::string_view keyword, const json::value& v) {
    const json::object* o = v.if_object();
    if (o == nullptr) fault(keyword, "must be an object whose members are schemas");
    std::map<std::string_view, schema_id> out;
    for (const auto& member : *o) {
      subschema place;
      place.keyword = keyword;
      place.key = key_of(member);
      out.emplace(key_of(member), add(member.value(), std::move(place)));
    }
    return out;
  }

  const json::value* number(std::string_view keyword, const json::value& v) const {
    if (!v.is_number() || !std::isfinite(number_of(v))) fault(keyword, "must be a number");
    return &v;
  }
  std::size_t count(std::string_view keyword, const json::value& v) const {
    if (!v.is_number() || !is_integral(v) || number_of(v) < 0 || number_of(v) > 1e15L)
      fault(keyword, "must be a whole number that is not negative");
    return static_cast<std::size_t>(number_of(v));
  }
  std::string_view text(std::string_view keyword, const json::value& v) const {
    if (!v.is_string()) fault(keyword, "must be a string");
    return {v.get_string().data(), v.get_string().size()};
  }

  unsigned type(const json::value& v) const {
    const auto bit_of = [&](const json::value& name) {
      for (const auto& [known, bit] : type_names)
        if (name.is_string() && name.get_string() == known) return bit;
      fault("type", "must be null, boolean, integer, number, string, array or object, or a list of these");
    };
    const json::array* list = v.if_array();
    if (list == nullptr) return bit_of(v);
    unsigned out = 0;
    for (const json::value& name : *list) out |= bit_of(name);
    if (out == 0) fault("type", "must not be empty");
    return out;
  }

  schema_id reference(const json::value& v) {
    const std::optional<std::vector<std::string>> tokens = tokens_of(text("$ref", v));
    if (!tokens) fault("$ref", "must be a reference into the same schema, such as #/$defs/item");
    const json::value* target = value_at(root_, *tokens);
    if (target == nullptr) fault("$ref", "refers to a part of the schema that does not exist");
    return add("$ref", *target);
  }

  void read_object(const json::object& o) {
    for (const auto& member : o) {
      const std::string_view name = key_of(member);
      if (!read_values(name, member.value()) && !read_counts(name, member.value()) &&
          !read_subschemas(name, member.value()) && !(name == "$id" && current_ == 0) &&
          std::find(std::begin(annotations), std::end(annotations), name) == std::end(annotations))
        fault(name, "is not a supported keyword");
    }
  }

  bool read_values(std::string_view name, const json::value& v) {
    subschema& s = out_[current_];
    if (name == "type") {
      s.types = type(v);
    } else if (name == "enum") {
      s.one_of_values = v.if_array();
      if (s.one_of_values == nullptr || s.one_of_values->empty()) fault(name, "must be an array that is not empty");
    } else if (name == "const") {
      s.only_value = &v;
    } else if (name == "minimum") {
      s.minimum = number(name, v);
    } else if (name == "maximum") {
      s.maximum = number(name, v);
    } else if (name == "exclusiveMinimum") {
      s.above = number(name, v);
    } else if (name == "exclusiveMaximum") {
      s.below = number(name, v);
    } else if (name == "multipleOf") {
      s.multiple_of = number(name, v);
      if (number_of(v) <= 0) fault(name, "must be greater than 0");
    } else if (name == "pattern") {
      try {
        s.pattern.emplace(text(name, v));
      } catch (const std::invalid_argument& e) {
        fault(name, std::string("is not a supported regular expression: ") + e.what());
      }
    } else if (name == "uniqueItems") {
      if (!v.is_bool()) fault(name, "must be a boolean");
      s.unique = v.get_bool();
    } else if (name == "required") {
      const json::array* list = v.if_array();
      if (list == nullptr) fault(name, "must be an array of strings");
      for (const json::value& item : *list) s.required.push_back(text(name, item));
    } else {
      return false;
    }
    return true;
  }

  bool read_counts(std::string_view name, const json::value& v) {
    subschema& s = out_[current_];
    const std::pair<std::string_view, std::optional<std::size_t>*> counts[] = {
        {"minLength", &s.min_length}, {"maxLength", &s.max_length},         {"minItems", &s.min_items},
        {"maxItems", &s.max_items},   {"minProperties", &s.min_properties}, {"maxProperties", &s.max_properties}};
    for (const auto& [known, to] : counts) {
      if (name != known) continue;
      *to = count(name, v);
      return true;
    }
    return false;
  }

  bool read_subschemas(std::string_view name, const json::value& v) {
    // Not a reference to the element, which moves when others are added.
    const auto s = [this]() -> subschema& { return out_[current_]; };
    if (name == "properties") {
      auto all = add_map(name, v);
      s().properties = std::move(all);
    } else if (name == "$defs" || name == "definitions") {
      (void)add_map(name, v);
    } else if (name == "additionalProperties") {
      const schema_id id = add(name, v);
      s().additional = id;
    } else if (name == "propertyNames") {
      const schema_id id = add(name, v);
      s().names = id;
    } else if (name == "items") {
      if (v.is_array()) fault(name, "must be a schema; the schemas of the first items belong in prefixItems");
      const schema_id id = add(name, v);
      s().items = id;
    } else if (name == "prefixItems") {
      auto all = add_list(name, v);
      s().prefix = std::move(all);
    } else if (name == "allOf") {
      auto all = add_list(name, v);
      s().all_of = std::move(all);
    } else if (name == "anyOf") {
      auto all = add_list(name, v);
      s().any_of = std::move(all);
    } else if (name == "oneOf") {
      auto all = add_list(name, v);
      s().one_of = std::move(all);
    } else if (name == "not") {
      const schema_id id = add(name, v);
      s().negated = id;
    } else if (name == "$ref") {
      const schema_id id = reference(v);
      s().reference = id;
    } else {
      return false;
    }
    return true;
  }

  // How deeply subschemas for the same value are nested below this one, including it. A cycle exceeds every limit.
  std::size_t height(schema_id at, std::size_t above) {
    if (heights_[at] == 0) {
      if (above < max_nested_subschemas) {
        std::size_t out = 1;
        const subschema& s = out_[at];
        for (const std::vector<schema_id>* list : {&s.all_of, &s.any_of, &s.one_of})
          for (const schema_id id : *list) out = std::max(out, 1 + height(id, above + 1));
        for (const std::optional<schema_id>& id : {s.negated, s.reference})
          if (id) out = std::max(out, 1 + height(*id, above + 1));
        heights_[at] = out;
      }
    }
    if (heights_[at] == 0 || above + heights_[at] > max_nested_subschemas) {
      current_ = at;
      fault("", "applies too many subschemas to one value, or refers to itself without a member or item in between");
    }
    return heights_[at];
  }

  const json::value& root_;
  std::vector<subschema>& out_;
  std::vector<const json::value*> values_;
  std::unordered_map<const json::value*, schema_id> ids_;
  std::vector<std::size_t> heights_;
  schema_id current_ = 0;
};

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

// PostgreSQL cannot store NUL characters in JSON, and JSON has no infinity.
bool is_storable(const json::value& v) {
  const auto has_nul = [](std::string_view text) { return text.find('\0') != std::string_view::npos; };
  if (const double* n = v.if_double()) return std::isfinite(*n);
  if (const json::string* text = v.if_string()) return !has_nul(*text);
  if (const json::array* list = v.if_array()) return std::all_of(list->begin(), list->end(), is_storable);
  if (const json::object* o = v.if_object())
    return std::all_of(o->begin(), o->end(),
                       [&](const auto& member) { return !has_nul(member.key()) && is_storable(member.value()); });
  return true;
}

// The content of an answer that is one fenced code block; any other answer unchanged, without white space around it.
std::string without_fence(std::string_view answer) {
  const std::string text = trim(answer);
  constexpr std::string_view fence = "```";
  const std::size_t first_line = text.find('\n');
  if (!text.starts_with(fence) || !text.ends_with(fence) || first_line == std::string::npos ||
      text.size() < first_line + fence.size())
    return text;
  return trim(std::string_view(text).substr(first_line, text.size() - fence.size() - first_line));
}

}  // namespace

struct output_schema::compiled {
  json::value document;  // the subschemas refer to its parts
  std::vector<subschema> schemas;
};

output_schema::output_schema() = default;
output_schema::output_schema(output_schema&&) noexcept = default;
output_schema& output_schema::operator=(output_schema&&) noexcept = default;
output_schema::~output_schema() = default;

std::string output_schema::read(std::string_view text) {
  const std::string what = "output_schema";
  if (text.size() > max_output_schema_bytes) return what + " must have at most " + size_text(max_output_schema_bytes);
  auto out = std::make_unique<compiled>();
  boost::system::error_code bad;
  out->document = module_json::parse_exactly(text, max_schema_depth, bad);
  if (bad == json::error::too_deep)
    return what + " must not be nested more deeply than " + std::to_string(max_schema_depth) + " levels";
  if (bad || !out->document.is_object()) return what + " must be a JSON Schema object";
  if (!is_storable(out->document)) return what + " must not contain NUL characters, or numbers that are too large";
  schema_reader reader(out->document, out->schemas);
  try {
    reader.run();
  } catch (const schema_fault& f) {
    const std::string pointer = reader.pointer(f.at, f.keyword);
    return what + ": " + (pointer.empty() ? "the schema" : shown_text(pointer)) + " " + f.message;
  }
  compiled_ = std::move(out);
  return {};
}

std::string output_schema::text() const {
  return json::serialize(compiled_->document);
}

std::vector<std::string> output_schema::errors_of(const json::value& value) const {
  return schema_checker(compiled_->schemas).run(value);
}

output_check check_output(std::string_view schema_json, std::string_view answer) {
  output_schema schema;
  output_check out;
  // The start has accepted the schema; an older node may have other rules.
  out.errors = schema.read(schema_json);
  if (!out.errors.empty()) return out;
  const std::string text = without_fence(answer);
  if (text.size() > max_output_bytes) {
    out.errors = "the output must have at most " + size_text(max_output_bytes);
    return out;
  }
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, max_output_depth, bad);
  if (bad) {
    out.errors = bad == json::error::too_deep
                     ? "the output must not be nested more deeply than " + std::to_string(max_output_depth) + " levels"
                     : "the output is not a JSON text: " + bad.message();
    return out;
  }
  if (!is_storable(v)) {
    out.errors = "the output contains a NUL character or a number that is too large";
    return out;
  }
  for (const std::string& error : schema.errors_of(v)) out.errors += (out.errors.empty() ? "" : "; ") + error;
  if (out.errors.empty()) out.output = escape_line_ends(json::serialize(v));
  return out;
}

}  // namespace runs
