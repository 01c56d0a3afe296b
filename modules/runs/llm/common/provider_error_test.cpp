#include "provider_error.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace {

std::optional<llm::failure> in_stream(const char* event) {
  return llm::error_in(boost::json::parse(event).as_object());
}

TEST(provider_error, all_forms_of_errors_within_a_stream_are_recognised) {
  const struct {
    const char* event;
    ry_status status;
    const char* message;
  } cases[] = {{R"({"error":{"message":"m","code":429}})", RY_RESOURCE_EXHAUSTED, "m"},
               {R"({"error":{"message":"m","code":"429"}})", RY_RESOURCE_EXHAUSTED, "m"},
               {R"({"error":"m"})", RY_UNAVAILABLE, "m"},
               {R"({"error":true,"message":"m"})", RY_UNAVAILABLE, "m"},
               {R"({"object":"error","message":"m","type":"BadRequestError","code":400})", RY_INVALID_ARGUMENT, "m"},
               {R"({"type":"error","error":{"type":"overloaded_error","message":"m"}})", RY_UNAVAILABLE, "m"},
               {R"({"choices":null,"error_type":"upstream_timeout","error_message":"m"})", RY_DEADLINE_EXCEEDED, "m"},
               {R"({"detail":"m"})", RY_UNAVAILABLE, "m"},
               {R"({"detail":[{"loc":["body"],"msg":"m"}]})", RY_UNAVAILABLE, "m"},
               {R"({"errors":[{"message":"m","code":"rate_limit_exceeded"}]})", RY_RESOURCE_EXHAUSTED, "m"},
               {R"({"base_resp":{"status_code":1002,"status_msg":"m"}})", RY_UNAVAILABLE, "m"},
               {R"({"x_groq":{"error":"m"}})", RY_UNAVAILABLE, "m"},
               {R"({"error":{"message":"m","code":"context_length_exceeded"}})", RY_OUT_OF_RANGE, "m"},
               {R"({"error":{"message":"{\"error\":{\"message\":\"m\",\"type\":\"rate_limit_error\"}}"}})",
                RY_RESOURCE_EXHAUSTED, "m"},
               {R"({"success":false,"message":"m"})", RY_UNAVAILABLE, "m"}};
  for (const auto& c : cases) {
    const auto f = in_stream(c.event);
    ASSERT_TRUE(f) << c.event;
    EXPECT_EQ(f->status, c.status) << c.event;
    EXPECT_EQ(f->message, c.message) << c.event;
  }
}

TEST(provider_error, text_of_an_answer_is_not_an_error) {
  for (const char* event :
       {"{}", R"({"choices":[],"error":null})", R"({"choices":[{"delta":{"content":"error"}}],"error":""})",
        R"({"type":"ping"})", R"({"type":"message_start","message":{"usage":{}}})",
        R"({"base_resp":{"status_code":0}})", R"({"object":"chat.completion.chunk","message":"x","choices":[]})",
        R"({"usage":{"prompt_tokens":1}})",
        R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"error"}})", R"({"errors":[]})"})
    EXPECT_FALSE(in_stream(event)) << event;
}

TEST(provider_error, the_body_of_an_error_response_is_classified_with_its_status) {
  const struct {
    unsigned http;
    const char* body;
    ry_status status;
    const char* reason;
  } cases[] = {
      {400, R"({"error":{"message":"x","code":"content_filter"}})", RY_INVALID_ARGUMENT, "llm.content_filter"},
      {400, R"({"error":{"code":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}})", RY_INVALID_ARGUMENT,
       "llm.content_filter"},
      {400, R"({"error":{"message":"x","type":"insufficient_quota"}})", RY_INVALID_ARGUMENT, nullptr},
      {429, R"({"error":{"message":"pay","code":"insufficient_quota"}})", RY_INVALID_ARGUMENT, nullptr},
      {400, R"({"error":{"message":"x","type":"rate_limit_exceeded"}})", RY_RESOURCE_EXHAUSTED, "llm.rate_limited"},
      {400, R"({"error":{"message":"no such model","code":"model_not_found"}})", RY_NOT_FOUND, "llm.not_found"},
      {500, R"({"error":{"message":"x","type":"invalid_request_error"}})", RY_UNAVAILABLE, "llm.unavailable"},
      {503, R"([{"error":{"message":"busy","status":"UNAVAILABLE"}}])", RY_UNAVAILABLE, "llm.unavailable"},
      {502, "<html>", RY_UNAVAILABLE, "llm.unavailable"},
      {409, R"({"error":{"message":"conflict"}})", RY_UNAVAILABLE, "llm.unavailable"},
      {424, R"({"message":"the model failed"})", RY_UNAVAILABLE, "llm.unavailable"},
      {400, "prompt is too long: 9 tokens > 8 maximum", RY_OUT_OF_RANGE, "llm.context_too_long"}};
  for (const auto& c : cases) {
    const auto f = llm::failure_of_body(c.body, c.http);
    if (c.reason == nullptr) {
      EXPECT_EQ(f.reason, "llm.quota") << c.body;
      continue;
    }
    EXPECT_EQ(f.status, c.status) << c.body;
    EXPECT_EQ(f.reason, c.reason) << c.body;
  }
}

TEST(provider_error, html_and_plain_text_are_not_shown_to_clients) {
  for (const char* body : {"<html>oops</html>", "upstream connect error at 10.0.0.7", ""})
    EXPECT_EQ(llm::failure_of_body(body, 502).message, "the model provider answered HTTP 502") << body;
}

TEST(provider_error, a_providers_message_is_marked_as_quoted_and_clients_get_another_one) {
  for (const auto& [body, status] :
       std::vector<std::pair<const char*, unsigned>>{{R"({"error":{"message":"host 10.0.0.7 is down"}})", 500},
                                                     {R"({"error":{"message":"Incorrect API key sk-1"}})", 401},
                                                     {R"({"error":{"message":"x","code":"insufficient_quota"}})", 429},
                                                     {R"({"detail":"no such field"})", 422},
                                                     {"the context window is full", 400},
                                                     {R"({"error":{"message":"y"}})", 0}}) {
    const auto f = llm::failure_of_body(body, status);
    EXPECT_TRUE(f.quoted) << body;
    EXPECT_TRUE(llm::client_message(f).starts_with("the ")) << body;
    EXPECT_EQ(llm::client_message(f).find(f.message), std::string_view::npos) << body;
  }
  for (const auto& f :
       {llm::failure_of_body("", 502), llm::failure_of_body("<html>", 401), llm::failure_of_body("{\"error\":{}}", 0)})
    EXPECT_FALSE(f.quoted) << f.message;
}

TEST(provider_error, a_text_instead_of_an_object_may_report_that_the_conversation_is_too_long) {
  EXPECT_EQ(llm::failure_of_malformed_event("[ERROR] prompt is too long: 9 tokens > 8 maximum", "m").status,
            RY_OUT_OF_RANGE);
  EXPECT_EQ(llm::failure_of_malformed_event("[ERROR] at 10.0.0.7", "m").status, RY_DATA_LOSS);
  EXPECT_EQ(llm::failure_of_malformed_event("[ERROR] at 10.0.0.7", "m").message, "m");
}

TEST(provider_error, the_retry_delay_of_the_message_is_used) {
  EXPECT_EQ(
      llm::failure_of_body(R"({"error":{"message":"Please try again in 7.66s","code":"rate_limit_exceeded"}})", 429)
          .retry_after_s,
      8u);
}

}  // namespace
