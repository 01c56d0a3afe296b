#include "schema.hpp"

#include <gmock/gmock.h>

#include "result.hpp"

namespace mcp {
namespace {

std::string mismatch(std::string_view schema, std::string_view value) {
  return schema_mismatch(parse(schema), parse(value));
}

TEST(schema, validates_types_bounds_and_members) {
  const auto weather = R"({"type":"object","required":["t"],"additionalProperties":false,"properties":{
      "t":{"type":"number","minimum":-90},"rows":{"type":"array","maxItems":2,"items":{"$ref":"#/$defs/row"}},
      "u":{"enum":["C","F",null]},"name":{"type":["string","null"],"maxLength":3}},
      "$defs":{"row":{"type":"object","properties":{"id":{"type":"integer"}}}}})";
  EXPECT_EQ(mismatch(weather, R"({"t":20.5,"rows":[{"id":1},{"id":2.0}],"u":null,"name":"äöü"})"), "");
  EXPECT_EQ(mismatch(weather, "{}"), ": t is missing");
  EXPECT_EQ(mismatch(weather, R"({"t":"20"})"), "/t: is not of the type number");
  EXPECT_EQ(mismatch(weather, R"({"t":-100})"), "/t: is below minimum");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"rows":[{"id":1},{"id":1.5}]})"), "/rows/1/id: is not of the type integer");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"rows":[{},{},{}]})"), "/rows: has more items than maxItems");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"u":"K"})"), "/u: is none of the values that it may have");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"name":"four"})"), "/name: is longer than maxLength");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"x":1})"), "/x: is not allowed");
  EXPECT_EQ(mismatch(weather, "[]"), ": is not of the type object");
}

TEST(schema, validates_combinations_and_tuples) {
  EXPECT_EQ(mismatch(R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", "7"), "");
  EXPECT_NE(mismatch(R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", "true"), "");
  EXPECT_NE(mismatch(R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "7"), "");
  EXPECT_NE(mismatch(R"({"allOf":[{"minimum":1},{"maximum":3}]})", "4"), "");
  EXPECT_NE(mismatch(R"({"not":{"const":4}})", "4.0"), "");
  EXPECT_EQ(mismatch(R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})", R"(["a",1])"), "");
  EXPECT_NE(mismatch(R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a",1])"), "");
}

// Schemas are untrusted: none of these may crash or hang the process, or reject a value.
TEST(schema, hostile_schemas_and_unsupported_keywords_count_as_matched) {
  for (const char* schema :
       {R"({"$ref":"#"})", R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})", R"({"$ref":"https://example.com/x"})",
        R"({"oneOf":[{"$ref":"#"},{"$ref":"#"}]})", R"({"not":{"$ref":"#"}})", R"({"$ref":"#/no/such"})",
        R"({"$ref":"#/%"})", R"({"type":7,"enum":{},"required":"x","properties":[]})",
        R"({"pattern":"(a+)+$","minimum":"x"})", R"({"patternProperties":{"^x":{}},"additionalProperties":false})", "7",
        "null", "true"}) {
    EXPECT_EQ(mismatch(schema, R"({"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"})"), "") << schema;
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += (i == 0 ? "" : ",") + std::string(text);
  return out;
}

validation_result validated(std::string_view schema, std::string_view value) {
  const auto out = validate(parse(schema), parse(value));
  EXPECT_LE(out.work, max_schema_work);
  EXPECT_TRUE(!out.limit_exceeded || out.mismatch.empty());
  return out;
}

// Each schema is small enough to be accepted and would block an event loop for seconds to minutes without the work
// limit.
TEST(schema, validation_stops_at_the_work_limit) {
  const auto numbers = "[" + repeated("7", 150'000) + "]";
  const auto text = "\"" + std::string(1'000'000, 'x') + "\"";
  const auto texts = "[" + repeated(text, 10) + "]";
  const auto same_length = "\"" + std::string(999'999, 'x') + "y\"";
  const auto name = std::string(100'000, 'n');
  EXPECT_TRUE(validated(R"({"items":{"enum":[)" + repeated("1", 30'000) + ",7]}}", numbers).limit_exceeded);
  EXPECT_TRUE(
      validated(R"({"items":{"anyOf":[)" + repeated(R"({"type":"null"})", 30'000) + ",{}]}}", numbers).limit_exceeded);
  EXPECT_TRUE(validated(R"({"allOf":[)" + repeated(R"({"minLength":1})", 80'000) + "]}", text).limit_exceeded);
  EXPECT_TRUE(
      validated(R"({"items":{"enum":[)" + repeated(same_length, 10) + "," + text + "]}}", texts).limit_exceeded);
  EXPECT_TRUE(validated(R"({"items":{"required":[)" + repeated(R"("a")", 30'000) + "]}}",
                        "[" + repeated(R"({"a":1})", 50'000) + "]")
                  .limit_exceeded);
  EXPECT_TRUE(
      validated(R"({"allOf":[)" + repeated(R"({"additionalProperties":{}})", 10'000) + "]}", "{\"" + name + "\":1}")
          .limit_exceeded);
  EXPECT_TRUE(
      validated(R"({"allOf":[)" + repeated("{\"type\":[" + repeated(R"("object")", 100) + "]}", 30'000) + "]}", "{}")
          .limit_exceeded);
  EXPECT_TRUE(
      validated(R"({"allOf":[)" + repeated("{\"$ref\":\"#/" + std::string(10'000, 'a') + "\"}", 1'000) + "]}", "{}")
          .limit_exceeded);
  EXPECT_TRUE(validated(R"({"allOf":[)" + repeated("{\"const\":" + numbers + "}", 100) + "]}", numbers).limit_exceeded);
}

// Nested alternatives must not build a report at each level.
TEST(schema, nested_alternatives_do_not_multiply_the_work) {
  std::string schema = R"({"type":"string"})";
  for (int i = 0; i < 50; ++i) schema = R"({"anyOf":[)" + schema + "]}";
  const auto out = validated(schema, "7");
  EXPECT_EQ(out.mismatch, ": is not of the type string");
  EXPECT_LT(out.work, 500'000u);
}

TEST(schema, absent_keywords_cost_no_work) {
  const auto schema = R"({"allOf":[)" + repeated("{}", 1'000) + "]}";
  const auto small = validated(schema, R"("x")");
  const auto large = validated(schema, "\"" + std::string(1'000'000, 'x') + "\"");
  EXPECT_FALSE(large.limit_exceeded);
  EXPECT_EQ(small.work, large.work);
}

TEST(schema, validates_large_results_within_the_work_limit) {
  const auto table = R"({"type":"object","required":["rows"],"properties":{"rows":{"type":"array","items":
      {"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}}}})";
  const auto rows = repeated(R"({"id":1,"name":"n"})", 99'999);
  const auto good = validated(table, "{\"rows\":[" + rows + R"(,{"id":1}]})");
  EXPECT_FALSE(good.limit_exceeded);
  EXPECT_EQ(good.mismatch, "");
  EXPECT_EQ(validated(table, "{\"rows\":[" + rows + R"(,{"id":"x"}]})").mismatch,
            "/rows/99999/id: is not of the type integer");
  // Ten times as many rows exceed the limit.
  const auto more = validated(table, "{\"rows\":[" + repeated(R"({"id":1,"name":"n"})", 999'999) + R"(,{"id":"x"}]})");
  EXPECT_TRUE(more.limit_exceeded);
}

TEST(schema, reports_are_limited_in_length) {
  const auto name = std::string(100'000, 'n');
  const auto path =
      mismatch(R"({"additionalProperties":{"additionalProperties":false}})", "{\"" + name + "\":{\"" + name + "\":1}}");
  EXPECT_EQ(path, "/" + std::string(499, 'n'));
  EXPECT_EQ(mismatch(R"({"required":[")" + name + "\"]}", "{}").size(), 500u);
  EXPECT_EQ(mismatch(R"({"type":[)" + repeated(R"("null")", 1'000) + "]}", "{}").size(), 500u);
}

TEST(results, a_schema_mismatch_is_reported_and_omits_the_structured_content) {
  const auto result = parse(R"({"content":[{"type":"text","text":"hello"}],"structuredContent":{"a":1}})");
  const auto good = parse(result_json(result, 1000));
  EXPECT_EQ(good.at("structured"), parse(R"({"a":1})"));
  const auto bad = parse(result_json(result, 1000, "/a: is not of the type string"));
  EXPECT_FALSE(bad.as_object().contains("structured"));
  EXPECT_EQ(bad.at("content").as_string(),
            "hello\n[the structured result does not match the tool's output schema: /a: is not of the type string]");
  EXPECT_EQ(bad.at("mcp"), result);
  EXPECT_FALSE(bad.at("is_error").as_bool());
}

}  // namespace
}  // namespace mcp
