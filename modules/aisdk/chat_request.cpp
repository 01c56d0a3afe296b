#include "chat_request.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <json/exact.hpp>
#include <json/members.hpp>
#include <ry/cpp/utf8.hpp>

namespace aisdk {
namespace {

namespace json = boost::json;
using module_json::member_at;

constexpr std::size_t body_depth = 128, body_values = 500'000;
constexpr std::size_t max_chat_id_bytes = 256, max_ui_messages = 2000;

[[noreturn]] void reject_body(const std::string& message) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "aisdk.invalid_body", message);
}

json::object parse_body(std::string_view body) {
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(body, body_depth, bad, {}, body_values);
  if (bad) throw ry::bad_request("aisdk.invalid_json", "The body is not valid JSON, or has too many values");
  if (!v.is_object()) reject_body("The body must be a JSON object");
  return std::move(v.get_object());
}

// A missing member and null are the empty text.
std::string optional_text(const json::object& o, const char* name) {
  const json::value* v = member_at(o, name);
  if (v == nullptr || v->is_null()) return {};
  if (!v->is_string()) reject_body(std::string(name) + " must be a string");
  return std::string(v->get_string().data(), v->get_string().size());
}

// `message` is an alternative for transports that send only the newest message.
json::array read_messages(json::object& o) {
  const json::value* one = member_at(o, "message");
  json::value* all = o.if_contains("messages");
  if (all == nullptr && one != nullptr) return json::array{*one};
  if (all == nullptr || !all->is_array()) reject_body("messages must be an array");
  json::array& list = all->get_array();
  if (list.empty()) reject_body("messages must not be empty");
  if (list.size() > max_ui_messages)
    reject_body("messages must have at most " + std::to_string(max_ui_messages) + " items");
  return std::move(list);
}

// `at`: the place of the tool, for errors. `schema_member`: the SDK and assistant-ui have different names for it.
json::object read_tool(const json::object& tool, std::string_view name, const std::string& at,
                       const char* schema_member) {
  json::object out{{"name", name}, {"description", module_json::text_of(tool, "description")}};
  if (const json::value* schema = member_at(tool, schema_member); schema != nullptr && !schema->is_null()) {
    const json::object* given = schema->if_object();
    if (given == nullptr) reject_body(at + "." + schema_member + " must be a JSON Schema object");
    // jsonSchema() of the SDK wraps the schema in an object.
    const json::object* wrapped = module_json::object_at(*given, "jsonSchema");
    out["parameters"] = wrapped != nullptr ? *wrapped : *given;
  }
  return out;
}

// A list of tools as the SDK defines them, or an object with their names, as the transport of assistant-ui sends it.
json::array read_tools(const json::object& o) {
  json::array out;
  const json::value* v = member_at(o, "tools");
  if (v == nullptr || v->is_null()) return out;
  if (const json::object* named = v->if_object()) {
    for (const json::key_value_pair& item : *named) {
      const std::string at = "tools." + std::string(item.key());
      const json::object* tool = item.value().if_object();
      if (tool == nullptr) reject_body(at + " must be an object");
      out.push_back(read_tool(*tool, item.key(), at, "parameters"));
    }
    return out;
  }
  if (!v->is_array()) reject_body("tools must be an array or an object");
  for (const json::value& item : v->get_array()) {
    const std::string at = "tools[" + std::to_string(out.size()) + "]";
    const json::object* tool = item.if_object();
    if (tool == nullptr) reject_body(at + " must be an object");
    const std::string_view name = module_json::text_at(*tool, "name");
    if (name.empty()) reject_body(at + ".name must be a string that is not empty");
    out.push_back(read_tool(*tool, name, at, "inputSchema"));
  }
  return out;
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "\n" + b;
}

void add_unless_empty(ry::runs::start_request& to, const char* field, const std::string& value) {
  if (!value.empty()) to.field(field, value);
}

// all: without a check of which calls are pending.
json::array results_for(const std::vector<tool_output>& outputs, const std::vector<std::string>& pending, bool all) {
  json::array out;
  for (const tool_output& o : outputs) {
    if (!all && std::find(pending.begin(), pending.end(), o.call_id) == pending.end()) continue;
    out.push_back(json::object{{"tool_call_id", o.call_id}, {"content", o.content}, {"is_error", o.is_error}});
  }
  return out;
}

// runs/1 ignores the history if the thread exists.
void add_thread_to_create(ry::runs::start_request& to, const chat_request& request, turn& t, const thread_state& at) {
  to.field("optimistic", "true");
  to.field("project_id", at.project.to_string());
  const json::array history = history_of(request.messages);
  if (!history.empty()) to.field(RY_RUN_FIELD_HISTORY, json::serialize(history));
  // A new thread needs a prompt, and a message may have only files.
  if (t.prompt.empty() && !t.files.empty()) t.prompt = "See the attached files.";
  if (!at.exists && t.prompt.empty() && history.empty())
    reject_body("messages must contain a message with text or files");
}

}  // namespace

void check_chat_id(std::string_view id) {
  if (id.empty() || id.size() > max_chat_id_bytes || !ry::is_utf8(id) || id.find('\0') != std::string_view::npos)
    reject_body("id must have 1 to " + std::to_string(max_chat_id_bytes) + " bytes of UTF-8 without NUL characters");
}

chat_request read_chat_request(std::string_view body) {
  json::object o = parse_body(body);
  chat_request out;
  const json::value* id = member_at(o, "id");
  if (id == nullptr || !id->is_string()) reject_body("id must be a string");
  out.id = optional_text(o, "id");
  check_chat_id(out.id);
  const std::string trigger = optional_text(o, "trigger");
  if (!trigger.empty() && trigger != "submit-message" && trigger != "regenerate-message")
    reject_body("trigger must be submit-message or regenerate-message");
  out.regenerate = trigger == "regenerate-message";
  out.agent_id = optional_text(o, "agentId");
  if (!out.agent_id.empty() && !ry::uuid::parse(out.agent_id)) reject_body("agentId must be a UUID");
  out.model = optional_text(o, "model");
  out.mode = optional_text(o, "mode");
  out.on_busy = optional_text(o, "onBusy");
  out.system = optional_text(o, "system");
  out.tools = read_tools(o);
  out.messages = read_messages(o);
  return out;
}

ry::runs::start_request start_of(const ry::uuid& account, const chat_request& request, turn& t, const thread_state& at,
                                 std::string key) {
  const bool keyed = !key.empty();
  ry::runs::start_request out(account);
  out.key(std::move(key));
  out.field("thread_id", at.thread.to_string());
  add_unless_empty(out, "agent_id", request.agent_id);
  add_unless_empty(out, "model_name", request.model);
  add_unless_empty(out, "mode", request.mode);
  add_unless_empty(out, "on_busy", request.on_busy);
  add_unless_empty(out, RY_RUN_FIELD_INSTRUCTIONS, joined(request.system, t.instructions));
  if (!request.tools.empty()) out.field(RY_RUN_FIELD_CLIENT_TOOLS, json::serialize(request.tools));
  if (!at.exists || (keyed && !at.project.is_nil())) add_thread_to_create(out, request, t, at);
  if (at.exists) {
    const json::array results = results_for(t.outputs, at.pending_calls, keyed);
    if (!results.empty()) out.field(RY_RUN_FIELD_TOOL_RESULTS, json::serialize(results));
    if (request.regenerate && at.awaits_answer && results.empty() && !keyed) {
      // The thread has the message already.
      t.prompt.clear();
      t.files.clear();
    }
  }
  add_unless_empty(out, "prompt", t.prompt);
  for (file_part& f : t.files) out.file(std::move(f.name), std::move(f.media_type), std::move(f.content));
  t.files.clear();
  return out;
}

std::string read_stop_request(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  return optional_text(parse_body(body), "activeStreamId");
}

}  // namespace aisdk
