#include "types/question.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace runs {
namespace {

namespace json = boost::json;

std::string form_of(std::string_view schema, std::string& out) {
  return read_form("form", json::parse(schema), out);
}

std::string with_field(const std::string& field) {
  return R"({"type":"object","properties":{"x":)" + field + R"(},"required":["x","unknown"]})";
}

// The problem of an answer to a form with the field x.
std::string answer(const std::string& field, const std::string& content) {
  std::string schema;
  EXPECT_EQ(form_of(with_field(field), schema), "") << field;
  return check_answer(schema, json::parse(content));
}

TEST(question_form, keeps_what_clients_need_and_drops_the_rest) {
  std::string out;
  ASSERT_EQ(form_of(R"({"$schema":"s","type":"object","title":"t","properties":{
      "name":{"type":"string","title":"A\u0007\u202eB","minLength":2,"maxLength":3,"format":"email","pattern":"x","default":"toolong"},
      "size":{"type":"integer","minimum":1,"maximum":9,"default":5},
      "color":{"type":"string","oneOf":[{"const":"#f00","title":"Red","x":1}]},
      "old":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},
      "many":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"u","title":"U"},{"const":"v"}]},"default":["u"]},
      "ok":{"type":"boolean","default":true}},
      "required":["name","nothing"],"additionalProperties":true})",
                    out),
            "");
  EXPECT_EQ(
      out,
      R"({"type":"object","properties":{"name":{"type":"string","title":"AB","minLength":2,"maxLength":3,"format":"email"},)"
      R"("size":{"type":"integer","minimum":1,"maximum":9,"default":5},)"
      R"("color":{"type":"string","oneOf":[{"const":"#f00","title":"Red"}]},)"
      R"("old":{"type":"string","enumNames":["A","B"],"enum":["a","b"]},)"
      R"("many":{"type":"array","items":{"anyOf":[{"const":"u","title":"U"},{"const":"v"}]},"minItems":1,"maxItems":2,"default":["u"]},)"
      R"("ok":{"type":"boolean","default":true}},"required":["name"]})");
}

TEST(question_form, refuses_what_is_not_flat) {
  std::string out;
  for (const char* schema : {"1", "{}", R"({"type":"object"})", R"({"type":"array","properties":{}})"})
    EXPECT_EQ(form_of(schema, out), "form must be a JSON Schema of the type object with properties") << schema;
  EXPECT_EQ(form_of(R"({"type":"object","properties":{"x":1}})", out), "form.properties.x must be an object");
  for (const char* field :
       {R"({"type":"object","properties":{}})", R"({"$ref":"#"})", R"({"type":"null"})", R"({"type":["string"]})"})
    EXPECT_EQ(form_of(with_field(field), out),
              "form.properties.x.type must be string, number, integer, boolean, or array with choices")
        << field;
  for (const char* field : {R"({"type":"array"})", R"({"type":"array","items":{"type":"string"}})"})
    EXPECT_EQ(form_of(with_field(field), out), "form.properties.x.items must have choices") << field;
  EXPECT_EQ(form_of(with_field(R"({"type":"string","enum":["a\u0007"]})"), out),
            "form.properties.x has a choice that is not a text of at most 500 bytes");
  EXPECT_EQ(form_of(with_field(R"({"type":"string","enum":[]})"), out), "form.properties.x must have 1 to 200 choices");
  EXPECT_EQ(form_of(R"({"type":"object","properties":{"a\u202eb":{"type":"string"}}})", out),
            "form.properties has a name that is not a text of at most 100 bytes");
}

TEST(question_form, limits_sizes) {
  std::string out;
  json::object fields;
  for (int i = 0; i < 51; ++i) fields["f" + std::to_string(i)] = json::object{{"type", "string"}};
  EXPECT_EQ(read_form("form", json::object{{"type", "object"}, {"properties", fields}}, out),
            "form.properties must have at most 50 fields");
  fields.clear();
  json::array choices;
  for (int i = 0; i < 150; ++i) choices.push_back(json::value(std::string(490, 'c') + std::to_string(i)));
  fields["x"] = json::object{{"type", "string"}, {"enum", choices}};
  EXPECT_EQ(read_form("form", json::object{{"type", "object"}, {"properties", fields}}, out),
            "form must have at most 64.0 KB");
  ASSERT_EQ(form_of(with_field(R"({"type":"string","description":")" + std::string(1 << 20, 'd') + "\"}"), out), "");
  EXPECT_LT(out.size(), 1200u);
}

TEST(question_form, refuses_secrets) {
  std::string out;
  for (const char* name :
       {"password", "Your Pass-Word", "api_key", "OpenAI API key", "token", "PIN", "cvv", "credit card number"}) {
    const json::object field{{"type", "string"}};
    const json::object schema{{"type", "object"}, {"properties", json::object{{name, field}}}};
    EXPECT_EQ(read_form("form", schema, out), "form.properties." + std::string(name) + " asks for a secret") << name;
  }
  EXPECT_EQ(form_of(with_field(R"({"type":"string","title":"Password"})"), out), "form.properties.x asks for a secret");
  EXPECT_EQ(form_of(with_field(R"({"type":"string","format":"password"})"), out),
            "form.properties.x asks for a secret");
  EXPECT_EQ(
      form_of(R"({"type":"object","properties":{"tokens_used":{"type":"integer"},"pinned":{"type":"boolean"}}})", out),
      "");
}

TEST(question_answer, is_checked_against_the_form) {
  const std::string text = R"({"type":"string","minLength":2,"maxLength":3})";
  EXPECT_EQ(answer(text, R"({"x":"ab"})"), "");
  EXPECT_EQ(answer(text, R"({"x":"äöü"})"), "");
  EXPECT_EQ(answer(text, R"({"x":"a"})"), "content.x must have at least 2 characters");
  EXPECT_EQ(answer(text, R"({"x":"abcd"})"), "content.x must have at most 3 characters");
  EXPECT_EQ(answer(text, R"({"x":1})"), "content.x must be a string");
  EXPECT_EQ(answer(text, R"({"x":null})"), "content.x must be a string");
  EXPECT_EQ(answer(text, R"({})"), "content.x is required");
  EXPECT_EQ(answer(text, R"([])"), "content must be an object");
  EXPECT_EQ(answer(text, R"({"x":"ab","y":1})"), "content has an unknown member \"y\"");
  EXPECT_EQ(answer(R"({"type":"integer","minimum":1,"maximum":3})", R"({"x":2})"), "");
  EXPECT_EQ(answer(R"({"type":"integer"})", R"({"x":2.0})"), "");
  EXPECT_EQ(answer(R"({"type":"integer"})", R"({"x":2.5})"), "content.x must be an integer");
  EXPECT_EQ(answer(R"({"type":"number"})", R"({"x":"2"})"), "content.x must be a number");
  EXPECT_EQ(answer(R"({"type":"integer","minimum":1,"maximum":3})", R"({"x":0})"), "content.x must be at least 1");
  EXPECT_EQ(answer(R"({"type":"integer","minimum":1,"maximum":3})", R"({"x":4})"), "content.x must be at most 3");
  EXPECT_EQ(answer(R"({"type":"boolean"})", R"({"x":"true"})"), "content.x must be true or false");
  EXPECT_EQ(answer(R"({"type":"string","enum":["a","b"]})", R"({"x":"c"})"), "content.x must be one of the choices");
  const std::string list = R"({"type":"array","minItems":1,"maxItems":1,"items":{"type":"string","enum":["a","b"]}})";
  EXPECT_EQ(answer(list, R"({"x":["b"]})"), "");
  EXPECT_EQ(answer(list, R"({"x":[]})"), "content.x must have at least 1 choices");
  EXPECT_EQ(answer(list, R"({"x":["a","b"]})"), "content.x must have at most 1 choices");
  EXPECT_EQ(answer(list, R"({"x":["a","a"]})"), "content.x[1] is given more than once");
  EXPECT_EQ(answer(list, R"({"x":["c"]})"), "content.x[0] must be one of the choices");
  EXPECT_EQ(answer(list, R"({"x":"a"})"), "content.x must be an array of choices");
}

TEST(question_answer, has_the_format_of_its_field) {
  const struct {
    const char* format;
    const char* good;
    const char* bad;
  } cases[] = {{"email", "a@b.example", "a b@c"},
               {"email", "a@b", "@b"},
               {"uri", "https://a.example/", "a"},
               {"date", "2026-11-28", "2026-13-01"},
               {"date", "2026-01-31", "26-1-1"},
               {"date-time", "2026-11-28T10:00:00Z", "2026-11-28"},
               {"date-time", "2026-11-28t10:00:00.5+01:00", "2026-11-28T25:00:00Z"}};
  for (const auto& c : cases) {
    const std::string field = R"({"type":"string","format":")" + std::string(c.format) + "\"}";
    EXPECT_EQ(answer(field, json::serialize(json::object{{"x", c.good}})), "") << c.good;
    EXPECT_EQ(answer(field, json::serialize(json::object{{"x", c.bad}})),
              "content.x must be of the format " + std::string(c.format))
        << c.bad;
  }
}

TEST(question_url, is_https_with_a_plain_host) {
  question q;
  EXPECT_EQ(read_url("url", "https://Example.ORG:8443/a?b#c", q), "");
  EXPECT_EQ(q.url, "https://Example.ORG:8443/a?b#c");
  EXPECT_EQ(q.host, "example.org");
  EXPECT_EQ(read_url("url", "https://[::1]/", q), "");
  EXPECT_EQ(q.host, "[::1]");
  for (const char* url : {"http://a.example/", "javascript:alert(1)", "https:/a", "", "https://a.example/ b",
                          "https://a.example\\@b/", "https://\xC3\xA4.example/"})
    EXPECT_EQ(read_url("url", url, q), "url must be an https URL without spaces and other special characters") << url;
  EXPECT_EQ(read_url("url", "https://bank.example@evil.example/", q), "url must not contain credentials");
  EXPECT_EQ(read_url("url", "https:///path", q), "url must have a host");
  EXPECT_EQ(read_url("url", "https://a%2e/", q), "url must have a host");
  for (const char* url : {"https://[a]evil.example/", "https://[::1", "https://[]/", "https://[::1%25eth0]/"})
    EXPECT_NE(read_url("url", url, q), "") << url;
  EXPECT_EQ(read_url("url", "https://[::1]evil.example/", q), "url must have a number as its port");
  EXPECT_EQ(read_url("url", "https://a:b/", q), "url must have a number as its port");
  EXPECT_EQ(read_url("url", "https://a/" + std::string(2048, 'x'), q), "url must have at most 2048 bytes");
}

TEST(ask_user, has_choices_a_form_or_any_text) {
  const auto ask = [](const char* arguments, question& q) {
    return read_ask_user(json::parse(arguments).as_object(), q);
  };
  question q;
  EXPECT_EQ(ask(R"({"question":"Where?"})", q), "");
  EXPECT_EQ(
      question_json(q),
      R"({"message":"Where?","schema":{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}})");
  EXPECT_EQ(ask(R"({"question":"Which?","choices":["a","b"]})", q), "");
  EXPECT_EQ(q.schema,
            R"({"type":"object","properties":{"answer":{"type":"string","enum":["a","b"]}},"required":["answer"]})");
  EXPECT_EQ(ask(R"({"question":"Fill","form":{"type":"object","properties":{"n":{"type":"integer"}}}})", q), "");
  EXPECT_EQ(q.schema, R"({"type":"object","properties":{"n":{"type":"integer"}}})");
  EXPECT_EQ(ask(R"({"question":" "})", q), "the argument \"question\" is missing");
  EXPECT_EQ(ask(R"({"question":"q","choices":[1]})", q), "choices must be 1 to 200 texts of at most 500 bytes");
  EXPECT_EQ(ask(R"({"question":"q","choices":"a"})", q), "choices must be an array of texts");
  EXPECT_EQ(ask(R"({"question":"q","choices":["a"],"form":{}})", q),
            "the arguments \"choices\" and \"form\" cannot be used together");
}

TEST(input_request, is_a_form_or_a_url) {
  const auto read = [](const std::string& request, question& q) {
    return read_input_request(json::parse(request).as_object(), q);
  };
  question q;
  EXPECT_EQ(read(R"({"kind":"form","message":"m\u001b[31m\u202e","schema":{"type":"object","properties":{}}})", q), "");
  EXPECT_EQ(q.kind, "elicitation");
  EXPECT_EQ(q.message, "m[31m");
  EXPECT_EQ(read(R"({"kind":"url","message":"m","url":"https://a.example/x"})", q), "");
  EXPECT_EQ(q.kind, "url");
  EXPECT_EQ(question_json(q), R"({"message":"m","url":"https://a.example/x","host":"a.example"})");
  EXPECT_EQ(read(R"({"kind":"form","schema":{}})", q), "the message is missing");
  EXPECT_EQ(read(R"({"kind":"other","message":"m"})", q), "its kind is unknown");
  EXPECT_EQ(read(R"({"kind":"form","message":")" + std::string(1 << 20, 'm') +
                     R"(","schema":{"type":"object","properties":{}}})",
                 q),
            "");
  EXPECT_LT(q.message.size(), 4200u);
}

}  // namespace
}  // namespace runs
