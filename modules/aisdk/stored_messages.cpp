#include "stored_messages.hpp"

#include <boost/json/object.hpp>
#include <json/members.hpp>
#include <string_view>

#include "ui_messages.hpp"

namespace aisdk {
namespace {

namespace json = boost::json;
using module_json::array_at;
using module_json::member_at;
using module_json::text_at;
using module_json::text_of;

// The content of a message is a text or an array of parts.
std::string text_of_content(const json::object& message) {
  const json::value* content = member_at(message, "content");
  if (content == nullptr) return {};
  const json::array* parts = content->if_array();
  if (parts == nullptr) return content->is_string() ? output_text(*content) : std::string();
  std::string out;
  for (const json::value& p : *parts) {
    if (!p.is_object()) continue;
    const std::string_view text = text_at(p.get_object(), "text");
    if (!out.empty() && !text.empty()) out += '\n';
    out += text;
  }
  return out;
}

class converter {
 public:
  void add(const json::object& m) {
    const std::string_view role = text_at(m, "role"), run = text_at(m, "agent_run_id");
    if (role == "user") {
      add_user(m);
    } else if (role == "assistant") {
      const bool continues = run_ == run || (!run.empty() && newest_output_run_ == run);
      if (assistant_ == none || !continues) begin_assistant(m, run);
      run_ = std::string(run);
      add_answer(m);
    } else if (role == "tool") {
      newest_output_run_ = std::string(run);
      add_output(m, run == run_);
      return;
    }
    newest_output_run_.clear();
  }
  json::array take() { return std::move(out_); }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  static json::object text_part(std::string_view text) {
    return {{"type", "text"}, {"text", json::string_view(text.data(), text.size())}, {"state", "done"}};
  }
  json::array& parts() { return out_[assistant_].get_object()["parts"].get_array(); }

  void add_user(const json::object& m) {
    assistant_ = none;
    const std::string text = text_of_content(m);
    out_.push_back(
        json::object{{"id", text_of(m, "message_id")}, {"role", "user"}, {"parts", json::array{text_part(text)}}});
  }
  void begin_assistant(const json::object& m, std::string_view run) {
    assistant_ = out_.size();
    json::object message{{"id", run.empty() ? text_of(m, "message_id") : std::string(run)},
                         {"role", "assistant"},
                         {"parts", json::array()}};
    if (!run.empty()) message["metadata"] = json::object{{"runId", std::string(run)}};
    out_.push_back(std::move(message));
  }
  void add_answer(const json::object& m) {
    parts().push_back(json::object{{"type", "step-start"}});
    if (const std::string text = text_of_content(m); !text.empty()) parts().push_back(text_part(text));
    const json::array* calls = array_at(m, "tool_calls");
    if (calls == nullptr) return;
    for (const json::value& v : *calls) {
      if (!v.is_object()) continue;
      const json::object& call = v.get_object();
      const json::value* arguments = member_at(call, "arguments");
      parts().push_back(json::object{{"type", "tool-" + text_of(call, "name")},
                                     {"toolCallId", text_of(call, "id")},
                                     {"state", "input-available"},
                                     {"input", arguments != nullptr ? *arguments : json::value(json::object())}});
    }
  }
  // A result that belongs to the run of its call is a server-side tool's.
  void add_output(const json::object& m, bool server_side) {
    if (assistant_ == none) return;
    json::array& all = parts();
    const std::string_view id = text_at(m, "tool_call_id");
    for (std::size_t i = all.size(); i-- > 0;) {
      json::object& part = all[i].get_object();
      if (text_at(part, "toolCallId") != id || text_at(part, "state") != "input-available") continue;
      if (server_side) {
        part["toolName"] = text_of(m, "name");
        part["type"] = "dynamic-tool";
        part["providerExecuted"] = true;
      }
      const bool failed = module_json::flag_at(m, "is_error");
      part["state"] = failed ? "output-error" : "output-available";
      const std::string text = text_of_content(m);
      if (failed)
        part["errorText"] = text;
      else
        part["output"] = server_side ? json::value(text) : output_value(text);
      return;
    }
  }

  json::array out_;
  std::size_t assistant_ = none;  // index of the assistant message that is continued
  std::string run_, newest_output_run_;
};

}  // namespace

void mark_waiting_calls(const json::object& run, json::array& messages) {
  const json::array* waiting = array_at(run, "waiting_for");
  if (waiting == nullptr || messages.empty()) return;
  json::object& newest = messages.back().get_object();
  if (text_at(newest, "role") != "assistant") return;
  json::array& parts = newest["parts"].get_array();
  for (const json::value& w : *waiting) {
    if (!w.is_object() || text_at(w.get_object(), "type") != "approval") continue;
    const json::object& approval = w.get_object();
    for (json::value& v : parts) {
      json::object& part = v.get_object();
      if (text_at(part, "toolCallId") != text_at(approval, "tool_call_id") ||
          text_at(part, "state") != "input-available")
        continue;
      part["type"] = "dynamic-tool";
      part["toolName"] = text_of(approval, "name");
      part["providerExecuted"] = true;
      part["state"] = "approval-requested";
      part["approval"] = json::object{{"id", text_of(approval, "approval_id")},
                                      {"descriptor", json::object{{"expiresAt", text_of(approval, "expires_at")}}}};
    }
  }
}

json::array ui_messages_of(const json::array& messages) {
  converter out;
  for (const json::value& m : messages)
    if (m.is_object()) out.add(m.get_object());
  return out.take();
}

}  // namespace aisdk
