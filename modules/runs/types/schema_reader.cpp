#include "types/schema_reader.hpp"

#include <algorithm>
#include <cmath>
#include <ry/cpp/types.hpp>
#include <stdexcept>
#include <unordered_map>

#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_subschemas = 2000;
// Of subschemas that apply to the same value, through allOf, anyOf, oneOf, not and $ref.
constexpr std::size_t max_nested_subschemas = 32;

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

}  // namespace

std::string read_subschemas(const json::value& document, std::vector<subschema>& out) {
  schema_reader reader(document, out);
  try {
    reader.run();
  } catch (const schema_fault& f) {
    const std::string pointer = reader.pointer(f.at, f.keyword);
    return (pointer.empty() ? "the schema" : shown_text(pointer)) + " " + f.message;
  }
  return {};
}

}  // namespace runs
