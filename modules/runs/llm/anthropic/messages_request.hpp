// The neutral request as a request of the messages API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"
#include "request.hpp"
#include "tool_set.hpp"

namespace anthropic {

enum class sampling { send, leave_out };

struct request_options {
  std::int64_t max_tokens = 8192;  // when the request names none: the API insists on a limit
  // API versions from 2026-10-21 on refuse every request that names a temperature or top_p.
  sampling temperature = sampling::leave_out;
  bool prompt_cache = true;        // mark tools, system prompt and messages for the provider's cache
  boost::json::object extra_body;  // members added to every request
};

struct built_request {
  std::string body;
  std::vector<llm::notice> notices;               // what was left out
  std::shared_ptr<const llm::call_names> names;  // nullptr: nothing was renamed
};

// Ids and images as the API takes them.
llm::history_rules history_rules();

// How a model is told to think longer or shorter.
enum class thinking_control { none, budget, adaptive };
thinking_control control_of(std::string_view model, sampling version);

// Thinking blocks go back to the model they came from, when thinking is switched on (reasoning_effort or extra_body). A
// turn in progress that began without thinking goes on without it, as the API insists.
// `request` as llm::parse_request() gave it. Throws llm::bad_request.
built_request build_request(const boost::json::object& request, const request_options& options);

}  // namespace anthropic
