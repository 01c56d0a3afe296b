// The parts of a request that both APIs have: model, tools, parameters, output format. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openai_api {

namespace json = boost::json;

using start_fields = std::vector<std::pair<std::string, std::string>>;

// The member "model": a model, or an agent with its own model and tools.
struct model_reference {
  std::string name;  // as in the request; empty: the default model
  bool is_agent = false;
  std::optional<ry::uuid> agent;  // nullopt: the default agent
};
model_reference read_model(const json::object& body);

struct run_options {
  model_reference model;
  start_fields parameters;  // fields of runs/1
  json::array tools;  // of the client, as in runs/1
  std::string output_schema{};  // JSON Schema of the answer; empty: it may be any text
  std::string schema_param{};  // name of its member in the request

  // The fields of a start. `system`: the instructions of the client.
  start_fields fields(std::string system) const;
};

// Tools of the Responses API: {"type":"function","name",...}; of Chat Completions:
// {"type":"function","function":{...}}.
enum class tool_style { responses, chat };
void read_tools(const json::object& body, tool_style style, run_options& to);
// Call it after read_tools().
void read_tool_choice(const json::object& body, run_options& to);

void read_temperature(const json::object& body, run_options& to);
// `path` is the name of the member, or "reasoning.effort".
void read_effort(const json::object& from, std::string_view name, const std::string& path, run_options& to);
// The first of the members that the body has.
void read_output_limit(const json::object& body, const std::vector<std::string_view>& names, run_options& to);

// `format`: {"type": "text" | "json_object"} or {"type": "json_schema", "schema", ...}; `path` names it in messages.
void read_format(const json::object& format, const std::string& path, run_options& to);

// Copies "metadata" after checking it; an empty object if there is none.
json::object read_metadata(const json::object& body);
// Stores it with the run.
void set_metadata(const json::object& metadata, run_options& to);

}  // namespace openai_api
