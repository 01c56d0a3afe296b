#include "context_length.hpp"

#include <gtest/gtest.h>

namespace {

TEST(context_length, is_recognised_in_the_messages_of_all_providers) {
  for (
      const char* error_message :
      {"Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 12000. The input or output tokens must be "
       "reduced in order to run successfully.",
       "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
       "prompt is too long: 210000 tokens > 200000 maximum",
       "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
       "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
       "Context size has been exceeded.",
       "the request exceeds the available context size, try increasing it",
       "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
       "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
       "Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576, but got a string "
       "with length 1500000 instead.",
       "Requested input length 9000 exceeds maximum input length 8192",
       "Requested generation length 1 is not possible! The provided prompt is 9000 tokens long, but the maximum supported "
       "sequence length is just 8192!",
       "length of prompt_tokens (9000) must be less than max_seq_len (8192).",
       "Prompt length 9000 is greater than max_seq_len 8192",
       "too many tokens: size limit exceeded by 200 tokens.",
       "Total tokens of image and text exceed max message tokens",
       "Input length 9000 exceeds maximum allowed token size 8192",
       "litellm.ContextWindowExceededError: the request failed",
       "Prompt \u8d85\u957f",
       "Input is too long for requested model.",
       "Please reduce the length of the messages or completion."}) {
    EXPECT_TRUE(llm::says_context_too_long(error_message)) << error_message;
  }
}

TEST(context_length, rate_limits_and_quotas_that_count_tokens_are_not_recognised) {
  for (const char* error_message :
       {"Request too large for model on tokens per minute (TPM): Limit 30000, Requested 31000. Please try again later.",
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 2s.",
        "You exceeded your current quota, please check your plan.", "max_tokens must be at least 1", "",
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but "
        "got a string with length 60 instead.",
        "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
        "max_tokens is too large: 99999. This model supports at most 16384 completion tokens",
        "The server is overloaded", "Invalid value for 'temperature'"}) {
    EXPECT_FALSE(llm::says_context_too_long(error_message)) << error_message;
  }
}

TEST(context_length, is_recognised_by_error_codes) {
  EXPECT_TRUE(llm::names_context_too_long("context_length_exceeded"));
  EXPECT_TRUE(llm::names_context_too_long("REQUEST_TOO_LARGE"));
  EXPECT_FALSE(llm::names_context_too_long("rate_limit_exceeded"));
  EXPECT_FALSE(llm::names_context_too_long(""));
}

}  // namespace
