// The parts of a JSON Schema, as schema_reader reads them and schema_checker applies them. Pure.
#pragma once
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/schema_pattern.hpp"

namespace runs {

enum type_bit : unsigned {
  bit_null = 1,
  bit_boolean = 2,
  bit_integer = 4,
  bit_number = 8,
  bit_string = 16,
  bit_array = 32,
  bit_object = 64
};
inline constexpr std::pair<std::string_view, unsigned> type_names[] = {
    {"null", bit_null},     {"boolean", bit_boolean}, {"integer", bit_integer}, {"number", bit_number},
    {"string", bit_string}, {"array", bit_array},     {"object", bit_object}};

// Position in the list of subschemas; 0: the schema itself.
using schema_id = std::size_t;

// Refers to parts of the schema's document.
struct subschema {
  // Its place in the document, for error messages: a keyword of the parent, and a key or index below it.
  schema_id parent = 0;
  std::string_view keyword, key;
  std::optional<std::size_t> index;

  std::optional<bool> constant;  // of a schema that is `true` or `false`
  unsigned types = 0;  // type_bit; 0: all
  const boost::json::array* one_of_values = nullptr;  // enum
  const boost::json::value* only_value = nullptr;  // const
  const boost::json::value *minimum = nullptr, *maximum = nullptr, *above = nullptr, *below = nullptr,
                           *multiple_of = nullptr;
  std::optional<std::size_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::optional<schema_pattern> pattern;
  bool unique = false;
  std::map<std::string_view, schema_id> properties;
  std::vector<std::string_view> required;
  std::vector<schema_id> prefix, all_of, any_of, one_of;
  std::optional<schema_id> additional, items, names, negated, reference;
};

// Texts of error messages: a pointer or name, shortened; a token of a JSON pointer.
std::string shown_text(std::string_view text);
std::string escaped_token(std::string_view token);

std::string_view key_of(const boost::json::key_value_pair& member);
// All integers of JSON and all doubles are exact in this type.
long double number_of(const boost::json::value& v);
bool is_integral(const boost::json::value& v);

}  // namespace runs
