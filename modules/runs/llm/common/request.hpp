// The neutral form of a request (ry/ext/llm_provider.h), read by the drivers.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/unicode.hpp"

namespace llm {

// Thrown with a sentence that names the member.
class bad_request : public std::exception {
 public:
  explicit bad_request(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// Something of a request that was left out or changed so that the provider takes it: for on_notice of the sink.
struct notice {
  std::string_view code;  // "tool_skipped", "image_skipped" or "parameter_skipped"
  std::string message;    // a sentence that names it
};

// Parses and checks the outer shape: an object with `model` and an array `messages` of objects with
// a known role.
boost::json::object parse_request(std::string_view json);

// A member as text; empty when it is missing or no string.
std::string_view text_at(const boost::json::object& o, std::string_view key);
const boost::json::array* array_at(const boost::json::object& o, std::string_view key);
const boost::json::object* object_at(const boost::json::object& o, std::string_view key);
bool flag_at(const boost::json::object& o, std::string_view key);

using unicode::is_blank;

// The text of a message's content: a string, or the text parts of an array joined by newlines.
std::string content_text(const boost::json::object& message);
// The image parts of a content array.
std::vector<const boost::json::object*> content_images(const boost::json::object& message);

}  // namespace llm
