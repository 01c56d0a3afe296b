#include "reasoning_items.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

namespace {

namespace json = boost::json;

TEST(reasoning_items, items_are_reduced_to_the_members_that_the_api_accepts) {
  const struct {
    const char *given, *kept;
  } rows[] = {
      {R"({"type":"reasoning","id":"rs_1","status":"completed","summary":[{"type":"summary_text","text":"s"}],"content":[],"encrypted_content":"e"})",
       R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"})"},
      {R"({"type":"reasoning","id":"rs_1","encrypted_content":"e"})",
       R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"})"},
      {R"({"type":"reasoning","encrypted_content":"e","summary":null})",
       R"({"type":"reasoning","summary":[],"encrypted_content":"e"})"},
      // Open models return their reasoning as text.
      {R"({"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"t"},{"type":"x"},1]})",
       R"({"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"t"}]})"},
      {R"({"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":"t"}],"encrypted_content":"e"})",
       R"({"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"})"},
      // An item with an id only: with store = false the provider does not keep it.
      {R"({"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":null})",
       "{}"},
      {R"({"type":"reasoning","id":"r","content":"t"})", "{}"},
  };
  for (const auto& r : rows)
    EXPECT_EQ(json::value(openai::replayable_reasoning(json::parse(r.given).as_object())), json::parse(r.kept))
        << r.given;
}

TEST(reasoning_items, rejections_are_remembered_up_to_a_limit) {
  openai::reasoning_refusals refusals;
  const auto one = openai::reasoning_refusals::mark_of(json::parse(R"({"encrypted_content":"one"})").as_object());
  const auto two = openai::reasoning_refusals::mark_of(json::parse(R"({"content":[{"text":"two"}]})").as_object());
  EXPECT_NE(one, two);
  EXPECT_FALSE(refusals.add({}));
  EXPECT_TRUE(refusals.add({one}));
  EXPECT_FALSE(refusals.add({one})) << "it is already omitted, so the rejection has another cause";
  EXPECT_TRUE(refusals.add({one, two}));
  EXPECT_TRUE(refusals.refuses(one) && refusals.refuses(two));
  for (std::size_t n = 0; n < 100'000; ++n) refusals.add({one + two + n});
  EXPECT_FALSE(refusals.refuses(one)) << "old entries are dropped";
  EXPECT_TRUE(refusals.add_model("m"));
  EXPECT_FALSE(refusals.add_model("m"));
  EXPECT_TRUE(refusals.refuses_encryption("m"));
  EXPECT_FALSE(refusals.refuses_encryption("n"));
}

}  // namespace
