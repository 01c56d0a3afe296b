#include "response_builder.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <utility>

#include "ids.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::int64_t ms_per_second = 1000;

json::object usage_object(const token_usage& u) {
  json::object out;
  out["input_tokens"] = u.input;
  out["input_tokens_details"] = json::object{{"cached_tokens", u.cached}, {"cache_write_tokens", u.cache_write}};
  out["output_tokens"] = u.output;
  out["output_tokens_details"] = json::object{{"reasoning_tokens", 0}};
  out["total_tokens"] = u.input + u.output;
  return out;
}

json::object output_text(std::string_view text) {
  json::object part;
  part["type"] = "output_text";
  part["text"] = text;
  part["annotations"] = json::array();
  part["logprobs"] = json::array();
  return part;
}

json::object summary_text(std::string_view text) {
  json::object part;
  part["type"] = "summary_text";
  part["text"] = text;
  return part;
}

std::string arguments_of(const json::object& event) {
  const json::value* given = module_json::member_at(event, "arguments");
  return given != nullptr ? json::serialize(*given) : "{}";
}

}  // namespace

void response_builder::apply(std::uint64_t sequence, std::string_view text, std::vector<json::object>& out) {
  if (ended_) return;
  sequence_ = sequence;
  position_ = 0;
  const json::object event = parse_object(text);
  const std::string_view type = module_json::text_at(event, "type");
  if (type == "gap") {
    trimmed_ = trimmed_ || (!begun_ && module_json::integer_at(event, "from") == 1);
    return;
  }
  begin(out);
  on_event(type, event, out);
  while (!ended_ && ends_here()) end_part(out);
}

void response_builder::on_event(std::string_view type, const json::object& event, events& out) {
  if (type == "status") return on_status(event, out);
  if (type == "queued" && status_ != "queued") {
    status_ = "queued";
    return emit_lifecycle(out, "response.queued");
  }
  if (type == "llm_response_start") return on_answer_start(event, out);
  if (type == "llm_response_chunk") {
    if (who_.only_output) return;
    return on_chunk(item::kind::message, module_json::text_at(event, "content"), out);
  }
  if (type == "reasoning_chunk") return on_chunk(item::kind::reasoning, module_json::text_at(event, "content"), out);
  if (type == "llm_response_end") return on_answer_end(event, out);
  if (type == "turn_aborted") return void_attempt(out);
  if (type == "tool_call") return on_tool_call(event, out);
  if (type == "tool_result") return on_tool_result(event, out);
  if (type == "tool_results_requested") return on_results_requested(out);
  if (type == "approval_requested") return on_approval_requested(event, out);
  if (type == "approval_resolved") return on_approval_resolved(event, out);
}

json::object response_builder::response() const {
  json::object o;
  const ry::uuid id = who_.id.value_or(who_.run);
  o["id"] = response_id(id);
  o["object"] = "response";
  o["created_at"] = created_ms(id) / ms_per_second;
  o["status"] = status_;
  o["completed_at"] = completed_at_;
  o["error"] = error_;
  o["incomplete_details"] = incomplete_;
  for (const auto& m : who_.base) o[m.key()] = m.value();
  o["conversation"] =
      who_.stored ? json::value(json::object{{"id", conversation_id(who_.thread)}}) : json::value(nullptr);
  json::array output;
  for (const item& i : items_)
    if (!i.is_void && !is_earlier()) output.push_back(item_value(i));
  o["output"] = std::move(output);
  o["usage"] = has_usage_ ? json::value(usage_object(usage_)) : json::value(nullptr);
  return o;
}

void response_builder::emit(events& out, json::object event) {
  if (is_earlier()) return;
  event["sequence_number"] = (sequence_ - 1) * stride + position_++;
  out.push_back(std::move(event));
}

void response_builder::emit_item(events& out, std::string_view type, std::size_t index, json::object members) {
  json::object event;
  event["type"] = type;
  event["item_id"] = items_[index].value.at("id");
  event["output_index"] = index;
  for (const auto& m : members) event[m.key()] = m.value();
  emit(out, std::move(event));
}

void response_builder::emit_lifecycle(events& out, std::string_view type) {
  json::object event;
  event["type"] = type;
  event["response"] = response();
  emit(out, std::move(event));
}

void response_builder::emit_done(json::object item, std::size_t index, events& out) {
  json::object done;
  done["type"] = "response.output_item.done";
  done["output_index"] = index;
  done["item"] = std::move(item);
  emit(out, std::move(done));
}

void response_builder::begin(events& out) {
  if (std::exchange(begun_, true)) return;
  emit_lifecycle(out, "response.created");
  emit_lifecycle(out, "response.in_progress");
}

void response_builder::resume(events& out) {
  if (status_ != "queued") return;
  status_ = "in_progress";
  emit_lifecycle(out, "response.in_progress");
}

void response_builder::on_status(const json::object& event, events& out) {
  if (!is_terminal(event)) return;
  if (const json::object* usage = module_json::object_at(event, "usage")) usage_.add(*usage);
  has_usage_ = true;
  if (const std::int64_t ms = created_ms(who_.run); ms != 0)
    completed_at_ = (ms + module_json::integer_at(event, "duration_ms")) / ms_per_second;
  finish(result_of(event, who_.only_output), out);
}

void response_builder::on_answer_start(const json::object& event, events& out) {
  resume(out);
  states_.begin_answer();
  client_calls_.clear();
  const std::int64_t step = module_json::integer_at(event, "step");
  if (step == step_) return void_attempt(out);
  close_text("completed", out);
  step_ = step;
  attempt_begin_ = items_.size();
}

std::size_t response_builder::add_item(item::kind of, json::object value, events& out) {
  items_.emplace_back();
  items_.back().of = of;
  items_.back().value = std::move(value);
  const std::size_t index = items_.size() - 1;
  json::object event;
  event["type"] = "response.output_item.added";
  event["output_index"] = index;
  event["item"] = items_.back().value;
  emit(out, std::move(event));
  return index;
}

void response_builder::begin_text(item::kind of, events& out) {
  json::object value;
  const bool is_message = of == item::kind::message;
  value["type"] = is_message ? "message" : "reasoning";
  value["id"] = item_id(is_message ? "msg" : "rs", who_.run, sequence_);
  value["status"] = "in_progress";
  if (is_message) value["role"] = "assistant";
  value[is_message ? "content" : "summary"] = json::array();
  text_ = add_item(of, std::move(value), out);
  if (is_message)
    emit_item(out, "response.content_part.added", *text_, {{"content_index", 0}, {"part", output_text("")}});
  else
    emit_item(out, "response.reasoning_summary_part.added", *text_, {{"summary_index", 0}, {"part", summary_text("")}});
}

void response_builder::on_chunk(item::kind of, std::string_view text, events& out) {
  if (text.empty()) return;
  if (text_ && items_[*text_].of != of) close_text("completed", out);
  if (!text_) begin_text(of, out);
  items_[*text_].text += text;
  json::object members;
  members["delta"] = text;
  if (of == item::kind::message) {
    members["content_index"] = 0;
    members["logprobs"] = json::array();
    emit_item(out, "response.output_text.delta", *text_, std::move(members));
  } else {
    members["summary_index"] = 0;
    emit_item(out, "response.reasoning_summary_text.delta", *text_, std::move(members));
  }
}

json::object response_builder::content_of(const item& i) const {
  return i.of == item::kind::message ? output_text(i.text) : summary_text(i.text);
}

json::object response_builder::item_value(const item& i) const {
  json::object out = i.value;
  if (i.of != item::kind::message && i.of != item::kind::reasoning) return out;
  json::array parts;
  parts.push_back(content_of(i));
  out[i.of == item::kind::message ? "content" : "summary"] = std::move(parts);
  return out;
}

void response_builder::close_text(std::string_view status, events& out) {
  if (!text_) return;
  const std::size_t index = *text_;
  text_.reset();
  item& i = items_[index];
  i.open = false;
  i.value["status"] = status;
  const bool is_message = i.of == item::kind::message;
  json::object text, part;
  text[is_message ? "content_index" : "summary_index"] = 0;
  part = text;
  text["text"] = i.text;
  if (is_message) text["logprobs"] = json::array();
  part["part"] = content_of(i);
  emit_item(out, is_message ? "response.output_text.done" : "response.reasoning_summary_text.done", index,
            std::move(text));
  emit_item(out, is_message ? "response.content_part.done" : "response.reasoning_summary_part.done", index,
            std::move(part));
  emit_done(item_value(i), index, out);
}

// The text of the current answer was generated by an attempt that failed. The stream format cannot retract it: the
// item ends as incomplete, and the next attempt begins another item.
void response_builder::void_attempt(events& out) {
  close_text("incomplete", out);
  for (std::size_t i = attempt_begin_; i < items_.size(); ++i)
    if (items_[i].of == item::kind::message || items_[i].of == item::kind::reasoning) items_[i].is_void = true;
}

void response_builder::on_answer_end(const json::object& event, events& out) {
  const std::string_view finish_reason = module_json::text_at(event, "finish");
  const bool whole = finish_reason == "stop" || finish_reason == "tool_calls" || finish_reason == "pause";
  close_text(whole ? "completed" : "incomplete", out);
  attempt_begin_ = items_.size();
}

void response_builder::on_tool_call(const json::object& event, events& out) {
  if (module_json::text_at(event, "source") == client_source) {
    client_calls_.emplace_back(sequence_, event);
    return;
  }
  states_.called(module_json::text_at(event, "tool_call_id"));
  add_call(event, {}, out);
}

// `event`: the call, or the request for its approval.
void response_builder::add_call(const json::object& event, std::string_view approval_id, events& out) {
  const std::string arguments = arguments_of(event);
  json::object value;
  value["type"] = "mcp_call";
  // The id of an approved call must not depend on the response that contains the call.
  value["id"] = approval_id.empty() ? item_id("mcp", who_.run, sequence_) : approved_call_id(approval_id);
  value["status"] = "in_progress";
  value["name"] = module_json::text_of(event, "name");
  value["arguments"] = "";
  value["server_label"] = server_label(module_json::text_at(event, "source"));
  value["approval_request_id"] = approval_id.empty() ? json::value(nullptr) : json::value(approval_id);
  value["output"] = nullptr;
  value["error"] = nullptr;
  const std::size_t index = add_item(item::kind::mcp_call, std::move(value), out);
  items_[index].value["arguments"] = arguments;
  calls_[module_json::text_of(event, "tool_call_id")] = index;
  emit_item(out, "response.mcp_call.in_progress", index);
  emit_item(out, "response.mcp_call_arguments.delta", index, {{"delta", arguments}});
  emit_item(out, "response.mcp_call_arguments.done", index, {{"arguments", arguments}});
}

void response_builder::add_function_call(const json::object& event, std::uint64_t sequence, events& out) {
  const std::string arguments = arguments_of(event);
  json::object value;
  value["type"] = "function_call";
  value["id"] = item_id("fc", who_.run, sequence);
  value["status"] = "in_progress";
  value["call_id"] = module_json::text_of(event, "tool_call_id");
  value["name"] = module_json::text_of(event, "name");
  value["arguments"] = "";
  const std::size_t index = add_item(item::kind::function_call, std::move(value), out);
  items_[index].value["arguments"] = arguments;
  emit_item(out, "response.function_call_arguments.delta", index, {{"delta", arguments}});
  emit_item(out, "response.function_call_arguments.done", index, {{"arguments", arguments}});
  close_call(index, "completed", out);
  calls_[module_json::text_of(event, "tool_call_id")] = index;
}

// A run that was started through another API waits for the client's results.
void response_builder::on_results_requested(events& out) {
  for (const auto& [sequence, call] : std::exchange(client_calls_, {})) add_function_call(call, sequence, out);
}

void response_builder::close_call(std::size_t index, std::string_view status, events& out) {
  item& i = items_[index];
  if (!i.open) return;
  i.open = false;
  i.value["status"] = status;
  emit_done(i.value, index, out);
}

// A call that needs an approval is not made: its item ends as incomplete, and the request for the approval follows.
void response_builder::void_call(std::size_t index, events& out) {
  close_call(index, "incomplete", out);
  items_[index].is_void = true;
}

void response_builder::list_approval(std::string_view id, approval& a, events& out) {
  a.listed = true;
  json::object value;
  value["type"] = "mcp_approval_request";
  value["id"] = id;
  value["name"] = module_json::text_of(a.call, "name");
  value["arguments"] = arguments_of(a.call);
  value["server_label"] = server_label(module_json::text_at(a.call, "source"));
  const std::size_t index = add_item(item::kind::approval_request, std::move(value), out);
  items_[index].open = false;
  emit_done(items_[index].value, index, out);
}

// After a crash, a run can report a request again.
void response_builder::on_approval_requested(const json::object& event, events& out) {
  const std::string call = module_json::text_of(event, "tool_call_id");
  if (const auto found = calls_.find(call); found != calls_.end()) {
    void_call(found->second, out);
    calls_.erase(found);
  }
  const std::optional<ry::uuid> id = ry::uuid::parse(module_json::text_at(event, "approval_id"));
  if (!id) return;
  const auto [at, is_new] = approvals_.try_emplace(approval_request_id(who_.run, *id));
  if (at->second.resolved) return;
  states_.approval_requested(call);
  if (!is_new) return;
  at->second.call = event;
  list_approval(at->first, at->second, out);
}

// A remembered decision has no request; its call is made at once.
void response_builder::on_approval_resolved(const json::object& event, events& out) {
  const std::optional<ry::uuid> id = ry::uuid::parse(module_json::text_at(event, "approval_id"));
  const auto found = id ? approvals_.find(approval_request_id(who_.run, *id)) : approvals_.end();
  if (found == approvals_.end() || found->second.resolved) return;
  approval& a = found->second;
  a.resolved = true;
  a.approved = module_json::text_at(event, "status") == "approved";
  states_.approval_resolved(module_json::text_at(event, "tool_call_id"));
  // The run makes the calls only when all approvals are decided.
  if (!a.approved || ends_here()) return;
  a.called = true;
  add_call(a.call, found->first, out);
}

bool response_builder::ends_here() const {
  if (!who_.ends_at_waits || !states_.waiting()) return false;
  if (part_ == 0) return true;
  const std::set<std::string>& answered = who_.answered[part_ - 1];
  return std::all_of(answered.begin(), answered.end(), [this](const std::string& id) {
    const auto found = approvals_.find(id);
    return found == approvals_.end() || found->second.resolved;
  });
}

void response_builder::begin_next_part() {
  ++part_;
  items_.clear();
  calls_.clear();
  text_.reset();
  attempt_begin_ = 0;
  begun_ = false;
  for (auto& [id, a] : approvals_) a.listed = a.called = false;
}

void response_builder::end_part(events& out) {
  if (is_earlier()) {
    begin_next_part();
    // Without this event, the response would have none if the run waits again at once.
    if (ends_here()) begin(out);
    return;
  }
  close_text("completed", out);
  for (const auto& [call, index] : calls_) void_call(index, out);
  for (auto& [id, a] : approvals_)
    if (!a.resolved && !a.listed) list_approval(id, a, out);
  status_ = "completed";
  ended_ = true;
  emit_lifecycle(out, "response.completed");
}

void response_builder::refuse_wait(events& out) {
  for (item& i : items_)
    if (i.of == item::kind::approval_request) i.is_void = true;
  finish({run_end::failed, std::string(approval_required_code), std::string(approval_required_text)}, out);
}

void response_builder::on_tool_result(const json::object& event, events& out) {
  const std::string call = module_json::text_of(event, "tool_call_id");
  states_.finished(call);
  // The server has refused a call of the client's tool, and the model has the result.
  client_calls_.erase(
      std::remove_if(client_calls_.begin(), client_calls_.end(),
                     [&call](const auto& c) { return module_json::text_at(c.second, "tool_call_id") == call; }),
      client_calls_.end());
  for (auto& [id, a] : approvals_) {
    if (!a.resolved || a.finished || module_json::text_at(a.call, "tool_call_id") != call) continue;
    a.finished = true;
    // An approval that was decided in an earlier response has no item here.
    if (a.approved && !a.called) add_call(a.call, id, out);
  }
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  const std::size_t index = found->second;
  calls_.erase(found);
  item& i = items_[index];
  if (i.of == item::kind::function_call) {
    i.is_void = true;
    return;
  }
  const std::string content = module_json::text_of(event, "content");
  const bool failed = module_json::flag_at(event, "is_error");
  if (failed)
    i.value["error"] = json::object{{"type", "mcp_tool_execution_error"}, {"content", content}};
  else
    i.value["output"] = content;
  emit_item(out, failed ? "response.mcp_call.failed" : "response.mcp_call.completed", index);
  close_call(index, failed ? "failed" : "completed", out);
}

void response_builder::finish(const run_result& result, events& out) {
  const bool completed = result.end == run_end::completed || result.end == run_end::tool_calls;
  if (who_.only_output && result.end == run_end::completed) on_chunk(item::kind::message, result.output, out);
  close_text(completed ? "completed" : "incomplete", out);
  for (std::size_t i = 0; i < items_.size(); ++i) close_call(i, "incomplete", out);
  if (result.end == run_end::tool_calls)
    for (const auto& [sequence, call] : client_calls_) add_function_call(call, sequence, out);
  ended_ = true;
  std::string_view type = "response.incomplete";
  switch (result.end) {
    case run_end::completed:
    case run_end::tool_calls:
      status_ = "completed";
      type = "response.completed";
      break;
    case run_end::length:
      status_ = "incomplete";
      incomplete_ = json::object{{"reason", "max_output_tokens"}};
      break;
    case run_end::content_filter:
      status_ = "incomplete";
      incomplete_ = json::object{{"reason", "content_filter"}};
      break;
    case run_end::failed:
      status_ = "failed";
      error_ = json::object{{"code", result.code}, {"message", result.message}};
      type = "response.failed";
      break;
    case run_end::cancelled:
      status_ = "cancelled";  // the stream format has no event for this status
      break;
  }
  if (status_ != "completed") completed_at_ = nullptr;
  emit_lifecycle(out, type);
}

}  // namespace openai_api
