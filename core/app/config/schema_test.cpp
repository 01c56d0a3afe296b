#include "core/app/config/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "core/app/config/nearest.hpp"
#include "core/app/config/sources.hpp"

namespace ry::app::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
namespace json = boost::json;

struct outcome {
  json::value value;
  std::vector<std::string> faults;
};

outcome run(std::string_view toml, std::string_view schema, const std::vector<std::string>& overrides = {}) {
  problems p;
  auto tree = parse_toml(toml, "f", {{"N", "7"}, {"T", "true"}}, p);
  for (const auto& o : overrides) apply_override(tree, o, p);
  outcome out;
  out.value = check(tree, json::parse(schema), {}, p);
  for (const auto& each : p) out.faults.push_back(each.format());
  return out;
}

constexpr const char* sample = R"({"type":"object","properties":{
  "port":{"type":"integer","minimum":0,"maximum":65535,"default":8080},
  "rate":{"type":"number","minimum":0.5},
  "name":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[a-zé]+$"},
  "on":{"type":"boolean","default":false},
  "mode":{"type":"string","enum":["local","production"]},
  "tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2},
  "deep":{"type":"object","properties":{"x":{"type":"integer","default":1},"y":{"type":"string"}}},
  "strict":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},
  "providers":{"type":"object","additionalProperties":{"type":"object","properties":{
     "kind":{"type":"string"},"api_key":{"type":"string","secret":true}},"required":["kind"]}}
}})";

TEST(schema, fills_defaults_everywhere) {
  const auto r = run("", sample);
  EXPECT_THAT(r.faults, IsEmpty());
  EXPECT_EQ(json::serialize(r.value), R"({"port":8080,"on":false,"deep":{"x":1},"providers":{}})");
}

TEST(schema, a_missing_table_with_a_required_key_gets_no_defaults) {
  EXPECT_FALSE(run("", sample).value.as_object().contains("strict"));
  EXPECT_THAT(run("[strict]\n", sample).faults, ElementsAre("f:1:2: strict.id: is required"));
}

TEST(schema, reports_all_faults_with_positions) {
  const auto r =
      run("port = 70000\nrate = 0.1\nname = \"A\"\non = \"yes\"\nmode = \"prodution\"\ntags = []\n"
          "[deep]\nx = 1.5\n[providers.a]\nkind = 1\n[providers.b]\n",
          sample);
  EXPECT_THAT(r.faults,
              ElementsAre("f:1:1: port: must be from 0 to 65535", "f:2:1: rate: must be at least 0.5",
                          "f:3:1: name: must have at least 2 characters",
                          "f:3:1: name: must match the regular expression ^[a-zé]+$",
                          "f:4:1: on: must be true or false, not a string",
                          "f:5:1: mode: must be one of \"local\", \"production\"; did you mean "
                          "\"production\"?",
                          "f:6:1: tags: must have at least 1 entry", "f:8:1: deep.x: must be an integer, not a number",
                          "f:10:1: providers.a.kind: must be a string, not an integer",
                          "f:11:12: providers.b.kind: is required"));
}

TEST(schema, unknown_keys_get_the_nearest_name) {
  const auto r = run("prot = 1\nzzzzzz = 1\n[deep]\nz = 1\n", sample);
  EXPECT_THAT(r.faults, ElementsAre("f:1:1: prot: unknown key; did you mean \"port\"?", "f:2:1: zzzzzz: unknown key",
                                    "f:4:1: deep.z: unknown key"));
}

TEST(schema, integers_pass_as_numbers_and_length_counts_characters) {
  const auto r = run("rate = 2\nname = \"éééé\"\n", sample);
  EXPECT_THAT(r.faults, IsEmpty());
}

TEST(schema, text_values_are_converted_to_the_schema_type) {
  const auto r = run("port = \"${N}\"\non = \"${T}\"\n", sample, {"name=true", "tags=a, b", "rate=1", "deep.y=0042"});
  EXPECT_THAT(r.faults, IsEmpty());
  EXPECT_EQ(r.value.at("port"), 7);
  EXPECT_EQ(r.value.at("on"), true);
  EXPECT_EQ(r.value.at("name"), "true");
  EXPECT_EQ(json::serialize(r.value.at("tags")), R"(["a","b"])");
  EXPECT_EQ(r.value.at("deep").at("y"), "0042");
  EXPECT_THAT(run("port = \"7\"\n", sample).faults,
              ElementsAre("f:1:1: port: must be an integer, not a string; remove the quotes"))
      << "a quoted value in a file is a string";
  EXPECT_THAT(run("", sample, {"port=7x"}).faults, ElementsAre("--set: port: must be an integer, not a string"));
}

TEST(schema, a_wrong_value_is_explained) {
  const auto fault = [](const std::string& text, const std::string& property) {
    const auto r = run(text, (R"({"type":"object","properties":{"x":)" + property + "}}").c_str());
    return r.faults.size() == 1 ? r.faults[0] : std::to_string(r.faults.size()) + " faults";
  };
  EXPECT_EQ(
      fault("x = \"no\"\n", R"({"type":"string","pattern":"^https?://","form":"a URL such as https://example.org"})"),
      "f:1:1: x: must be a URL such as https://example.org");
  EXPECT_EQ(fault("x = \"10s\"\n", R"({"type":"number"})"),
            "f:1:1: x: must be a number, not a string; write it without quotes and without a unit");
  EXPECT_EQ(fault("x = \"many\"\n", R"({"type":"integer"})"), "f:1:1: x: must be an integer, not a string");
  EXPECT_EQ(fault("x = \"a\"\n", R"({"type":"array","items":{"type":"string"}})"),
            "f:1:1: x: must be a list, not a string; put it into brackets: [\"...\"]");
  EXPECT_EQ(fault("x = 0\n", R"({"type":"integer","minimum":1,"maximum":9})"), "f:1:1: x: must be from 1 to 9");
  EXPECT_EQ(fault("x = 10\n", R"({"type":"integer","minimum":1,"maximum":9})"), "f:1:1: x: must be from 1 to 9");
  EXPECT_EQ(fault("x = 0\n", R"({"type":"integer","minimum":1})"), "f:1:1: x: must be at least 1");
  EXPECT_EQ(fault("x = \"\"\n", R"({"type":"string","minLength":1})"), "f:1:1: x: must have at least 1 character");
}

TEST(schema, checks_additional_properties) {
  EXPECT_THAT(run("a = 1\n", R"({"type":"object","additionalProperties":true})").faults, IsEmpty());
  EXPECT_THAT(run("a = 1\n", R"({"type":"object"})").faults, ElementsAre("f:1:1: a: unknown key"));
  EXPECT_THAT(run("a = 1\n", R"({"type":"object","additionalProperties":{"type":"string"}})").faults,
              ElementsAre("f:1:1: a: must be a string, not an integer"));
}

TEST(schema, an_empty_schema_allows_tables_within_tables) {
  const auto r = run("[o.body.thinking]\ntype = 'on'\nn = [1, { x = 2 }]\n",
                     R"({"type":"object","properties":{"o":{"type":"object","additionalProperties":{}}}})");
  EXPECT_THAT(r.faults, IsEmpty());
  EXPECT_EQ(r.value.at("o").at("body"), json::parse(R"({"thinking":{"type":"on","n":[1,{"x":2}]}})"));
  EXPECT_THAT(run("[o]\nbody = 1\n", R"({"type":"object","properties":{"o":{"type":"object"}}})").faults,
              ElementsAre("f:2:1: o.body: unknown key"));
}

TEST(schema, a_nul_in_a_string_is_refused) {
  EXPECT_THAT(run("name = \"a\\u0000\"\n", sample).faults,
              ::testing::Contains("f:1:1: name: must not contain a NUL character"));
}

TEST(schema, a_text_that_is_not_utf8_is_refused) {
  EXPECT_THAT(run("", sample, {"name=a\xff", "tags=a, \xff", "mode=\xc3"}).faults,
              ElementsAre("--set: name: must be UTF-8", "--set: tags[1]: must be UTF-8", "--set: mode: must be UTF-8"));
}

TEST(schema, a_long_text_is_not_matched_against_the_pattern) {
  const auto r = run("name = \"" + std::string(200'000, 'a') + "\"\n",
                     R"({"type":"object","properties":{"name":{"type":"string","pattern":"^(a|b)*$"}}})");
  EXPECT_EQ(r.faults.size(), 1u);
}

TEST(schema, secrets_are_masked_and_collected) {
  const auto schema = json::parse(
      R"({"type":"object","properties":{"key":{"type":"string","secret":true},"n":{"type":"string"},
          "old":{"type":"array","secret":true,"items":{"type":"string"}},
          "headers":{"type":"object","secret":true,"additionalProperties":{"type":"string"}},
          "p":{"type":"object","additionalProperties":{"type":"object","properties":{
            "api_key":{"type":"string","secret":true}}}}}})");
  problems p;
  const auto value = check(parse_toml("key='k1'\nn='open'\nold=['k2','']\nheaders={A='k3'}\n"
                                      "p.x.api_key='k4'\np.y.api_key=''\n",
                                      "f", {}, p),
                           schema, {}, p);
  ASSERT_THAT(p, IsEmpty());
  EXPECT_THAT(secrets(value, schema), UnorderedElementsAre("k1", "k2", "k3", "k4"));
  const auto shown = json::serialize(masked(value, schema));
  for (const auto* s : {"k1", "k2", "k3", "k4"}) EXPECT_EQ(shown.find(s), std::string::npos) << s;
  EXPECT_NE(shown.find("open"), std::string::npos);
  EXPECT_NE(shown.find(R"("y":{"api_key":""})"), std::string::npos) << "an empty secret stays empty";
}

TEST(schema, the_user_info_of_a_url_is_a_secret) {
  const auto schema = json::parse(
      R"({"type":"object","properties":{"hooks":{"type":"array","items":{"type":"object",
          "additionalProperties":{"type":"string"}}}}})");
  problems p;
  const auto value = check(parse_toml("hooks = [{url = 'https://ann:hunt:er22@h.example/x?to=a@b', to = 'a@b.example'},"
                                      " {url = 'https://token@h.example', plain = 'https://h.example/a@b'}]\n",
                                      "f", {}, p),
                           schema, {}, p);
  ASSERT_THAT(p, IsEmpty());
  EXPECT_EQ(json::serialize(masked(value, schema)),
            R"({"hooks":[{"url":"https://********@h.example/x?to=a@b","to":"a@b.example"},)"
            R"({"url":"https://********@h.example","plain":"https://h.example/a@b"}]})");
  EXPECT_THAT(secrets(value, schema), UnorderedElementsAre("ann:hunt:er22", "hunt:er22"));
}

TEST(schema, drivers_named_in_settings_must_be_loaded) {
  const auto schema = json::parse(
      R"({"type":"object","properties":{"p":{"type":"object","additionalProperties":{
          "type":"object","properties":{"kind":{"type":"string","driver_of":"llm.provider/1"}}}}}})");
  problems p;
  const auto tree = parse_toml(
      "p.a.kind='openai'\np.b.kind='opnai'\np.c.kind='bubblewrap'\n"
      "p.d.kind=''\n",
      "f", {}, p);
  const auto value = check(tree, schema, {}, p);
  ASSERT_THAT(p, IsEmpty());
  check_drivers(value, schema, &tree, {"runs"}, {{"llm.provider/1", "openai"}, {"sandbox.driver/1", "bubblewrap"}}, p);
  std::vector<std::string> messages;
  for (const auto& each : p) messages.push_back(each.format());
  EXPECT_THAT(messages, ::testing::ElementsAre(
                            "f:2:5: runs.p.b.kind: no driver \"opnai\" of llm.provider/1 is loaded (loaded: openai); "
                            "did you mean \"openai\"?",
                            "f:3:5: runs.p.c.kind: no driver \"bubblewrap\" of llm.provider/1 is loaded (loaded: "
                            "openai)"));
}

TEST(schema, faults_never_show_a_secret) {
  const auto r = run("k = 'hunter2222'\n",
                     R"({"type":"object","properties":{"k":{"type":"string","secret":true,
                         "enum":["a"],"maxLength":2,"pattern":"^x"}}})");
  ASSERT_EQ(r.faults.size(), 3u);
  for (const auto& f : r.faults) EXPECT_EQ(f.find("hunter"), std::string::npos) << f;
}

TEST(schema, faults_in_the_schema_itself_are_reported) {
  const auto fault = [](std::string_view text) { return schema_fault(json::parse(text)); };
  EXPECT_EQ(fault(sample), "");
  EXPECT_EQ(fault("[]"), "the top level: must be an object");
  EXPECT_EQ(fault(R"({"properties":{"a":{"type":"text"}}})"), "a: \"type\" names no known type");
  EXPECT_EQ(fault(R"({"properties":{"a":{"type":["string",1]}}})"), "a: \"type\" names no known type");
  EXPECT_EQ(fault(R"({"properties":{"a":{"properties":{"b":{"pattern":"("}}}}})"),
            "a.b: \"pattern\" is not a valid regular expression");
  const auto form = "the top level: \"form\" must be a string that describes \"pattern\"";
  EXPECT_EQ(fault(R"({"pattern":"a","form":1})"), form);
  EXPECT_EQ(fault(R"({"form":"a"})"), form);
  EXPECT_EQ(fault(R"({"pattern":"a","form":"an a"})"), "");
  EXPECT_EQ(fault(R"({"properties":{"a":{"minimum":"1"}}})"), "a: \"minimum\" must be a number");
  EXPECT_EQ(fault(R"({"properties":{"a":{"items":3}}})"), "a[]: must be an object");
  EXPECT_EQ(fault(R"({"additionalProperties":"x"})"), ".*: must be an object");
}

TEST(schema, limit_annotations_are_validated) {
  const auto fault = [](const std::string& limit) {
    return schema_fault(
        json::parse(R"({"type":"object","properties":{"n":{"type":"integer","limit":)" + limit + "}}}"));
  };
  EXPECT_EQ(
      fault(
          R"({"resource":"Threads","per":"account","answer":"403 `threads.limit`","metric":"m","alert":"A","default":"free 1"})"),
      "");
  EXPECT_EQ(fault("7"), "n: \"limit\" must be an object");
  EXPECT_EQ(fault(R"({"resource":"Threads","per":"account"})"), "n: \"limit\" needs \"answer\"");
  EXPECT_EQ(fault(R"({"resource":"","per":"account","answer":"403"})"), "n: \"limit.resource\" must be a string");
  EXPECT_EQ(fault(R"({"resource":"Threads","per":"account","answer":"403","metrics":"m"})"),
            "n: \"limit\" has the unknown member \"metrics\"");
}

TEST(nearest, finds_the_nearest_name) {
  EXPECT_EQ(nearest("lsiten", {"listen", "level"}), "listen");
  EXPECT_EQ(nearest("Listen", {"listen"}), "listen");
  EXPECT_EQ(nearest("listenn", {"listen"}), "listen");
  EXPECT_EQ(nearest("xyz", {"listen"}), "");
  EXPECT_EQ(nearest("a", {"b"}), "") << "a one-letter name has no similar name";
  EXPECT_EQ(nearest(std::string(1000, 'a'), {"listen"}), "");
}

}  // namespace
}  // namespace ry::app::config
