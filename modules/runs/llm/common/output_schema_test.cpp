#include "output_schema.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace llm {
namespace {

namespace json = boost::json;

json::object parsed(const char* text) {
  return json::parse(text).as_object();
}

std::string narrowed(const char* schema, const schema_limits& limits = {}) {
  const std::optional<native_schema> out = narrow_output_schema(parsed(schema), limits);
  return out ? (out->is_complete ? "" : "part of: ") + json::serialize(out->schema) : "none";
}

TEST(output_schema, fixed_objects_are_native) {
  EXPECT_EQ(
      narrowed(
          R"({"type":"object","title":"t","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a"]})"),
      R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a"],"additionalProperties":false})");
  EXPECT_EQ(
      narrowed(R"({"type":"object","properties":{"a":{"type":"string","minLength":2}}})"),
      R"(part of: {"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false})")
      << "the caller checks the omitted constraints";
  EXPECT_EQ(
      narrowed(
          R"({"$defs":{"x":{"enum":[1,2]}},"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/x"}}},"required":["a"]})"),
      R"({"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/x"}}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"enum":[1,2]}}})");
}

TEST(output_schema, other_schemas_are_not_native) {
  for (const char* schema :
       {R"({"type":"array","items":{"type":"string"}})", R"({"type":"object"})",
        R"({"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}})",
        R"({"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}}})",
        R"({"type":"object","properties":{"a":{}}})", R"({"type":"object","properties":{"a":true}})",
        R"({"type":"object","properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}})",
        R"({"type":"object","properties":{},"required":["a"]})",
        R"({"type":"object","properties":{"a":{"type":["object","null"]}}})"})
    EXPECT_EQ(narrowed(schema), "none") << schema;
}

TEST(output_schema, the_limits_of_a_provider_are_kept) {
  const char* recursive =
      R"({"$defs":{"n":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"]}},"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]})";
  EXPECT_EQ(narrowed(recursive), "none");
  schema_limits limits;
  limits.recursion = true;
  EXPECT_NE(narrowed(recursive, limits), "none");
  const char* optional = R"({"type":"object","properties":{"a":{"type":"string"}}})";
  limits.optional_properties = 0;
  EXPECT_EQ(narrowed(optional, limits), "none");
  limits.optional_properties = 1;
  EXPECT_NE(narrowed(optional, limits), "none");
  limits.all_required = true;
  EXPECT_EQ(narrowed(optional, limits), "none");
}

TEST(output_schema, a_schema_goes_to_the_provider_or_into_the_prompt) {
  const auto taken = [](const char* schema, const std::optional<schema_limits>& limits, bool guidance) {
    json::object request{{"model", "m"}, {"system", "Be brief."}, {"output_schema", json::parse(schema)}};
    const std::optional<output_format> out = take_output_schema(request, limits, guidance);
    EXPECT_FALSE(request.contains("output_schema"));
    const std::string system(request.at("system").as_string());
    EXPECT_TRUE(system.starts_with("Be brief.")) << system;
    return std::string(!out             ? "none"
                       : out->is_strict ? "strict"
                                        : "guidance") +
           (system.find(schema) != std::string::npos ? " and prompt" : "");
  };
  const char* simple = R"({"type":"object","properties":{"a":{"type":"string"}}})";
  const char* length = R"({"type":"object","properties":{"a":{"type":"string","maxLength":3}}})";
  const char* map = R"({"type":"object","additionalProperties":{"type":"string"}})";
  EXPECT_EQ(taken(simple, schema_limits(), false), "strict");
  EXPECT_EQ(taken(simple, std::nullopt, false), "none and prompt");
  EXPECT_EQ(taken(length, schema_limits(), false), "strict and prompt");
  EXPECT_EQ(taken(map, schema_limits(), false), "none and prompt");
  EXPECT_EQ(taken(map, schema_limits(), true), "guidance");
  EXPECT_EQ(taken(R"({"type":"array"})", schema_limits(), true), "none and prompt");
  json::object without{{"model", "m"}};
  EXPECT_FALSE(take_output_schema(without, schema_limits(), true));
  EXPECT_FALSE(without.contains("system"));
}

}  // namespace
}  // namespace llm
