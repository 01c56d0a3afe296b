#include "tool_list.hpp"

#include <json/members.hpp>

#include <algorithm>
#include <boost/json/array.hpp>
#include <initializer_list>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>
#include <set>

namespace mcp_server {
namespace {

using module_json::text_of;

constexpr std::size_t max_name = 40;
constexpr std::size_t max_description = 1000;
constexpr std::size_t max_files = 20;
constexpr std::size_t max_file_name = 255;

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// Each sequence of other characters becomes one underscore.
std::string sanitized(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_name_character(c)) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
    if (out.size() == max_name) break;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? "agent" : out;
}

// The end of a version 7 UUID is random; its beginning is a timestamp.
std::string id_suffix(std::string_view id) {
  const std::string_view last = id.substr(id.size() - std::min<std::size_t>(id.size(), 12));
  return "_" + std::string(last);
}

json::object property(std::string_view type, std::string_view description) {
  json::object o;
  o["type"] = jv(type);
  o["description"] = jv(description);
  return o;
}

json::array names(std::initializer_list<std::string_view> all) {
  json::array out;
  for (const auto each : all) out.push_back(json::string(jv(each)));
  return out;
}

json::object object_schema(json::object properties, json::array required) {
  json::object o;
  o["type"] = "object";
  o["properties"] = std::move(properties);
  o["required"] = std::move(required);
  o["additionalProperties"] = false;
  return o;
}

json::object files_schema() {
  json::object file;
  file["name"] = property("string", "File name");
  file["media_type"] = property("string", "Media type, such as text/csv");
  file["data"] = property("string", "Content of the file in base64");
  json::object o = property("array", "Files for the agent, at most 20");
  o["items"] = object_schema(std::move(file), names({"name", "data"}));
  o["maxItems"] = max_files;
  return o;
}

json::object agent_input_schema() {
  json::object p;
  p["prompt"] = property("string", "The task or message for the agent");
  p["prompt"].get_object()["minLength"] = 1;
  p["thread_id"] = property("string", "thread_id of an earlier result, to continue that conversation");
  p["files"] = files_schema();
  return object_schema(std::move(p), names({"prompt"}));
}

json::object run_input_schema() {
  json::object p;
  p["run_id"] = property("string", "run_id of an earlier result");
  return object_schema(std::move(p), names({"run_id"}));
}

json::object output_schema() {
  json::object p;
  p["run_id"] = property("string", "Id of the run");
  p["thread_id"] = property("string", "Id of the conversation");
  p["status"] = property("string", "Status of the run");
  p["status"].get_object()["enum"] = names({"running", "completed", "failed", "stopped"});
  p["text"] = property("string", "Final answer of the agent; empty while the run is in progress");
  p["error"] = property("string", "Error message of a failed run");
  p["error_code"] = property("string", "Error code of a failed run");
  p["waiting_for"] = property("array", "Approvals and results of other clients for which the run waits");
  json::object o = object_schema(std::move(p), names({"run_id", "thread_id", "status", "text"}));
  o.erase("additionalProperties");
  return o;
}

json::object tool(std::string_view name, std::string_view title, std::string_view description, json::object input,
                  json::object annotations, revision rev) {
  json::object o;
  o["name"] = jv(name);
  if (rev >= revision::v2025_06_18) {
    o["title"] = jv(title);
  } else {
    annotations["title"] = jv(title);
  }
  o["description"] = jv(description);
  o["inputSchema"] = std::move(input);
  if (rev >= revision::v2025_06_18) o["outputSchema"] = output_schema();
  o["annotations"] = std::move(annotations);
  return o;
}

json::object annotations(bool read_only, bool destructive, bool idempotent, bool open_world) {
  json::object o;
  o["readOnlyHint"] = read_only;
  o["destructiveHint"] = destructive;
  o["idempotentHint"] = idempotent;
  o["openWorldHint"] = open_world;
  return o;
}

json::object agent_entry(const agent_tool& t, revision rev) {
  std::string text = t.agent.description.empty() ? "Runs the agent \"" + clipped(t.agent.name, 200) + "\"."
                                                 : clipped(t.agent.description, max_description);
  text +=
      "\n\nReturns the agent's final answer. To continue the conversation, pass the thread_id of the result with the "
      "next prompt.";
  json::object o =
      tool(t.name, clipped(t.agent.name, 200), text, agent_input_schema(), annotations(false, true, false, true), rev);
  if (rev == revision::v2025_11_25) {
    json::object execution;
    execution["taskSupport"] = "optional";
    o["execution"] = std::move(execution);
  }
  return o;
}

void require_known(const json::object& arguments, std::initializer_list<std::string_view> known,
                   const std::string& prefix) {
  for (const auto& member : arguments) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw argument_error(prefix + clipped(key, 64) + " is not a known argument");
  }
}

// An optional text.
std::string read_text(const json::object& o, std::string_view key, const std::string& prefix) {
  const json::value* v = module_json::member_at(o, key);
  if (v == nullptr || v->is_null()) return {};
  if (!v->is_string()) throw argument_error(prefix + std::string(key) + " must be a string");
  return text_of(o, key);
}

call_file read_file(const json::value& v, std::size_t index) {
  const std::string prefix = "files[" + std::to_string(index) + "].";
  const json::object* o = v.if_object();
  if (o == nullptr) throw argument_error("files[" + std::to_string(index) + "] must be an object");
  require_known(*o, {"name", "media_type", "data"}, prefix);
  call_file out;
  out.name = read_text(*o, "name", prefix);
  if (out.name.empty() || out.name.size() > max_file_name)
    throw argument_error(prefix + "name must have 1 to 255 bytes");
  out.media_type = read_text(*o, "media_type", prefix);
  if (out.media_type.size() > 255) throw argument_error(prefix + "media_type must have at most 255 bytes");
  if (!o->contains("data")) throw argument_error(prefix + "data is required");
  auto bytes =
      ry::base64_decode(read_text(*o, "data", prefix), ry::base64_alphabet::standard, ry::base64_padding::optional);
  if (!bytes) throw argument_error(prefix + "data is not valid base64");
  out.content = std::move(*bytes);
  return out;
}

}  // namespace

std::vector<agent_tool> name_tools(std::vector<agent_info> agents) {
  std::vector<agent_tool> out;
  std::set<std::string, std::less<>> used{std::string(get_run_tool), std::string(stop_run_tool)};
  for (agent_info& a : agents) {
    std::string name = sanitized(a.name);
    if (used.contains(name)) name += id_suffix(a.id);
    // Occurs only if the name of an agent equals another agent's name with its suffix.
    if (used.contains(name)) continue;
    used.insert(name);
    out.push_back({std::move(name), std::move(a)});
  }
  return out;
}

json::object tool_list(const std::vector<agent_tool>& agents, revision rev) {
  json::array tools;
  for (const agent_tool& t : agents) tools.push_back(agent_entry(t, rev));
  tools.push_back(tool(get_run_tool, "Get a run",
                       "Returns the status of a run of an agent and, once it has ended, its final answer.",
                       run_input_schema(), annotations(true, false, true, false), rev));
  tools.push_back(tool(stop_run_tool, "Stop a run", "Stops a run of an agent that is in progress.", run_input_schema(),
                       annotations(false, true, true, false), rev));
  json::object o;
  o["tools"] = std::move(tools);
  return o;
}

agent_arguments read_agent_arguments(const json::object& arguments) {
  require_known(arguments, {"prompt", "thread_id", "files"}, "");
  agent_arguments out;
  out.prompt = read_text(arguments, "prompt", "");
  if (out.prompt.empty()) throw argument_error("prompt is required and must be a string that is not empty");
  out.thread_id = read_text(arguments, "thread_id", "");
  if (!out.thread_id.empty() && !ry::uuid::parse(out.thread_id))
    throw argument_error("thread_id must be the thread_id of an earlier result (a UUID)");
  const json::value* files = arguments.if_contains("files");
  if (files == nullptr || files->is_null()) return out;
  if (!files->is_array()) throw argument_error("files must be an array");
  if (files->get_array().size() > max_files) throw argument_error("files must have at most 20 items");
  for (const json::value& each : files->get_array()) out.files.push_back(read_file(each, out.files.size()));
  return out;
}

std::string read_run_id(const json::object& arguments) {
  require_known(arguments, {"run_id"}, "");
  std::string id = read_text(arguments, "run_id", "");
  if (!ry::uuid::parse(id)) throw argument_error("run_id must be the run_id of an earlier result (a UUID)");
  return id;
}

}  // namespace mcp_server
