// Events and ends of runs, as runs/1 delivers them. Pure.
#pragma once
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace openai_api {

namespace json = boost::json;

struct token_usage {
  std::int64_t input = 0, output = 0, cached = 0, cache_write = 0;
  void add(const json::object& usage);
};

// How a run ended, in the terms of the API.
enum class run_end { completed, tool_calls, length, content_filter, failed, cancelled };
struct run_result {
  run_end end = run_end::completed;
  std::string code{}, message{};  // failed
  std::string output{};  // JSON text of a completed run whose start had a schema
};
// `event`: the terminal event. `only_output`: the start had a schema, so a completed run must have an output.
run_result result_of(const json::object& event, bool only_output);
// Whether a `status` event is the terminal one.
bool is_terminal(const json::object& event);

// An object; empty if the text is not one.
json::object parse_object(std::string_view text);

// The run waits for an approval, and the request has no way to ask the client for it.
constexpr std::string_view approval_required_code = "approval_required";
constexpr std::string_view approval_required_text =
    "The agent called a tool that needs an approval, and no decision was made in time. Only POST /v1/responses without "
    "store=false can ask the client for approvals.";

// Source of a tool as server_label: the name of an MCP server, or "sandbox".
std::string server_label(std::string_view source);
constexpr std::string_view client_source = "client";

}  // namespace openai_api
