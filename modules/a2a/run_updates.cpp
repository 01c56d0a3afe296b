#include "run_updates.hpp"

#include <common/call_events.hpp>
#include <utility>

#include "follow_up.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"

namespace a2a {

namespace json = boost::json;

void run_updates::add(std::string_view event_json, std::string_view time) {
  json::error_code bad;
  const json::value v = module_json::parse_exactly(event_json, max_event_depth, bad);
  if (bad || !v.is_object() || ended_) return;
  const json::object& event = v.get_object();
  const std::string_view type = module_json::text_at(event, "type");
  time_ = time;
  if (type == "status") return end(event);
  if (type == "queued") return set_state(task_state::submitted);
  if (type == "gap" || type == "error" || type == "notice") return;
  tool_calls::apply_event(states_, event);
  set_state(task_state::working);
  if (type == "llm_response_start") return begin_answer(event);
  if (type == "llm_response_chunk") return add_chunk(module_json::text_at(event, "content"));
  if (type == "llm_response_end") return end_answer(module_json::text_at(event, "finish"));
  if (type == "turn_aborted") return drop_attempt(module_json::integer_at(event, "step"));
  if (type == "tool_call") return add_tool_update(event, "started");
  if (type == "tool_result")
    return add_tool_update(event, module_json::flag_at(event, "is_error") ? "failed" : "completed");
}

void run_updates::require_input(const json::array& requests, std::string_view time) {
  flush_chunk();
  time_ = time;
  state_ = task_state::input_required;
  request_ = request_message(ids_, requests);
  json::object status = status_object(ids_, state_, {}, time_);
  status["message"] = request_;
  push_status(std::move(status), {});
}

void run_updates::add_chunk(std::string_view text) {
  chunk_ += text;
}

void run_updates::begin_answer(const json::object& event) {
  const std::int64_t step = module_json::integer_at(event, "step");
  drop_attempt(step);
  flush_chunk();
  step_ = step;
  continued_ = continues_;
  // The text of an answer before a tool call stays with the client until the next answer's first chunk replaces it.
  if (!continues_) replaces_ = true;
  kept_ = continues_ ? artifact_.size() : 0;
}

void run_updates::end_answer(std::string_view finish) {
  flush_chunk();
  continues_ = finish == "length" || finish == "pause";
  const bool last = finish == "stop" || finish == "content_filter" || finish == "refusal";
  if (last && sent_ && !replaces_ && !closed_) push_artifact("", true, true);
}

// An attempt is void if it was aborted, or if the same step begins again. A step that this object has not seen has no
// text to drop.
void run_updates::drop_attempt(std::int64_t step) {
  if (step != step_) return;
  chunk_.clear();
  continues_ = continued_;
  if (replaces_ || artifact_.size() == kept_) return;
  artifact_.resize(kept_);
  push_artifact(artifact_, false, false);
}

void run_updates::end(const json::object& event) {
  const std::string_view status = module_json::text_at(event, "status");
  if (status == "running") return;
  flush_chunk();
  if (sent_ && !closed_) push_artifact("", true, true);
  state_ = state_of(status, false);
  end_status_ = status_object(ids_, state_, module_json::text_at(event, "error"), time_);
  end_metadata_ = end_metadata(event);
  ended_ = true;
  push_status(end_status_, end_metadata_);
}

void run_updates::set_state(std::string_view state) {
  if (state == state_) return;
  flush_chunk();
  state_ = state;
  push_status(status_object(ids_, state_, {}, time_), {});
}

void run_updates::add_tool_update(const json::object& event, std::string_view tool_state) {
  flush_chunk();
  push_status(status_object(ids_, state_, {}, time_),
              {{"toolCall", json::object{{"id", module_json::text_at(event, "tool_call_id")},
                                         {"name", module_json::text_at(event, "name")},
                                         {"state", tool_state}}}});
}

void run_updates::flush_chunk() {
  if (chunk_.empty()) return;
  const std::string text = std::exchange(chunk_, {});
  const bool append = !std::exchange(replaces_, false);
  if (!append) artifact_.clear();
  artifact_ += text;
  push_artifact(text, append, false);
}

void run_updates::push_artifact(std::string_view text, bool append, bool last) {
  sent_ = true;
  closed_ = last;
  json::object update{{"taskId", ids_.task}, {"contextId", ids_.context}, {"artifact", answer_artifact(text)}};
  if (append) update["append"] = true;
  if (last) update["lastChunk"] = true;
  out_.push_back({{"artifactUpdate", std::move(update)}});
}

void run_updates::push_status(json::object status, json::object metadata) {
  json::object update{{"taskId", ids_.task}, {"contextId", ids_.context}, {"status", std::move(status)}};
  if (!metadata.empty()) update["metadata"] = std::move(metadata);
  out_.push_back({{"statusUpdate", std::move(update)}});
}

std::vector<json::object> run_updates::take() {
  flush_chunk();
  return std::exchange(out_, {});
}

json::object run_updates::take_task(std::string_view time) {
  flush_chunk();
  out_.clear();
  json::object status = ended_ ? end_status_ : status_object(ids_, state_, {}, time);
  if (state_ == task_state::input_required) status["message"] = request_;
  json::object task{{"id", ids_.task}, {"contextId", ids_.context}, {"status", std::move(status)}};
  if (sent_) task["artifacts"] = json::array{answer_artifact(artifact_)};
  json::object metadata = metadata_;
  for (const auto& m : end_metadata_) metadata[m.key()] = m.value();
  if (!metadata.empty()) task["metadata"] = std::move(metadata);
  return {{"task", std::move(task)}};
}

}  // namespace a2a
