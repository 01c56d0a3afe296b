// Parses the neutral form of a request (ry/ext/llm_provider.h) for the drivers.
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
#include "json/members.hpp"

namespace llm {

// The message names the invalid member.
class bad_request : public std::exception {
 public:
  explicit bad_request(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// A part of a request that was skipped or changed to meet the provider's limits; reported to the sink's on_notice.
struct notice {
  std::string_view code;  // "tool_skipped", "image_skipped" or "parameter_skipped"
  std::string message;  // names the part
};

// Parses and checks the outer structure: an object with `model` and an array `messages` of objects with a known role.
boost::json::object parse_request(std::string_view json);

using module_json::array_at;
using module_json::flag_at;
using module_json::object_at;
using module_json::text_at;
using unicode::is_blank;

// The text of a message's content: a string, or the text parts of an array joined by newlines.
std::string content_text(const boost::json::object& message);
// The image parts of a content array.
std::vector<const boost::json::object*> content_images(const boost::json::object& message);

}  // namespace llm
