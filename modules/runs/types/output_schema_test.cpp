#include "types/output_schema.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>

namespace runs {
namespace {

std::string refusal_of_schema(const std::string& schema) {
  output_schema s;
  return s.read(schema);
}

std::string errors(const std::string& schema, const std::string& value) {
  output_schema s;
  EXPECT_EQ(s.read(schema), "") << schema;
  std::string out;
  for (const std::string& e : s.errors_of(boost::json::parse(value))) out += (out.empty() ? "" : "; ") + e;
  return out;
}

TEST(output_schema, the_vocabulary_works) {
  struct example {
    const char *schema, *valid, *invalid, *error;
  };
  for (const example& e : {
           example{R"({"type":"integer"})", "1.0", "1.5", "the output must be of the type integer"},
           {R"({"type":["string","null"]})", "null", "1", "the output must be of the type null or string"},
           {R"({"type":"number","minimum":1,"exclusiveMaximum":3})", "2.9", "3", "the output must be less than 3"},
           {R"({"maximum":18446744073709551614})", "18446744073709551614", "18446744073709551615",
            "the output must be at most 18446744073709551614"},
           {R"({"exclusiveMinimum":0})", "0.1", "0", "the output must be greater than 0"},
           {R"({"multipleOf":0.1})", "0.3", "0.35", "the output must be a multiple of 1E-1"},
           {R"({"multipleOf":3})", "9", "10", "the output must be a multiple of 3"},
           {R"({"enum":[1,"a",null,{"x":[1]}]})", R"({"x":[1.0]})", R"({"x":[2]})",
            R"(the output must be one of [1,"a",null,{"x":[1]}])"},
           {R"({"const":"a"})", "\"a\"", "\"b\"", "the output must be \"a\""},
           {R"({"minLength":2,"maxLength":3})", "\"\u20ac\u20ac\u20ac\"", "\"\u20ac\"",
            "the output must have at least 2 characters"},
           {R"({"pattern":"^a+$"})", "\"aa\"", "\"ab\"", "the output must match the pattern of the schema"},
           {R"({"items":{"type":"string"},"minItems":1,"maxItems":2})", R"(["a"])", R"(["a",1])",
            "/1 must be of the type string"},
           {R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})", R"(["a",1])", R"([1,"a"])",
            "/0 must be of the type string; /1 must be of the type integer"},
           {R"({"items":false,"prefixItems":[true]})", "[1]", "[1,2]", "/1 is not allowed"},
           {R"({"uniqueItems":true})", R"([1,"1",{"a":1},{"a":2}])", R"([{"a":1,"b":2},0,{"b":2,"a":1.0}])",
            "the output must not contain the same item twice: items 0 and 2"},
           {R"({"properties":{"a/b":{"type":"string"}},"required":["a/b","c"],"additionalProperties":false})",
            R"json({"a/b":"","c":1})json", "{}", ""},
           {R"({"properties":{"a":{"type":"string"}},"required":["a","b"]})", R"({"a":"","b":1,"z":2})", R"({"a":1})",
            "/b is required; /a must be of the type string"},
           {R"({"additionalProperties":{"type":"integer"}})", R"({"a":1})", R"({"a~/b":"x"})",
            "/a~0~1b must be of the type integer"},
           {R"({"propertyNames":{"pattern":"^[a-z]+$"},"minProperties":1})", R"({"a":1})", R"({"A":1})",
            "/A has a name that is not allowed"},
           {R"({"anyOf":[{"type":"string"},{"type":"integer","minimum":5}]})", "5", "4",
            "the output must be at least 5"},
           {R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", "5", "true",
            "the output matches none of the alternatives of the schema"},
           {R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1.5", "1",
            "the output must match only one of the schemas of oneOf"},
           {R"({"allOf":[{"minimum":1},{"maximum":2}]})", "2", "3", "the output must be at most 2"},
           {R"({"not":{"type":"string"}})", "1", "\"\"", "the output must not match the schema of not"},
           {R"({"$defs":{"a b":{"type":"integer"}},"items":{"$ref":"#/$defs/a%20b"}})", "[1]", "[\"\"]",
            "/0 must be of the type integer"},
           {R"({"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]})",
            R"({"v":1,"next":{"v":2}})", R"({"v":1,"next":{"v":2,"next":{}}})", "/next/next/v is required"},
           {R"({"title":"t","description":"d","default":1,"examples":[],"$schema":"x","$comment":"c","format":"date"})",
            "1", "", ""},
       }) {
    if (std::string_view(e.error).empty() && std::string_view(e.invalid) == "{}") {
      EXPECT_EQ(refusal_of_schema(e.schema), "");
      EXPECT_EQ(errors(e.schema, "{}"), "/a~1b is required; /c is required");
      continue;
    }
    EXPECT_EQ(errors(e.schema, e.valid), "") << e.schema;
    if (*e.invalid != '\0') {
      EXPECT_EQ(errors(e.schema, e.invalid), e.error) << e.schema;
    }
  }
}

TEST(output_schema, refusals_name_the_pointer) {
  const std::pair<const char*, const char*> refusals[] = {
      {"", "output_schema must be a JSON Schema object"},
      {"true", "output_schema must be a JSON Schema object"},
      {"[]", "output_schema must be a JSON Schema object"},
      {R"({"properties":{"a/b":{"unevaluatedItems":false}}})",
       "output_schema: /properties/a~1b/unevaluatedItems is not a supported keyword"},
      {R"({"anyOf":[{},{"if":{}}]})", "output_schema: /anyOf/1/if is not a supported keyword"},
      {R"({"items":{"$id":"x"}})", "output_schema: /items/$id is not a supported keyword"},
      {R"({"type":"text"})",
       "output_schema: /type must be null, boolean, integer, number, string, array or object, or a list of these"},
      {R"({"properties":{"a":1}})", "output_schema: /properties/a must be an object or a boolean"},
      {R"({"$defs":{"x":{"minLength":-1}}})",
       "output_schema: /$defs/x/minLength must be a whole number that is not negative"},
      {R"({"multipleOf":0})", "output_schema: /multipleOf must be greater than 0"},
      {R"({"items":[{}]})",
       "output_schema: /items must be a schema; the schemas of the first items belong in prefixItems"},
      {R"({"$ref":"https://example.org/schema"})",
       "output_schema: /$ref must be a reference into the same schema, such as #/$defs/item"},
      {R"({"items":{"$ref":"#/$defs/none"}})",
       "output_schema: /items/$ref refers to a part of the schema that does not exist"},
      {R"({"pattern":"(?=a)b"})",
       "output_schema: /pattern is not a supported regular expression: lookahead and lookbehind are not supported"},
      {R"({"description":"\u0000"})", "output_schema must not contain NUL characters, or numbers that are too large"},
  };
  for (const auto& [schema, message] : refusals) EXPECT_EQ(refusal_of_schema(schema), message) << schema;
}

std::string repeated(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(output_schema, hostile_schemas_are_refused) {
  const std::string cycle =
      "applies too many subschemas to one value, or refers to itself without a member or item in between";
  EXPECT_EQ(refusal_of_schema(R"({"$ref":"#"})"), "output_schema: the schema " + cycle);
  EXPECT_NE(
      refusal_of_schema(
          R"({"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"})")
          .find(cycle),
      std::string::npos);
  // Each level refers twice to the next one.
  std::string doubled = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    doubled += "\"d" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "]},";
  }
  EXPECT_NE(refusal_of_schema(doubled + "\"d60\":{}}}").find(cycle), std::string::npos);
  EXPECT_EQ(refusal_of_schema(repeated(R"({"items":)", 100) + "{}" + repeated("}", 100)),
            "output_schema must not be nested more deeply than 60 levels");
  EXPECT_EQ(refusal_of_schema("{\"anyOf\":[{}" + repeated(",{}", 3000) + "]}"),
            "output_schema: the schema has too many subschemas: the schema must have at most 2000");
  EXPECT_EQ(refusal_of_schema("{\"title\":\"" + std::string(70'000, 'x') + "\"}"),
            "output_schema must have at most 64.0 KB");
}

// Every level doubles the work of the one above it, and every value is compared with all others.
TEST(output_schema, the_time_of_a_check_is_limited) {
  const auto start = std::chrono::steady_clock::now();
  std::string doubled = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 14; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    doubled += "\"d" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "," + next + "," + next + "]},";
  }
  const std::string too_complex = "the output is too complex to be checked against output_schema";
  EXPECT_EQ(errors(doubled + "\"d14\":{}}}", "1"), too_complex);
  std::string list = "[0";
  for (int i = 1; i < 20'000; ++i) list += "," + std::to_string(i);
  EXPECT_EQ(errors(R"({"uniqueItems":true})", list + "]"), too_complex);
  EXPECT_EQ(errors(R"({"pattern":"^([a-z]{100}){40}$"})", "\"" + std::string(500'000, 'a') + "\""), too_complex);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(output_schema, at_most_ten_errors_are_reported) {
  EXPECT_EQ(errors(R"({"items":{"type":"string"}})", "[1,1,1,1,1,1,1,1,1,1,1,1]").find("/10 "), std::string::npos);
}

TEST(output_schema, an_answer_is_checked_as_json) {
  const std::string schema = R"({"type":"object","properties":{"a":{"type":"integer"}}})";
  EXPECT_EQ(check_output(schema, " {\"a\": 1}\n").output, R"({"a":1})");
  EXPECT_EQ(check_output(schema, "```json\n{\"a\":\n1}\n```").output, R"({"a":1})");
  EXPECT_EQ(check_output(schema, "```\n{}\n```\n").output, "{}");
  EXPECT_EQ(check_output(schema, "{\"a\":\"x\"}").errors, "/a must be of the type integer");
  EXPECT_EQ(check_output(schema, "{\"a\":\"x\"}").output, "");
  for (const char* text : {"", "hello", "{\"a\":1} done", "```json\n```", "```", "{\"a\":1", "{'a':1}"})
    EXPECT_EQ(check_output(schema, text).errors.find("the output is not a JSON text: "), 0U) << text;
  EXPECT_EQ(check_output("{}", "\"\xe2\x80\xa8\"").output, "\"\\u2028\"") << "one line for every reader";
  EXPECT_EQ(check_output("{}", R"({"a":["\u0000"]})").errors,
            "the output contains a NUL character or a number that is too large");
  EXPECT_EQ(check_output("{}", "[1e999]").errors, "the output contains a NUL character or a number that is too large");
  EXPECT_EQ(check_output("{}", repeated("[", 100) + repeated("]", 100)).errors,
            "the output must not be nested more deeply than 60 levels");
  EXPECT_EQ(check_output("{}", "\"" + std::string(max_output_bytes, 'x') + "\"").errors,
            "the output must have at most 1.0 MB");
}

}  // namespace
}  // namespace runs
