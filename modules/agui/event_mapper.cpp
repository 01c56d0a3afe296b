#include "event_mapper.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <limits>

#include "ids.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"

namespace agui {
namespace {

namespace json = boost::json;

constexpr std::size_t max_event_depth = 64;
constexpr std::string_view protocol_version = "1.0";
constexpr std::int64_t all_steps = std::numeric_limits<std::int64_t>::max();

json::object typed(std::string_view type) {
  return json::object{{"type", type}};
}

json::object about(std::string_view type, std::string_view key, std::string_view id) {
  return json::object{{"type", type}, {key, id}};
}

void add_metadata(json::object& event, json::object value) {
  event["metadata"] = json::object{{"runyard", std::move(value)}};
}

void copy_member(const json::object& from, std::string_view key, json::object& to, std::string_view as) {
  if (const json::value* v = module_json::member_at(from, key); v != nullptr && !v->is_null()) to[as] = *v;
}

// TokenUsage of AG-UI. `model`: as in llm_response_start, or empty.
json::array usage_of(const json::object& e, std::string_view model) {
  const json::object* usage = module_json::object_at(e, "usage");
  if (usage == nullptr) return {};
  json::object out;
  if (!model.empty()) {
    const std::size_t slash = model.find('/');
    if (slash != model.npos) out["provider"] = model.substr(0, slash);
    out["model"] = slash != model.npos ? model.substr(slash + 1) : model;
  }
  const std::int64_t in = std::max<std::int64_t>(0, module_json::integer_at(*usage, "input_tokens"));
  const std::int64_t written = std::max<std::int64_t>(0, module_json::integer_at(*usage, "output_tokens"));
  out["inputTokens"] = in;
  out["outputTokens"] = written;
  out["totalTokens"] = in + written;
  copy_member(*usage, "cached_tokens", out, "cachedInputTokens");
  copy_member(*usage, "cache_write_tokens", out, "cacheWriteInputTokens");
  return json::array{std::move(out)};
}

// What a client sends as the payload of its response to an interrupt.
json::object response_schema() {
  const auto of_type = [](std::string_view type, std::string_view description) {
    return json::object{{"type", type}, {"description", description}};
  };
  json::object remember =
      of_type("string", "Also approve later calls of this tool in this run, or in all runs of the agent.");
  remember["enum"] = json::array{"none", "run", "agent"};
  return json::object{
      {"type", "object"},
      {"properties", json::object{{"approved", json::object{{"type", "boolean"}}},
                                  {"editedArgs", of_type("object", "Replaces the arguments of the call.")},
                                  {"reason", of_type("string", "The model gets the reason of a denial.")},
                                  {"remember", std::move(remember)}}},
      {"required", json::array{"approved"}}};
}

// The members of an event of runs/1 without those of every event.
json::object members_of(const json::object& e) {
  json::object out = e;
  out.erase("type");
  out.erase("sequence");
  out.erase("from_sequence");
  return out;
}

}  // namespace

event_mapper::event_mapper(names ids, const cursor& from)
    : ids_(std::move(ids)),
      turn_(from.turn),
      complete_(from.sequence == 0),
      to_skip_(from.skip),
      sequence_(from.sequence + 1) {}

json::object event_mapper::started() const {
  json::object event = typed("RUN_STARTED");
  event["threadId"] = ids_.thread;
  event["runId"] = ids_.run;
  if (ids_.outcomes) event["protocolVersion"] = protocol_version;
  json::object stored{{"threadId", ids_.stored_thread}};
  if (!ids_.stored_run.empty()) stored["runId"] = ids_.stored_run;
  add_metadata(event, std::move(stored));
  return event;
}

void event_mapper::begin(messages of_client, std::vector<mapped_event>& out) {
  out_ = &out;
  // A client that resumes between the two events gets the snapshot at the first answer.
  turn_.gap = of_client == messages::restated;
  emit(started());
  turn_.gap = false;
  if (of_client == messages::restated) emit_snapshot(ids_.stored_run.empty() ? all_steps : 1);
}

void event_mapper::begin_after_interrupt(std::set<std::string> approvals) {
  silent_ = true;
  resumed_ = std::move(approvals);
}

// Before the point at which the client continues. The interrupt has closed its messages and steps.
void event_mapper::apply_silently(std::string_view type, const object& e) {
  const bool found = type == "approval_requested" && resumed_.contains(module_json::text_of(e, "approval_id"));
  // The request is missing if the events of the run were deleted.
  const bool missing = type == "gap" || (type == "status" && module_json::text_at(e, "status") != "running");
  std::vector<mapped_event> dropped;
  std::vector<mapped_event>* const to = out_;
  out_ = &dropped;
  if (!missing) apply(type, e);
  out_ = to;
  emitted_ = 0;
  if (!found && !missing) return;
  silent_ = false;
  turn_.step_open = turn_.span_open = turn_.reasoning_open = turn_.text_open = false;
  if (missing) turn_.gap = true;
  emit(started());
  if (missing) apply(type, e);
}

void event_mapper::on_event(std::uint64_t sequence, std::string_view text, std::vector<mapped_event>& out) {
  if (turn_.ended) return;
  out_ = &out;
  sequence_ = sequence;
  emitted_ = 0;
  const std::size_t before = out.size();
  boost::system::error_code bad;
  const json::value v = module_json::parse_exactly(text, max_event_depth, bad);
  if (!bad && v.is_object()) {
    const std::string_view type = module_json::text_at(v.get_object(), "type");
    if (silent_)
      apply_silently(type, v.get_object());
    else
      apply(type, v.get_object());
  }
  to_skip_ = 0;
  if (out.size() > before) out.back().after = {sequence, 0, turn_};
}

void event_mapper::apply(std::string_view type, const object& e) {
  if (type == "llm_response_chunk") return on_text(e);
  if (type == "reasoning_chunk") return on_reasoning(e);
  if (type == "llm_response_start") return on_response_start(e);
  if (type == "llm_response_end") {
    close_reasoning(turn_end::normal);
    turn_.answering = false;
    return close_text();
  }
  if (type == "tool_call") return on_tool_call(e);
  if (type == "tool_result") return on_tool_result(e);
  if (type == "approval_requested") return on_approval_requested(e);
  if (type == "approval_resolved") return on_approval_resolved(e);
  if (type == "turn_aborted") return on_turn_aborted(e);
  if (type == "status" && module_json::text_at(e, "status") != "running") return on_end(e);
  if (type == "gap") return on_gap();
  if (type == "notice" || type == "queued" || type == "context_compacted" || type == "error")
    return custom(type, members_of(e));
  if ((type == "tool_output_chunk" || type == "tool_progress") && !turn_.gap && turn_.step > 0) {
    object value = members_of(e);
    value.erase("tool_call_id");
    value["toolCallId"] = tool_call_id(ids_.stored_run, turn_.step, module_json::text_at(e, "tool_call_id"));
    custom(type == "tool_progress" ? type : "tool_output", std::move(value));
  }
}

void event_mapper::on_gap() {
  complete_ = false;
  turn_.gap = true;
  if (to_skip_ == 0) return;
  // The client has the beginning of a tool call whose event has been deleted since, so the call cannot be completed.
  object event = typed("RUN_ERROR");
  event["message"] = "The events after the last received one were deleted; open the thread again";
  event["code"] = "EVENTS_DELETED";
  turn_.ended = true;
  emit(std::move(event));
}

void event_mapper::on_response_start(const object& e) {
  states_.begin_answer();
  approvals_.clear();
  const std::int64_t step = module_json::integer_at(e, "step"), attempt = module_json::integer_at(e, "attempt");
  if (const std::string model = module_json::text_of(e, "model"); !model.empty()) models_.insert(model);
  if (step == turn_.step) {
    abort_turn();
    turn_.gap = false;
  } else {
    close_reasoning(turn_end::normal);
    close_text();
    close_step();
    turn_.has_text = turn_.has_reasoning = false;
    if (turn_.gap) {
      turn_.gap = false;
      emit_snapshot(step);
    }
    turn_.step = step;
  }
  turn_.attempt = attempt;
  turn_.answering = true;
  if (turn_.step_open) return;
  turn_.step_open = true;
  emit(about("STEP_STARTED", "stepName", "step " + std::to_string(step)));
}

void event_mapper::on_text(const object& e) {
  const std::string_view text = module_json::text_at(e, "content");
  // After a gap, the beginning of the answer may be missing; a snapshot follows.
  if (text.empty() || turn_.gap || turn_.step == 0) return;
  close_reasoning(turn_end::normal);
  if (!turn_.text_open) {
    turn_.text_open = turn_.has_text = true;
    object start = about("TEXT_MESSAGE_START", "messageId", step_message());
    start["role"] = "assistant";
    emit(std::move(start));
  }
  object content = about("TEXT_MESSAGE_CONTENT", "messageId", step_message());
  content["delta"] = text;
  emit(std::move(content));
}

void event_mapper::on_reasoning(const object& e) {
  const std::string_view text = module_json::text_at(e, "content");
  if (text.empty() || turn_.gap || turn_.step == 0) return;
  if (!turn_.span_open) {
    turn_.span_open = turn_.has_reasoning = true;
    emit(about("REASONING_START", "messageId", reasoning_message()));
  }
  if (!turn_.reasoning_open) {
    turn_.reasoning_open = true;
    object start = about("REASONING_MESSAGE_START", "messageId", reasoning_message());
    start["role"] = "reasoning";
    emit(std::move(start));
  }
  object content = about("REASONING_MESSAGE_CONTENT", "messageId", reasoning_message());
  content["delta"] = text;
  emit(std::move(content));
}

// A run can report a request again.
void event_mapper::on_approval_requested(const object& e) {
  const std::string_view call = module_json::text_at(e, "tool_call_id"), name = module_json::text_at(e, "name");
  std::string id = module_json::text_of(e, "approval_id");
  const auto same = [&id](const approval& a) { return a.id == id; };
  if (id.empty() || std::any_of(approvals_.begin(), approvals_.end(), same)) return;
  object out{
      {"id", id}, {"reason", "tool_call"}, {"message", "Approve the call of the tool " + std::string(name) + "?"}};
  // After a gap, the step of the call is unknown.
  if (!turn_.gap && turn_.step > 0) out["toolCallId"] = tool_call_id(ids_.stored_run, turn_.step, call);
  out["responseSchema"] = response_schema();
  copy_member(e, "expires_at", out, "expiresAt");
  object about_call{{"name", name}};
  copy_member(e, "source", about_call, "source");
  copy_member(e, "arguments", about_call, "arguments");
  add_metadata(out, std::move(about_call));
  approvals_.push_back({std::move(id), std::move(out)});
  states_.approval_requested(call);
}

void event_mapper::on_approval_resolved(const object& e) {
  const std::string_view id = module_json::text_at(e, "approval_id");
  const auto same = [id](const approval& a) { return a.id == id; };
  const auto found = std::find_if(approvals_.begin(), approvals_.end(), same);
  if (found == approvals_.end()) return;
  approvals_.erase(found);
  states_.approval_resolved(module_json::text_at(e, "tool_call_id"));
}

void event_mapper::interrupt(const std::set<std::string>& pending, std::vector<mapped_event>& out) {
  json::array interrupts;
  for (const approval& a : approvals_)
    if (pending.contains(a.id)) interrupts.push_back(a.interrupt);
  if (interrupts.empty()) return;
  out_ = &out;
  if (turn_.gap) {
    turn_.gap = false;
    emit_snapshot(all_steps);
  }
  close_step();
  if (!ids_.outcomes) {
    // Clients before 0.0.54 ignore the outcome and follow the run again after the decision.
    object waiting = about("CUSTOM", "name", "runyard.approvals_pending");
    waiting["value"] = interrupts;
    emit(std::move(waiting));
  }
  // Clients from 0.0.54 to 0.0.59 know this outcome, and not the others of 1.0.
  object event = typed("RUN_FINISHED");
  event["threadId"] = ids_.thread;
  event["runId"] = ids_.run;
  event["outcome"] = object{{"type", "interrupt"}, {"interrupts", std::move(interrupts)}};
  turn_.ended = true;
  emit(std::move(event));
  out.back().after = {sequence_, 0, turn_};
}

void event_mapper::on_tool_call(const object& e) {
  if (module_json::text_at(e, "source") != "client") states_.called(module_json::text_at(e, "tool_call_id"));
  if (turn_.gap || turn_.step == 0) return;
  close_reasoning(turn_end::normal);
  close_text();
  const std::string id = tool_call_id(ids_.stored_run, turn_.step, module_json::text_at(e, "tool_call_id"));
  if (module_json::text_at(e, "source") == "client") client_calls_.push_back(id);
  object start = about("TOOL_CALL_START", "toolCallId", id);
  start["toolCallName"] = module_json::text_at(e, "name");
  start["parentMessageId"] = step_message();
  emit_once(std::move(start));
  object args = about("TOOL_CALL_ARGS", "toolCallId", id);
  const json::value* arguments = module_json::member_at(e, "arguments");
  args["delta"] = arguments != nullptr ? json::serialize(*arguments) : "{}";
  emit_once(std::move(args));
  emit_once(about("TOOL_CALL_END", "toolCallId", id));
}

void event_mapper::on_tool_result(const object& e) {
  states_.finished(module_json::text_at(e, "tool_call_id"));
  if (turn_.gap || turn_.step == 0) return;
  const std::string id = tool_call_id(ids_.stored_run, turn_.step, module_json::text_at(e, "tool_call_id"));
  client_calls_.erase(std::remove(client_calls_.begin(), client_calls_.end(), id), client_calls_.end());
  if (known_results_.contains(tool_message_id(id))) return;
  object result = about("TOOL_CALL_RESULT", "toolCallId", id);
  result["messageId"] = tool_message_id(id);
  result["role"] = "tool";
  result["content"] = module_json::text_at(e, "content");
  if (module_json::flag_at(e, "is_error")) add_metadata(result, object{{"isError", true}});
  emit_once(std::move(result));
}

void event_mapper::on_turn_aborted(const object& e) {
  if (module_json::integer_at(e, "step") == turn_.step) abort_turn();
}

void event_mapper::on_end(const object& e) {
  // An answer that has not ended is not part of the thread.
  if (turn_.answering) abort_turn();
  if (turn_.gap) {
    turn_.gap = false;
    emit_snapshot(all_steps);
  }
  close_step();
  const std::string_view status = module_json::text_at(e, "status");
  object event = status == "failed" ? typed("RUN_ERROR") : finished(e, status == "stopped");
  if (status == "failed") {
    event["message"] = module_json::text_of(e, "error", "The run failed");
    copy_member(e, "error_code", event, "code");
  }
  if (json::array usage = usage_of(e, models_.size() == 1 && complete_ ? *models_.begin() : std::string());
      !usage.empty())
    event["usage"] = std::move(usage);
  object more;
  for (const std::string_view key : {"status", "reason", "credits"}) copy_member(e, key, more, key);
  copy_member(e, "duration_ms", more, "durationMs");
  add_metadata(event, std::move(more));
  turn_.ended = true;
  emit(std::move(event));
}

event_mapper::object event_mapper::finished(const object& e, bool stopped) {
  object event = typed("RUN_FINISHED");
  event["threadId"] = ids_.thread;
  event["runId"] = ids_.run;
  if (!ids_.outcomes) return event;
  object outcome{{"type", stopped ? "cancelled" : "success"}};
  // A client derives the list from the stream if it is absent. After a resume, this object knows only a part of it.
  if (!stopped && complete_ && module_json::text_at(e, "reason") == "tool_calls") {
    json::array pending;
    for (const std::string& id : client_calls_) pending.emplace_back(id);
    if (!pending.empty()) outcome["pendingToolCallIds"] = std::move(pending);
  }
  event["outcome"] = std::move(outcome);
  return event;
}

void event_mapper::custom(std::string_view name, object value) {
  object event = about("CUSTOM", "name", "runyard." + std::string(name));
  event["value"] = std::move(value);
  emit_once(std::move(event));
}

void event_mapper::close_reasoning(turn_end end) {
  if (turn_.reasoning_open) {
    turn_.reasoning_open = false;
    object closed = about("REASONING_MESSAGE_END", "messageId", reasoning_message());
    if (end == turn_end::aborted) {
      turn_.has_reasoning = false;
      add_metadata(closed, object{{"aborted", true}});
    }
    emit(std::move(closed));
  }
  if (!turn_.span_open) return;
  turn_.span_open = false;
  emit(about("REASONING_END", "messageId", reasoning_message()));
}

void event_mapper::close_text() {
  if (!turn_.text_open) return;
  turn_.text_open = false;
  emit(about("TEXT_MESSAGE_END", "messageId", step_message()));
}

// Clients keep reasoning messages that a snapshot does not contain, so they are marked instead of removed.
void event_mapper::mark_reasoning_aborted() {
  if (!turn_.has_reasoning) return;
  if (!turn_.span_open) {
    turn_.span_open = true;
    emit(about("REASONING_START", "messageId", reasoning_message()));
  }
  if (!turn_.reasoning_open) {
    turn_.reasoning_open = true;
    object start = about("REASONING_MESSAGE_START", "messageId", reasoning_message());
    start["role"] = "reasoning";
    emit(std::move(start));
  }
}

void event_mapper::abort_turn() {
  mark_reasoning_aborted();
  close_reasoning(turn_end::aborted);
  close_text();
  if (!turn_.has_text) return;
  turn_.has_text = false;
  emit_snapshot(turn_.step);
}

void event_mapper::close_step() {
  if (!turn_.step_open) return;
  turn_.step_open = false;
  emit(about("STEP_FINISHED", "stepName", "step " + std::to_string(turn_.step)));
}

// An event that is sent again if the event of the run is mapped again, unless the state excludes it.
void event_mapper::emit(object event) {
  push({mapped_event::kind::event, std::move(event), 0, {}});
}

// An event that the state does not exclude, and that is therefore counted.
void event_mapper::emit_once(object event) {
  ++emitted_;
  if (emitted_ <= to_skip_) return;
  push({mapped_event::kind::event, std::move(event), 0, {}});
}

void event_mapper::emit_snapshot(std::int64_t below_step) {
  push({mapped_event::kind::messages_snapshot, {}, below_step, {}});
}

void event_mapper::push(mapped_event event) {
  event.after = {sequence_ == 0 ? 0 : sequence_ - 1, emitted_, turn_};
  out_->push_back(std::move(event));
}

std::string event_mapper::step_message() const {
  return message_id(ids_.stored_run, turn_.step);
}

std::string event_mapper::reasoning_message() const {
  return reasoning_id(ids_.stored_run, turn_.step, turn_.attempt);
}

}  // namespace agui
