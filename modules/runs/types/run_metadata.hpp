// The metadata of a run: texts by key, chosen by the client. Also the filters of lists by metadata. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runs {

// Reads a JSON object of strings and sets `out` to it; out is empty if the object is. Returns an error message that begins
// with `metadata`, or an empty string.
std::string read_metadata(std::string_view json, std::string& out);

// The key of a filter from the name of its query parameter, `metadata[KEY]`; nullopt: another parameter.
std::optional<std::string> metadata_filter_key(std::string_view parameter);

struct metadata_filter {
  std::optional<std::string> json;  // an object that the metadata of a run must contain; nullopt: no filter
  std::string error;  // of an invalid filter; begins with the name of the parameter
};
// The filters among decoded query parameters. A run must match all of them.
metadata_filter read_metadata_filter(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace runs
