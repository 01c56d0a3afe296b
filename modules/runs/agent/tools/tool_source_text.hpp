// Parses the tool lists and call results of agent.tools/1 sources. Pure.
#pragma once
#include <boost/json/object.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/tool_files.hpp"
#include "agent/tools/tool_instructions.hpp"
#include "run/conversation.hpp"

namespace runs {

inline constexpr std::size_t max_result_bytes = 48 * 1024;  // of one result, for the model

// The tools of an agent.tools/1 source.
struct tool_listing {
  struct tool {
    std::string name, source;
    bool repeatable = false, own_time_limit = false;
    boost::json::object for_model;  // name, description, parameters
  };
  std::vector<tool> tools;
  std::vector<tool_instructions> instructions;  // one text per source
  std::vector<std::string> skipped;  // names, or "#2" without one: unreadable, or nested too deeply for a request
};
// Parses the text from `list`; nullopt if it is not an array.
std::optional<tool_listing> read_listing(std::string_view text);
// Parses the result_json of agent.tools/1. Sets `files` to the parts that may have to be stored, including a text that
// is too long for the model.
tool_outcome read_result(std::string_view text, std::vector<result_file>* files = nullptr);
// Parses the requests of an open call; nullptr: they are malformed.
std::shared_ptr<const requested_input> read_open_requests(std::string_view text);

}  // namespace runs
