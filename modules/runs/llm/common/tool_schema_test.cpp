#include "tool_schema.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace {

namespace json = boost::json;
using llm::schema_dialect;

struct row {
  const char* label;
  const char* given;
  const char* expected;  // nullptr: cannot be expressed
};

void check(const row& r, schema_dialect dialect) {
  const json::value given = json::parse(r.given);
  const auto got = llm::normalise_parameters(&given, dialect);
  if (r.expected == nullptr) {
    EXPECT_FALSE(got) << r.label;
    return;
  }
  ASSERT_TRUE(got) << r.label;
  EXPECT_EQ(json::value(got->schema), json::parse(r.expected)) << r.label << ": " << json::serialize(got->schema);
}

TEST(tool_schema, every_schema_becomes_an_object_with_properties) {
  const row rows[] = {
      {"nothing", "null", R"({"type":"object","properties":{}})"},
      {"PHP's empty object", "[]", R"({"type":"object","properties":{}})"},
      {"true", "true", R"({"type":"object","properties":{}})"},
      {"empty", "{}", R"({"type":"object","properties":{}})"},
      {"no type", R"({"properties":{"a":{"type":"string"}}})",
       R"({"type":"object","properties":{"a":{"type":"string"}}})"},
      {"no properties", R"({"type":"object"})", R"({"type":"object","properties":{}})"},
      {"several types", R"({"type":["object","null"]})", R"({"type":"object","properties":{}})"},
      {"null as type", R"({"type":null,"properties":{}})", R"({"type":"object","properties":{}})"},
      {"properties of PHP", R"({"type":"object","properties":[],"required":[]})",
       R"({"type":"object","properties":{}})"},
      {"nested properties", R"({"type":"object","properties":{"o":{"type":"object","properties":[]}}})",
       R"({"type":"object","properties":{"o":{"type":"object","properties":{}}}})"},
      {"null properties", R"({"type":"object","properties":null})", R"({"type":"object","properties":{}})"},
      {"null in properties", R"({"properties":{"a":null,"b":[],"c":"string","d":true,"e":false}})",
       R"({"type":"object","properties":{"a":{},"b":{},"c":{"type":"string"},"d":{}}})"},
      {"not an object", R"({"type":"string"})", nullptr},
      {"a list", R"({"type":"array","items":{}})", nullptr},
      {"alternatives that are not objects", R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", nullptr}};
  for (const auto& r : rows) check(r, schema_dialect::full);
  EXPECT_TRUE(llm::normalise_parameters(nullptr, schema_dialect::full));
}

TEST(tool_schema, required_contains_only_existing_properties) {
  const row rows[] = {
      {"object", R"({"properties":{"a":{}},"required":{}})", R"({"type":"object","properties":{"a":{}}})"},
      {"null", R"({"properties":{"a":{}},"required":null})", R"({"type":"object","properties":{"a":{}}})"},
      {"flag", R"({"properties":{"a":{}},"required":true})", R"({"type":"object","properties":{"a":{}}})"},
      {"list of PHP with gaps", R"({"properties":{"a":{},"b":{}},"required":{"0":"a","2":"b"}})",
       R"({"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]})"},
      {"unknown, twice, no text", R"({"properties":{"a":{}},"required":["a","a","b",7]})",
       R"({"type":"object","properties":{"a":{}},"required":["a"]})"},
      {"draft 3", R"({"properties":{"a":{"type":"string","required":true}}})",
       R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})"},
      {"nested", R"({"properties":{"o":{"properties":{"a":{}},"required":{}}}})",
       R"({"type":"object","properties":{"o":{"type":"object","properties":{"a":{}}}}})"}};
  for (const auto& r : rows) check(r, schema_dialect::full);
}

TEST(tool_schema, top_level_composition_becomes_one_object) {
  const row rows[] = {
      {"anyOf",
       R"({"type":"object","anyOf":[{"properties":{"id":{"type":"string"}},"required":["id"]},{"properties":{"url":{"type":"string"}},"required":["url"]}]})",
       R"({"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}}})"},
      {"oneOf with common parts", R"({"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"oneOf":[
        {"properties":{"k":{"type":"string"},"a":{}},"required":["k","a"]},{"properties":{"k":{"type":"string"}},"required":["k"]}]})",
       R"({"type":"object","properties":{"x":{"type":"integer"},"k":{"type":"string"},"a":{}},"required":["x","k"]})"},
      {"the same property with different types",
       R"({"oneOf":[{"type":"object","properties":{"v":{"type":"string"}}},{"type":"object","properties":{"v":{"type":"integer"}}},{"type":"object","properties":{"v":{"type":"boolean"}}}]})",
       R"({"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"boolean"}]}}})"},
      {"allOf",
       R"({"allOf":[{"properties":{"a":{}},"required":["a"]},{"$ref":"#/$defs/b"}],"$defs":{"b":{"type":"object","properties":{"b":{"type":"number"}},"required":["b"]}}})",
       R"({"type":"object","properties":{"a":{},"b":{"type":"number"}},"required":["a","b"]})"},
      {"nested", R"({"anyOf":[{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]},{"type":"null"}]})",
       R"({"type":"object","properties":{"a":{},"b":{}}})"},
      {"not and enum", R"({"type":"object","properties":{"a":{}},"not":{"required":["b"]},"enum":[{}]})",
       R"({"type":"object","properties":{"a":{}}})"},
      {"conditions",
       R"({"type":"object","properties":{"a":{}},"if":{"properties":{"a":{"const":1}}},"then":{"properties":{"b":{}}},"else":{"properties":{"c":{}}}})",
       R"({"type":"object","properties":{"a":{"const":1},"b":{},"c":{}}})"},
      {"composition within a property is kept",
       R"({"properties":{"p":{"oneOf":[{"type":"string"},{"type":"integer"}]}}})",
       R"({"type":"object","properties":{"p":{"oneOf":[{"type":"string"},{"type":"integer"}]}}})"}};
  for (const auto& r : rows) check(r, schema_dialect::full);
  const json::value either = json::parse(rows[0].given);
  EXPECT_EQ(llm::normalise_parameters(&either, schema_dialect::full)->alternatives, "id | url");
}

TEST(tool_schema, references_are_resolved_in_place) {
  const row rows[] = {
      {"defs",
       R"({"properties":{"a":{"$ref":"#/$defs/t","description":"d"}},"$defs":{"t":{"type":"string","minLength":1}}})",
       R"({"type":"object","properties":{"a":{"type":"string","minLength":1,"description":"d"}}})"},
      {"chain",
       R"({"properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"$ref":"#/definitions/y"},"y":{"type":"integer"}}})",
       R"({"type":"object","properties":{"a":{"type":"integer"}}})"},
      {"another property, escaped",
       R"({"properties":{"a/b":{"type":"string"},"c":{"$ref":"#/properties/a~1b"},"d":{"$ref":"#/properties/a%2Fb"}}})",
       R"({"type":"object","properties":{"a_b":{"type":"string","description":"The parameter \"a/b\"."},"c":{"type":"string"},"d":{"type":"string"}}})"},
      {"the top level", R"({"$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"a":{}}}}})",
       R"({"type":"object","properties":{"a":{}}})"},
      {"unresolvable", R"({"properties":{"a":{"$ref":"https://example.com/a.json"},"b":{"$ref":"#/$defs/none"}}})",
       R"({"type":"object","properties":{"a":{},"b":{}}})"},
      {"recursion",
       R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"string"}}}}})",
       R"({"type":"object","properties":{"next":{"type":"object"},"v":{"type":"string"}}})"},
      {"the root within itself", R"({"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"}}}})",
       R"({"type":"object","properties":{"children":{"type":"array","items":{"type":"object"}}}})"}};
  for (const auto& r : rows) check(r, schema_dialect::full);
}

TEST(tool_schema, exponential_references_are_limited) {
  json::object defs, properties;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "#/$defs/d" + std::to_string(i + 1);
    defs["d" + std::to_string(i)] = {{"type", "object"},
                                     {"properties", {{"a", {{"$ref", next}}}, {"b", {{"$ref", next}}}}}};
  }
  properties["top"] = {{"$ref", "#/$defs/d0"}};
  const json::value bomb = json::object{{"properties", properties}, {"$defs", defs}};
  const auto got = llm::normalise_parameters(&bomb, schema_dialect::full);
  ASSERT_TRUE(got);
  EXPECT_LT(json::serialize(got->schema).size(), 300'000u);
}

TEST(tool_schema, copies_of_a_large_definition_are_limited) {
  json::object properties;
  for (int i = 0; i < 1000; ++i) properties["p" + std::to_string(i)] = {{"$ref", "#/$defs/large"}};
  const json::value wide = json::object{
      {"properties", properties}, {"$defs", {{"large", {{"type", "string"}, {"default", std::string(20'000, 'x')}}}}}};
  const auto got = llm::normalise_parameters(&wide, schema_dialect::full);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->schema.at("properties").as_object().size(), 1000u);
  EXPECT_EQ(got->schema.at("properties").at("p999"), json::parse(R"({"type":"string"})"));
  EXPECT_LT(json::serialize(got->schema).size(), 200'000u);
}

TEST(tool_schema, arrays_have_items) {
  const row rows[] = {
      {"none", R"({"properties":{"a":{"type":"array"}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})"},
      {"a type name as schema", R"({"properties":{"a":"list"}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})"},
      {"no items, nullable", R"({"properties":{"a":{"type":["array","null"]}}})",
       R"({"type":"object","properties":{"a":{"type":["array","null"],"items":{}}}})"},
      {"tuple of draft 7",
       R"({"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"number"}],"additionalItems":false}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]},"maxItems":2}}})"},
      {"tuple of one kind", R"({"properties":{"a":{"items":[{"type":"number"},{"type":"number"}],"minItems":2}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"number"},"minItems":2}}})"},
      {"tuple of 2020-12", R"({"properties":{"a":{"prefixItems":[{"type":"number"}],"items":false}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"number"},"maxItems":1}}})"},
      {"empty list", R"({"properties":{"a":{"type":"array","items":[]}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})"},
      {"any item", R"({"properties":{"a":{"type":"array","items":true}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})"}};
  for (const auto& r : rows) check(r, schema_dialect::full);
}

TEST(tool_schema, keyword_values_conform_to_2020_12) {
  const row rows[] = {
      {"aliases of types",
       R"({"properties":{"a":{"type":"int"},"b":{"type":"String"},"c":{"type":"any"},"d":{"type":"float"},"e":{"type":["str","none"]}}})",
       R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{},"d":{"type":"number"},"e":{"type":["string","null"]}}})"},
      {"type of an enum", R"({"properties":{"a":{"enum":["x","y","x"]}}})",
       R"({"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}})"},
      {"empty enum", R"({"properties":{"a":{"type":"string","enum":[]}}})",
       R"({"type":"object","properties":{"a":{"type":"string"}}})"},
      {"bounds of draft 4",
       R"({"properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}})",
       R"({"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":1,"maximum":9}}})"},
      {"values of the wrong type",
       R"({"properties":{"a":{"type":"string","minLength":"1","maxLength":-1,"description":null,"format":7,"anyOf":[],"allOf":{},"pattern":[]}}})",
       R"({"type":"object","properties":{"a":{"type":"string"}}})"},
      {"metadata keywords",
       R"({"$schema":"http://json-schema.org/draft-07/schema#","$id":"x","$comment":"c","type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false})",
       R"({"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false})"},
      {"additionalProperties of PHP", R"({"type":"object","additionalProperties":[]})",
       R"({"type":"object","properties":{}})"},
      {"unknown keywords are kept", R"({"type":"object","x-order":[1],"properties":{"a":{"default":[],"x-unit":"s"}}})",
       R"({"type":"object","x-order":[1],"properties":{"a":{"default":[],"x-unit":"s"}}})"}};
  for (const auto& r : rows) check(r, schema_dialect::full);
}

TEST(tool_schema, schemas_are_reduced_to_the_openapi_subset) {
  const row rows[] = {
      {"keywords",
       R"({"type":"object","additionalProperties":false,"properties":{"a":{"type":"string","format":"uri","default":"x","const":"x","examples":["y"]}}})",
       R"({"type":"object","properties":{"a":{"type":"string","enum":["x"]}}})"},
      {"null",
       R"({"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],"description":"d"}}})",
       R"({"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"type":"integer","nullable":true,"description":"d"}}})"},
      {"several types", R"({"properties":{"a":{"type":["string","array"]}}})",
       R"({"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}})"},
      {"oneOf",
       R"({"properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}],"minLength":1,"description":"d"}}})",
       R"({"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}],"description":"d"}}})"},
      {"allOf", R"({"properties":{"a":{"allOf":[{"type":"integer","minimum":1}],"description":"d"}}})",
       R"({"type":"object","properties":{"a":{"type":"integer","minimum":1,"description":"d"}}})"},
      {"items", R"({"properties":{"a":{"type":"array"}}})",
       R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}})"},
      {"keywords of other types",
       R"({"properties":{"a":{"type":"string","properties":{"b":{}},"required":["b"],"items":{}},"c":{"type":"array","items":{"type":"integer"},"properties":{}}}})",
       R"({"type":"object","properties":{"a":{"type":"string"},"c":{"type":"array","items":{"type":"integer"}}}})"},
      {"allOf with several types",
       R"({"properties":{"a":{"allOf":[{"type":"string"},{"properties":{"x":{}},"required":["x"]}]}}})",
       R"({"type":"object","properties":{"a":{"type":"string"}}})"},
      {"anything", R"({"properties":{"a":{}}})", R"({"type":"object","properties":{"a":{"type":"string"}}})"},
      {"enum of numbers", R"({"properties":{"a":{"type":"integer","enum":[1,2]}}})",
       R"({"type":"object","properties":{"a":{"type":"integer"}}})"}};
  for (const auto& r : rows) check(r, schema_dialect::openapi);
}

TEST(tool_schema, properties_get_names_that_every_provider_accepts) {
  const json::value given = json::parse(
      R"({"properties":{"filter[name]":{"type":"string"},"filter.name":{},"$top":{"type":"integer","description":"how many"},"名前":{},"":{},"filter_name":{},
         "o":{"type":"object","properties":{"a b":{}},"required":["a b"]}},"required":["$top","名前"]})");
  auto got = llm::normalise_parameters(&given, schema_dialect::full);
  ASSERT_TRUE(got);
  const auto& properties = got->schema.at("properties").as_object();
  EXPECT_EQ(properties.size(), 7u);
  for (const char* name : {"filter_name", "filter.name", "top", "o"}) EXPECT_TRUE(properties.contains(name)) << name;
  EXPECT_EQ(properties.at("top").at("description"), "The parameter \"$top\": how many");
  EXPECT_EQ(got->schema.at("required").as_array().size(), 2u);
  EXPECT_EQ(properties.at("o").at("required"), json::parse(R"(["a_b"])"));
  // Round trip.
  llm::name_map to_new;
  for (const auto& [now, before] : got->original_names) to_new[before] = now;
  const json::value arguments =
      json::parse(R"({"filter[name]":"x","名前":[{"a b":1}],"filter_name":2,"":3,"o":{"a b":{"$top":null}},"free":4})");
  const auto renamed = llm::rename_keys(arguments, to_new);
  EXPECT_NE(renamed, arguments);
  EXPECT_EQ(llm::rename_keys(renamed, got->original_names), arguments);
}

TEST(tool_schema, long_property_names_are_truncated_without_collisions) {
  const std::string name(70, 'x');
  const json::value given = json::object{{"properties", {{name + "1", json::object()}, {name + "2", json::object()}}}};
  const auto got = llm::normalise_parameters(&given, schema_dialect::full);
  ASSERT_EQ(got->schema.at("properties").as_object().size(), 2u);
  for (const auto& p : got->schema.at("properties").as_object()) EXPECT_LE(p.key().size(), 64u);
}

}  // namespace
