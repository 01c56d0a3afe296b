// Headers in which requests of the modern revision mirror parts of their body. Without I/O.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc.hpp"

namespace mcp {

// Encodes a value for a header: unchanged, or as =?base64?...?= if it contains anything but printable ASCII, starts or
// ends with a space, or looks like the encoded form.
std::string header_value(std::string_view text);

// A tool argument that is mirrored in a header: `path` leads through `properties` of the input schema.
struct mirrored_argument {
  std::string header;  // "Mcp-Param-Region"
  std::vector<std::string> path;
};

// The x-mcp-header annotations of an input schema. `problem` is empty, or the reason why the tool must not be used: an
// invalid or duplicate name, or an annotation at a position or of a type that is not allowed.
struct header_scan {
  std::vector<mirrored_argument> mirrored;
  std::string problem;
};
header_scan scan_headers(const json::value& input_schema);

// Null and missing arguments are omitted.
std::vector<std::pair<std::string, std::string>> mirror_arguments(const std::vector<mirrored_argument>& mirrored,
                                                                  const json::object& arguments);

}  // namespace mcp
