#include "task_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "follow_up.hpp"
#include "json/members.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::array known_states = {task_state::submitted,
                                     task_state::working,
                                     task_state::completed,
                                     task_state::failed,
                                     task_state::canceled,
                                     task_state::input_required,
                                     std::string_view("TASK_STATE_REJECTED"),
                                     std::string_view("TASK_STATE_AUTH_REQUIRED")};

// The text of a stored message: its content is a text, or an array of parts with texts and images.
std::string text_of_content(const json::object& message) {
  if (const json::array* parts = module_json::array_at(message, "content")) {
    std::string out;
    for (const json::value& part : *parts)
      if (part.is_object()) out += module_json::text_at(part.get_object(), "text");
    return out;
  }
  return module_json::text_of(message, "content");
}

bool has_tool_calls(const json::object& message) {
  const json::array* calls = module_json::array_at(message, "tool_calls");
  return calls != nullptr && !calls->empty();
}

}  // namespace

std::string_view state_of(std::string_view status, bool waiting) {
  if (status == "completed") return task_state::completed;
  if (status == "failed") return task_state::failed;
  if (status == "stopped") return task_state::canceled;
  return waiting ? task_state::submitted : task_state::working;
}

json::array requests_of(const json::object& run) {
  const json::array* requests = module_json::array_at(run, "waiting_for");
  return requests != nullptr && module_json::text_at(run, "status") == "running" ? *requests : json::array();
}

std::string_view state_of(const json::object& run) {
  if (!requests_of(run).empty()) return task_state::input_required;
  const json::value* position = module_json::member_at(run, "queue_position");
  return state_of(module_json::text_at(run, "status"), position != nullptr && !position->is_null());
}

bool is_terminal(std::string_view state) {
  return state == task_state::completed || state == task_state::failed || state == task_state::canceled;
}

bool is_known_state(std::string_view state) {
  return std::find(known_states.begin(), known_states.end(), state) != known_states.end();
}

json::object status_object(const task_ids& ids, std::string_view state, std::string_view error,
                           std::string_view timestamp) {
  json::object out{{"state", state}};
  if (!error.empty()) out["message"] = agent_message(ids, ids.task + "-status", error);
  if (!timestamp.empty()) out["timestamp"] = timestamp;
  return out;
}

json::object status_of(const json::object& run, const task_ids& ids) {
  std::string_view timestamp = module_json::text_at(run, "completed_at");
  if (timestamp.empty()) timestamp = module_json::text_at(run, "started_at");
  json::object out = status_object(ids, state_of(run), module_json::text_at(run, "error"), timestamp);
  const json::array requests = requests_of(run);
  if (!requests.empty()) out["message"] = request_message(ids, requests);
  return out;
}

json::object answer_artifact(std::string_view text) {
  return {{"artifactId", answer_artifact_id}, {"name", answer_artifact_id}, {"parts", json::array{text_part(text)}}};
}

json::object end_metadata(const json::object& run_or_event) {
  json::object out;
  const std::pair<const char*, const char*> members[] = {
      {"reason", "reason"}, {"error_code", "errorCode"}, {"usage", "usage"}, {"duration_ms", "durationMs"}};
  for (const auto& [from, to] : members)
    if (const json::value* v = module_json::member_at(run_or_event, from); v != nullptr && !v->is_null()) out[to] = *v;
  return out;
}

json::object metadata_of(const json::object& run) {
  const json::object* metadata = module_json::object_at(run, "metadata");
  return metadata != nullptr ? *metadata : json::object();
}

json::object task_of(const json::object& run, const task_ids& ids) {
  const json::object status = status_of(run, ids);
  json::object out{{"id", ids.task}, {"contextId", ids.context}, {"status", status}};
  json::object metadata = metadata_of(run);
  if (is_terminal(module_json::text_at(status, "state")))
    for (const auto& m : end_metadata(run)) metadata[m.key()] = m.value();
  if (!metadata.empty()) out["metadata"] = std::move(metadata);
  return out;
}

bool run_messages::add_page(const json::array& newest_first) {
  for (const json::value& v : newest_first) {
    if (!v.is_object()) continue;
    const json::object& message = v.get_object();
    if (module_json::text_at(message, "agent_run_id") == ids_.task) {
      found_ = true;
      add(message);
    } else if (found_) {
      return false;
    }
  }
  return true;
}

void run_messages::add(const json::object& message) {
  const std::string_view role = module_json::text_at(message, "role");
  // Messages with tool calls and their results are steps of the agent and not part of the conversation.
  if (role != "user" && role != "assistant") {
    answer_ended_ = true;
    return;
  }
  const std::string text = text_of_content(message);
  if (role == "assistant") {
    add_answer(message, text);
  } else {
    answer_ended_ = true;
  }
  if (text.empty() || history_.size() >= max_history_) return;
  json::object out = agent_message(ids_, module_json::text_at(message, "message_id"), text);
  if (role == "user") out["role"] = "ROLE_USER";
  history_.push_back(std::move(out));
}

// The parts of an answer that was continued are separate messages; each part but the last has `finish` length or pause.
void run_messages::add_answer(const json::object& message, std::string_view text) {
  if (answer_ended_) return;
  const std::string_view finish = module_json::text_at(message, "finish");
  const bool continued = finish == "length" || finish == "pause";
  if ((answer_ && !continued) || has_tool_calls(message)) {
    answer_ended_ = true;
    return;
  }
  answer_ = std::string(text) + answer_.value_or("");
}

json::array run_messages::history() const {
  json::array out;
  for (auto it = history_.rbegin(); it != history_.rend(); ++it) out.push_back(*it);
  return out;
}

std::optional<std::string> run_messages::answer() const {
  return answer_;
}

}  // namespace a2a
