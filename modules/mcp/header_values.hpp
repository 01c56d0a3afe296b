// The headers with which the modern revision mirrors parts of a request. Without I/O.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc.hpp"

namespace mcp {

// A value as it may stand in a header: as it is, or as =?base64?...?= where it holds more than visible
// ASCII, begins or ends with a blank, or looks like the encoded form.
std::string header_value(std::string_view text);

// An argument of a tool that is mirrored: `path` leads through `properties` of the input schema.
struct mirrored_argument {
  std::string header;  // "Mcp-Param-Region"
  std::vector<std::string> path;
};

// The x-mcp-header annotations of an input schema. `problem` is empty, or says why the tool must not
// be used (a bad name, a name used twice, a place or a type where it is not allowed).
struct header_scan {
  std::vector<mirrored_argument> mirrored;
  std::string problem;
};
header_scan scan_headers(const json::value& input_schema);

// Null and absent arguments are left out.
std::vector<std::pair<std::string, std::string>> mirror_arguments(
    const std::vector<mirrored_argument>& mirrored, const json::object& arguments);

}  // namespace mcp
