// The body of POST /v1/chat/completions. Pure.
#pragma once
#include <boost/json/object.hpp>
#include <string>

#include "conversation.hpp"
#include "options.hpp"

namespace openai_api {

struct chat_request {
  run_options options;
  conversation messages;
  bool stream = false, include_usage = false;
};

// Throws a 400 that names the member that is invalid or not supported.
chat_request read_chat_request(const json::object& body);

}  // namespace openai_api
