#include "ui_messages.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <json/exact.hpp>
#include <json/members.hpp>
#include <optional>
#include <ry/cpp/types.hpp>

#include "data_url.hpp"

namespace aisdk {
namespace {

namespace json = boost::json;
using module_json::array_at;
using module_json::flag_at;
using module_json::member_at;
using module_json::text_at;
using module_json::text_of;

constexpr std::string_view tool_prefix = "tool-";
constexpr std::size_t output_depth = 128;

[[noreturn]] void reject_message(const std::string& message) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "aisdk.invalid_message", message);
}

std::string place_of(std::size_t message) {
  return "messages[" + std::to_string(message) + "]";
}
std::string place_of(std::size_t message, std::size_t part) {
  return place_of(message) + ".parts[" + std::to_string(part) + "]";
}

const json::object& message_at(const json::array& messages, std::size_t i) {
  const json::object* m = messages[i].if_object();
  if (m == nullptr) reject_message(place_of(i) + " must be an object");
  const std::string_view role = text_at(*m, "role");
  if (role != "user" && role != "assistant" && role != "system")
    reject_message(place_of(i) + ".role must be user, assistant or system");
  const json::array* parts = array_at(*m, "parts");
  if (parts == nullptr) reject_message(place_of(i) + ".parts must be an array");
  for (std::size_t p = 0; p < parts->size(); ++p)
    if (!(*parts)[p].is_object() || text_at((*parts)[p].get_object(), "type").empty())
      reject_message(place_of(i, p) + " must be an object with a type");
  return *m;
}

const json::array& parts_of(const json::object& message) {
  return *array_at(message, "parts");
}

void add_line(std::string& to, std::string_view line) {
  if (!to.empty()) to += '\n';
  to += line;
}

std::string text_of_message(const json::object& message) {
  std::string out;
  for (const json::value& p : parts_of(message))
    if (text_at(p.get_object(), "type") == "text") add_line(out, text_at(p.get_object(), "text"));
  return out;
}

// Earlier messages cannot have files in a history; the model gets their names.
std::string text_with_file_names(const json::object& message) {
  std::string out = text_of_message(message);
  for (const json::value& p : parts_of(message)) {
    const json::object& part = p.get_object();
    if (text_at(part, "type") != "file") continue;
    const std::string_view name = text_at(part, "filename");
    add_line(out, "[File: " + std::string(name.empty() ? text_at(part, "mediaType") : name) + "]");
  }
  return out;
}

std::vector<file_part> files_of(const json::object& message, std::size_t index) {
  std::vector<file_part> out;
  const json::array& parts = parts_of(message);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const json::object& part = parts[p].get_object();
    if (text_at(part, "type") != "file") continue;
    std::optional<data_url> url = parse_data_url(text_at(part, "url"));
    if (!url) reject_message(place_of(index, p) + ".url must be a valid data URL");
    file_part file{text_of(part, "filename"), text_of(part, "mediaType"), std::move(url->content)};
    if (file.media_type.empty()) file.media_type = std::move(url->media_type);
    if (file.name.empty())
      file.name = "attachment-" + std::to_string(out.size() + 1) + std::string(extension_of(file.media_type));
    out.push_back(std::move(file));
  }
  return out;
}

struct tool_part {
  std::string name, call_id;
  const json::object* part = nullptr;
  std::string_view state;
};

std::optional<tool_part> tool_part_of(const json::object& part) {
  const std::string_view type = text_at(part, "type");
  tool_part out;
  if (type == "dynamic-tool")
    out.name = text_of(part, "toolName");
  else if (type.substr(0, tool_prefix.size()) == tool_prefix)
    out.name = std::string(type.substr(tool_prefix.size()));
  else
    return std::nullopt;
  out.call_id = text_of(part, "toolCallId");
  out.part = &part;
  out.state = text_at(part, "state");
  return out;
}

// nullopt: the call has no final output.
std::optional<tool_output> output_of(const tool_part& tool) {
  if (tool.call_id.empty()) return std::nullopt;
  if (tool.state == "output-available" && !flag_at(*tool.part, "preliminary")) {
    const json::value* output = member_at(*tool.part, "output");
    return tool_output{tool.call_id, output != nullptr ? output_text(*output) : "null", false};
  }
  if (tool.state == "output-error") return tool_output{tool.call_id, text_of(*tool.part, "errorText"), true};
  if (tool.state == "output-denied") return tool_output{tool.call_id, "The user denied this tool call.", true};
  return std::nullopt;
}

// The outputs of calls of client tools in the message's last step.
std::vector<tool_output> client_outputs(const json::object& message) {
  std::vector<tool_output> out;
  for (const json::value& p : parts_of(message)) {
    const json::object& part = p.get_object();
    if (text_at(part, "type") == "step-start") out.clear();
    const std::optional<tool_part> tool = tool_part_of(part);
    if (!tool || flag_at(part, "providerExecuted")) continue;
    if (std::optional<tool_output> output = output_of(*tool)) out.push_back(*std::move(output));
  }
  return out;
}

approval_response response_of(const json::object& approval, const std::string& place) {
  const json::value* approved = member_at(approval, "approved");
  if (text_at(approval, "id").empty()) reject_message(place + ".approval.id must be a string that is not empty");
  if (approved == nullptr || !approved->is_bool()) reject_message(place + ".approval.approved must be a boolean");
  return {place, text_of(approval, "id"), approved->get_bool(), text_of(approval, "reason")};
}

// What the last step of the message has of calls that the server executes.
void read_last_step(const json::object& message, std::size_t index, turn& out) {
  const json::array& parts = parts_of(message);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const json::object& part = parts[p].get_object();
    if (text_at(part, "type") == "step-start") {
      out.shown = {};
      out.decisions.clear();
    }
    const std::optional<tool_part> tool = tool_part_of(part);
    if (!tool) continue;
    out.shown.calls.insert(tool->call_id);
    if (output_of(*tool)) out.shown.outputs.insert(tool->call_id);
    const json::object* approval = module_json::object_at(part, "approval");
    if (approval == nullptr) {
      if (tool->state == "approval-responded") reject_message(place_of(index, p) + ".approval must be an object");
      continue;
    }
    out.shown.approvals.insert(text_of(*approval, "id"));
    if (tool->state == "approval-responded") out.decisions.push_back(response_of(*approval, place_of(index, p)));
  }
}

// Adds the messages of one step: the assistant's text and calls, then the results.
class step_history {
 public:
  explicit step_history(json::array& out) : out_(out) {}
  void add(const json::object& part) {
    if (text_at(part, "type") == "step-start") return flush();
    if (text_at(part, "type") == "text") return add_line(text_, text_at(part, "text"));
    const std::optional<tool_part> tool = tool_part_of(part);
    // Models require a result for each call.
    const std::optional<tool_output> output = tool ? output_of(*tool) : std::nullopt;
    if (!output) return;
    const json::object* input = module_json::object_at(part, "input");
    calls_.push_back(json::object{
        {"id", tool->call_id}, {"name", tool->name}, {"arguments", input != nullptr ? *input : json::object()}});
    results_.push_back(json::object{{"role", "tool"},
                                    {"tool_call_id", tool->call_id},
                                    {"name", tool->name},
                                    {"content", output->content},
                                    {"is_error", output->is_error}});
  }
  void flush() {
    if (!text_.empty() || !calls_.empty()) {
      json::object message{{"role", "assistant"}, {"content", text_}};
      if (!calls_.empty()) message["tool_calls"] = std::move(calls_);
      out_.push_back(std::move(message));
      for (json::value& result : results_) out_.push_back(std::move(result));
    }
    text_.clear();
    calls_.clear();
    results_.clear();
  }

 private:
  json::array& out_;
  std::string text_;
  json::array calls_, results_;
};

}  // namespace

std::string output_text(const json::value& v) {
  if (const json::string* s = v.if_string()) return std::string(s->data(), s->size());
  return json::serialize(v);
}

json::value output_value(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    boost::system::error_code bad;
    json::value v = module_json::parse_exactly(text, output_depth, bad);
    if (!bad) return v;
  }
  return json::value(json::string_view(text.data(), text.size()));
}

turn read_turn(const json::array& messages) {
  turn out;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const json::object& m = message_at(messages, i);
    if (text_at(m, "role") == "system") add_line(out.instructions, text_of_message(m));
  }
  const std::size_t last = messages.size() - 1;
  const json::object& newest = messages[last].get_object();
  const std::string_view role = text_at(newest, "role");
  if (role == "system") reject_message(place_of(last) + ".role must be user or assistant");
  if (role == "assistant") {
    out.continues_message = true;
    out.message_id = text_of(newest, "id");
    out.outputs = client_outputs(newest);
    read_last_step(newest, last, out);
    return out;
  }
  out.prompt = text_of_message(newest);
  out.files = files_of(newest, last);
  // Outputs that the client has not sent before this message.
  if (last > 0 && text_at(messages[last - 1].get_object(), "role") == "assistant")
    out.outputs = client_outputs(messages[last - 1].get_object());
  return out;
}

json::array history_of(const json::array& messages) {
  json::array out;
  std::size_t n = messages.size();
  if (n > 0 && text_at(message_at(messages, n - 1), "role") == "user") --n;
  for (std::size_t i = 0; i < n; ++i) {
    const json::object& m = message_at(messages, i);
    const std::string_view role = text_at(m, "role");
    if (role == "user") {
      const std::string text = text_with_file_names(m);
      if (!text.empty()) out.push_back(json::object{{"role", "user"}, {"content", text}});
    } else if (role == "assistant") {
      step_history steps(out);
      for (const json::value& p : parts_of(m)) steps.add(p.get_object());
      steps.flush();
    }
  }
  return out;
}

}  // namespace aisdk
