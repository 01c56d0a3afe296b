// Parses provider errors, in the body of an error response or within a stream that began with HTTP 200. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "answer.hpp"

namespace llm {

// The failure in an event or a document of an HTTP 200 response; nullopt: none. Recognised forms: "error" with an
// object or a text, {"object":"error"}, {"type":"error"}, "error_type" and "error_message", "errors", "base_resp"
// (MiniMax), "x_groq", and "message" or "detail" instead of an answer.
std::optional<failure> error_in(const boost::json::object& event);

// The failure that an error object describes. http_status 0: it arrived within a stream.
failure failure_of(const boost::json::object& body, unsigned http_status);

// For the body of an HTTP error response, or the data of an `event: error` (http_status 0).
failure failure_of_body(std::string_view body, unsigned http_status);

// For event data that should be an object but is not. The text may report that the conversation is too long;
// otherwise the failure is a protocol error with `message`.
failure failure_of_malformed_event(std::string_view data, std::string_view message);

}  // namespace llm
