#include "history.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "test_images.hpp"

namespace {

namespace json = boost::json;
using llm::test::png;

struct read {
  json::object request;
  std::vector<llm::notice> notices;
  std::vector<llm::turn> turns;

  explicit read(std::string messages, llm::history_rules rules = {}, std::string tools = "[]") {
    request = json::parse(R"({"model":"m","tools":)" + tools + R"(,"messages":)" + messages + "}").as_object();
    llm::tool_set set(request, {}, notices);
    turns = llm::read_history(request, rules, set, notices);
  }
  // "u:text[images]" and "a:text(id=result ...)"
  std::string summary() const {
    std::string out;
    for (const auto& t : turns) {
      out += out.empty() ? "" : " ";
      out += t.role == llm::turn::speaker::user ? "u:" : "a:";
      out += t.text;
      if (!t.images.empty()) out += "[" + std::to_string(t.images.size()) + "]";
      for (const auto& c : t.calls) {
        out += "(" + c.id + "=" + (c.result.failed ? "!" : "") + c.result.text;
        if (!c.result.images.empty()) out += "[" + std::to_string(c.result.images.size()) + "]";
        out += ")";
      }
    }
    return out;
  }
};

std::string image_json(const std::string& bytes, std::string_view type = "image/png") {
  return json::serialize(json::object{{"type", "image"}, {"media_type", type}, {"data", llm::encode_base64(bytes)}});
}

TEST(history, turns_are_put_into_a_valid_order) {
  const struct {
    const char* what;
    const char* messages;
    const char* expected;
  } rows[] = {
      {"plain", R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}])",
       "u:a a:b u:c"},
      {"begins with the assistant", R"([{"role":"assistant","content":"b"},{"role":"user","content":"c"}])",
       "u:(The conversation began earlier.) a:b u:c"},
      {"ends with the assistant", R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])",
       "u:a a:b u:Continue."},
      {"two answers",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}])",
       "u:a a:b u:Continue. a:c u:d"},
      {"two questions", R"([{"role":"user","content":"a"},{"role":"user","content":"b"}])", "u:a u:b"},
      {"blank messages",
       R"([{"role":"user","content":" \n"},{"role":"assistant","content":"\u200b"},{"role":"user","content":"a"},{"role":"assistant","content":"\n\n"}])",
       "u:a"},
      {"nothing at all", R"([{"role":"user","content":" "}])", "u:Continue."},
      {"only reasoning",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"","reasoning":[{"driver":"x"}]},{"role":"user","content":"b"}])",
       "u:a u:b"},
      {"blank before a call",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"\n","tool_calls":[{"id":"i","name":"f","arguments":{}}]},{"role":"tool","tool_call_id":"i","content":"r"}])",
       "u:a a:(i=r)"},
      {"results in another order and late",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"i","name":"f"},{"id":"j","name":"f"}]},{"role":"tool","tool_call_id":"j","content":"2"},{"role":"user","content":"b"},{"role":"tool","tool_call_id":"i","content":"1","is_error":true}])",
       "u:a a:(i=!1)(j=2) u:b"},
      {"a call without a result",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"i","name":"f"}]},{"role":"user","content":"b"}])",
       "u:a a:(i=!The call was interrupted and has no result.) u:b"},
      {"empty results",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"i","name":"f"},{"id":"j","name":"f"}]},{"role":"tool","tool_call_id":"i","content":"","is_error":true},{"role":"tool","tool_call_id":"j","content":" \n"}])",
       "u:a a:(i=!(no output))(j=(no output))"},
      {"a result without its call",
       R"([{"role":"user","content":"a"},{"role":"tool","tool_call_id":"k","name":"f","content":"r"}])",
       "u:a u:[A result of the tool f without its call]\nr"},
      {"two results of one call",
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"i","name":"f"}]},{"role":"tool","tool_call_id":"i","name":"f","content":"r"},{"role":"tool","tool_call_id":"i","name":"f","content":"s"}])",
       "u:a a:(i=r) u:[A result of the tool f without its call]\ns"}};
  for (const auto& r : rows) EXPECT_EQ(read(r.messages).summary(), r.expected) << r.what;
}

TEST(history, the_same_id_in_two_answers_means_two_calls) {
  const read r(R"([{"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"x","name":"f"}]},{"role":"tool","tool_call_id":"x","content":"1"},
    {"role":"assistant","content":"","tool_calls":[{"id":"x","name":"f"}]},{"role":"tool","tool_call_id":"x","content":"2"}])");
  ASSERT_EQ(r.turns.size(), 3u);
  EXPECT_EQ(r.turns[1].calls[0].id, "x");
  EXPECT_EQ(r.turns[1].calls[0].result.text, "1");
  EXPECT_NE(r.turns[2].calls[0].id, "x");
  EXPECT_EQ(r.turns[2].calls[0].result.text, "2");
  EXPECT_EQ(r.turns[2].calls[0].stored_id, "x");
}

TEST(history, arguments_are_objects_with_the_property_names_of_the_provider) {
  const read r(R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[
    {"id":"1","name":"find","arguments":{"a[b]":1}},{"id":"2","name":"find","arguments":"{\"a[b]\":2}"},
    {"id":"3","name":"find","arguments":"broken"},{"id":"4","name":"find","arguments":[1]},{"id":"5","name":"find"}]}])",
               {}, R"([{"name":"find","parameters":{"properties":{"a[b]":{}}}}])");
  std::string all;
  for (const auto& c : r.turns[1].calls) all += json::serialize(c.arguments);
  EXPECT_EQ(all, R"({"a_b":1}{"a_b":2}{}{}{})");
}

TEST(history, an_image_is_sent_with_its_detected_type) {
  const read r(R"([{"role":"user","content":[{"type":"text","text":"see"},)" + image_json(llm::test::jpeg(4, 4)) +
               "]}]");
  ASSERT_EQ(r.summary(), "u:see[1]");
  EXPECT_EQ(r.turns[0].images[0].media_type, "image/jpeg");
  EXPECT_TRUE(r.notices.empty());
}

TEST(history, an_unusable_image_is_replaced_with_a_text) {
  llm::history_rules rules;
  rules.images.side = 8000;
  const std::string call = R"({"role":"assistant","content":"","tool_calls":[{"id":"i","name":"f"}]})";
  const read r(R"([{"role":"user","content":"a"},)" + call + R"(,{"role":"tool","tool_call_id":"i","content":[)" +
                   image_json("<svg/>", "image/svg+xml") + "," + image_json(png(9000, 20)) + "," +
                   image_json(png(5, 5)) + "]}]",
               rules);
  EXPECT_EQ(r.summary(),
            "u:a a:(i=[An image was omitted: it is not a PNG, JPEG, GIF or WebP image.]\n"
            "[An image was omitted: it has 9000 x 20 pixels, above the limit of 8000 pixels for a side.][1])");
  ASSERT_EQ(r.notices.size(), 2u);
  EXPECT_EQ(r.notices[0].code, "image_skipped");
}

TEST(history, only_new_images_are_reported) {
  const std::string bad = R"({"role":"user","content":[)" + image_json("<svg/>") + "]}";
  EXPECT_EQ(read("[" + bad + "]").notices.size(), 1u);
  EXPECT_EQ(read("[" + bad + R"(,{"role":"assistant","content":"seen"},{"role":"user","content":"b"}])").notices.size(),
            0u);
}

TEST(history, limits_for_requests_with_many_images_apply) {
  llm::history_rules rules;
  rules.images.many = 3;
  rules.images.side_of_many = 2000;
  const auto with = [&](int large, int small) {
    std::string messages = R"([{"role":"user","content":[{"type":"text","text":"x"})";
    for (int i = 0; i < large; ++i) messages += "," + image_json(png(2001, 1));
    for (int i = 0; i < small; ++i) messages += "," + image_json(png(2000, 1));
    return read(messages + "]}]", rules).turns[0].images.size();
  };
  EXPECT_EQ(with(3, 0), 3u);
  EXPECT_EQ(with(2, 2), 2u);
  EXPECT_EQ(with(0, 9), 9u);
  rules.images.count = 4;
  EXPECT_EQ(with(0, 9), 4u);
  rules.images.count = 0;
  rules.images.total_encoded_bytes = 2 * llm::encode_base64(png(2000, 1)).size();
  EXPECT_EQ(with(0, 9), 2u);
}

TEST(history, the_latest_images_are_kept) {
  llm::history_rules rules;
  rules.images.count = 1;
  const auto message = [](std::uint32_t width) {
    return R"({"role":"user","content":[{"type":"text","text":"x"},)" + image_json(png(width, 1)) + "]}";
  };
  const read r("[" + message(10) + R"(,{"role":"assistant","content":"y"},)" + message(20) + "]", rules);
  EXPECT_EQ(r.summary(),
            "u:x\n[An image was omitted: it exceeds the limits for the images of one request.] a:y u:x[1]");
}

TEST(history, a_call_that_is_not_an_object_is_rejected) {
  EXPECT_THROW(read(R"([{"role":"assistant","tool_calls":[1]}])"), llm::bad_request);
}

}  // namespace
