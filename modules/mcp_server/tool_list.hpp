// The tools that a client sees: one per agent, get_run and stop_run; and the arguments of their calls. Pure.
#pragma once

#include <string>
#include <vector>

#include "revision.hpp"

namespace mcp_server {

inline constexpr std::string_view get_run_tool = "get_run";
inline constexpr std::string_view stop_run_tool = "stop_run";

struct agent_info {
  std::string id, name, description;
};
struct agent_tool {
  std::string name;  // unique, [A-Za-z0-9_-], at most 56 characters
  agent_info agent;
};

// Names tools in the order of the agents. An agent whose name is already used gets a suffix from its id, so the names of
// earlier agents do not change when later ones are added.
std::vector<agent_tool> name_tools(std::vector<agent_info> agents);

// The members of a response to tools/list without caching hints.
json::object tool_list(const std::vector<agent_tool>& agents, revision rev);

// Arguments that do not match the input schema. The message names the argument; the client's model may correct it.
class argument_error : public std::exception {
 public:
  explicit argument_error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

struct call_file {
  std::string name, media_type, content;
};
struct agent_arguments {
  std::string prompt;
  std::string thread_id;  // empty: a new thread
  std::vector<call_file> files{};
};
// Both throw argument_error.
agent_arguments read_agent_arguments(const json::object& arguments);
std::string read_run_id(const json::object& arguments);

}  // namespace mcp_server
