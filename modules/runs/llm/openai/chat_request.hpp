// The neutral request as a request of the chat completions API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace openai {

struct request_options {
  std::string max_tokens_field = "max_tokens";  // newer models of OpenAI want max_completion_tokens
  bool stream_usage = true;                     // ask for the usage chunk
  bool send_reasoning = false;                  // back to the model that gave it, in the turn it belongs to
  boost::json::object extra_body;               // members added to every request
};

// `request` as llm::parse_request() gave it. Throws llm::bad_request.
std::string build_request(const boost::json::object& request, const request_options& options);

}  // namespace openai
