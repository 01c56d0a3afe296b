// Errors as providers write them, in the body of a refusal or within a stream that began with HTTP 200. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "answer.hpp"

namespace llm {

// The failure in an event or a document of a response with HTTP 200; nullopt: it carries none. Forms: "error" with an
// object or a text, {"object":"error"}, {"type":"error"}, "error_type" and "error_message", "errors", "base_resp"
// (MiniMax), "x_groq", and a "message" or "detail" where an answer should be.
std::optional<failure> error_in(const boost::json::object& event);

// What an object that is known to tell an error means. http_status 0: it came within a stream.
failure failure_of(const boost::json::object& body, unsigned http_status);

// The body of a response with an HTTP status that is no success, or the data of an `event: error` (http_status 0).
failure failure_of_body(std::string_view body, unsigned http_status);

// Data of an event that should be an object and is not. A text may say that the conversation is too long; else `message`.
failure failure_of_nonsense(std::string_view data, std::string_view message);

}  // namespace llm
