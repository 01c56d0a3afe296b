// The neutral request as a request of the messages API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace anthropic {

enum class sampling { send, leave_out };

struct request_options {
  std::int64_t max_tokens = 8192;  // when the request names none: the API insists on a limit
  // API versions from 2026-10-21 on refuse every request that names a temperature.
  sampling temperature = sampling::leave_out;
  boost::json::object extra_body;  // members added to every request
};

// Thinking blocks go back to the model they came from, when thinking is switched on (extra_body). A
// turn in progress that began without thinking goes on without it, as the API insists.
// `request` as llm::parse_request() gave it. Throws llm::bad_request.
std::string build_request(const boost::json::object& request, const request_options& options);

}  // namespace anthropic
