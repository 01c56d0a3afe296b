#include "schema.hpp"

#include <gmock/gmock.h>

#include "result.hpp"

namespace mcp {
namespace {

std::string mismatch(std::string_view schema, std::string_view value) {
  return schema_mismatch(parse(schema), parse(value));
}

TEST(Schema, MatchesWhatItShould) {
  const auto weather = R"({"type":"object","required":["t"],"additionalProperties":false,"properties":{
      "t":{"type":"number","minimum":-90},"rows":{"type":"array","maxItems":2,"items":{"$ref":"#/$defs/row"}},
      "u":{"enum":["C","F",null]},"name":{"type":["string","null"],"maxLength":3}},
      "$defs":{"row":{"type":"object","properties":{"id":{"type":"integer"}}}}})";
  EXPECT_EQ(mismatch(weather, R"({"t":20.5,"rows":[{"id":1},{"id":2.0}],"u":null,"name":"äöü"})"), "");
  EXPECT_EQ(mismatch(weather, "{}"), ": t is missing");
  EXPECT_EQ(mismatch(weather, R"({"t":"20"})"), "/t: is not of the type number");
  EXPECT_EQ(mismatch(weather, R"({"t":-100})"), "/t: is below minimum");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"rows":[{"id":1},{"id":1.5}]})"), "/rows/1/id: is not of the type integer");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"rows":[{},{},{}]})"), "/rows: has a count above maxItems");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"u":"K"})"), "/u: is none of the values that it may have");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"name":"four"})"), "/name: has a length above maxLength");
  EXPECT_EQ(mismatch(weather, R"({"t":1,"x":1})"), "/x: may not be there");
  EXPECT_EQ(mismatch(weather, "[]"), ": is not of the type object");
}

TEST(Schema, Combinations) {
  EXPECT_EQ(mismatch(R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", "7"), "");
  EXPECT_NE(mismatch(R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", "true"), "");
  EXPECT_NE(mismatch(R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "7"), "");
  EXPECT_NE(mismatch(R"({"allOf":[{"minimum":1},{"maximum":3}]})", "4"), "");
  EXPECT_NE(mismatch(R"({"not":{"const":4}})", "4.0"), "");
  EXPECT_EQ(mismatch(R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})", R"(["a",1])"), "");
  EXPECT_NE(mismatch(R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a",1])"), "");
}

// Schemas come from servers: none of these may end the process, hang, or refuse what is not understood.
TEST(Schema, HostileOnesDoNoHarm) {
  for (const char* schema :
       {R"({"$ref":"#"})", R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})", R"({"$ref":"https://example.com/x"})", R"({"oneOf":[{"$ref":"#"},{"$ref":"#"}]})", R"({"not":{"$ref":"#"}})",
        R"({"$ref":"#/no/such"})", R"({"$ref":"#/%"})", R"({"type":7,"enum":{},"required":"x","properties":[]})",
        R"({"pattern":"(a+)+$","minimum":"x"})", R"({"patternProperties":{"^x":{}},"additionalProperties":false})",
        "7", "null", "true"}) {
    EXPECT_EQ(mismatch(schema, R"({"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"})"), "") << schema;
  }
}

TEST(Results, AMismatchIsToldAndTheStructuredContentNotHandedOn) {
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
