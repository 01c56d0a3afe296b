// The neutral request as a request of the chat completions API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace openai {

struct request_options {
  std::string max_tokens_field = "max_tokens";  // newer models of OpenAI want max_completion_tokens
  bool stream_usage = true;                     // ask for the usage chunk
  boost::json::object extra_body;               // members added to every request
};

// Throws llm::bad_request.
std::string build_request(std::string_view neutral_json, const request_options& options);

}  // namespace openai
