#include "chunk_mapper.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <json/exact.hpp>
#include <json/members.hpp>
#include <utility>

namespace aisdk {
namespace {

namespace json = boost::json;
using module_json::flag_at;
using module_json::integer_at;
using module_json::member_at;
using module_json::text_at;

constexpr std::size_t event_depth = 256;
constexpr std::size_t tag_length = 12;  // the random part of a UUIDv7

json::string_view view(std::string_view s) {
  return {s.data(), s.size()};
}

std::string_view finish_reason_of(std::string_view status, std::string_view reason) {
  if (reason == "tool_calls") return "tool-calls";
  if (reason == "length") return "length";
  if (reason == "content_filter") return "content-filter";
  if (status == "failed") return "error";
  return reason == "ok" ? "stop" : "other";
}

}  // namespace

void chunk_mapper::write(const object& chunk) {
  if (skipping_) return delta_.clear();
  write_delta();
  wire_.append("data: ").append(json::serialize(chunk)).append("\n\n");
}

void chunk_mapper::write_delta() {
  if (skipping_) delta_.clear();
  if (delta_.empty()) return;
  const object chunk{
      {"type", open_ == part::text ? "text-delta" : "reasoning-delta"}, {"id", open_id_}, {"delta", delta_}};
  delta_.clear();
  wire_.append("data: ").append(json::serialize(chunk)).append("\n\n");
}

// A part of a call in the current step. shown: the client has it, if it shows this step.
void chunk_mapper::write_call_part(object chunk, bool shown) {
  if (!skipping_) return write(chunk);
  if (!shown) held_.push_back(std::move(chunk));
}

void chunk_mapper::skip_shown(shown_parts shown) {
  write_delta();
  shown_ = std::move(shown);
  skipping_ = !shown_.approvals.empty();
}

void chunk_mapper::end_skip() {
  skipping_ = false;
  for (const object& chunk : held_) write(chunk);
  held_.clear();
  // The stream before has ended the step.
  step_ = 0;
}

// Transient parts are not part of the message; the client gets them in onData.
void chunk_mapper::write_data(std::string_view type, object data) {
  write({{"type", "data-" + std::string(type)}, {"data", std::move(data)}, {"transient", true}});
}

void chunk_mapper::begin_message(std::string_view message_id, std::string_view run_id, std::string_view thread_id) {
  write({{"type", "start"},
         {"messageId", view(message_id)},
         {"messageMetadata",
          object{{"runId", view(run_id)}, {"threadId", view(thread_id)}, {"ended", false}, {"waiting", false}}}});
}

void chunk_mapper::begin_run(std::string_view run_id, bool last) {
  run_id_ = std::string(run_id);
  run_tag_ = run_id_.substr(run_id_.size() > tag_length ? run_id_.size() - tag_length : 0);
  last_run_ = last;
  parts_ = 0;
  step_ = 0;
  step_has_parts_ = false;
}

void chunk_mapper::add_client_output(std::string_view call_id, std::string_view content, bool is_error) {
  const auto found = open_calls_.find(call_id);
  if (found == open_calls_.end()) return;  // the SDK refuses an output without its call
  open_calls_.erase(found);
  if (is_error)
    write({{"type", "tool-output-error"}, {"toolCallId", view(call_id)}, {"errorText", view(content)}});
  else
    write({{"type", "tool-output-available"}, {"toolCallId", view(call_id)}, {"output", output_value(content)}});
}

void chunk_mapper::add_text(part kind, std::string_view text) {
  if (text.empty()) return;
  if (open_ != kind) {
    close_part();
    // An SDK client keeps a delta only within a step.
    if (step_ == 0) begin_step({});
    open_id_ = run_tag_ + "-" + std::to_string(++parts_);
    write({{"type", kind == part::text ? "text-start" : "reasoning-start"}, {"id", open_id_}});
    open_ = kind;
    step_has_parts_ = true;
  }
  delta_ += text;
}

void chunk_mapper::close_part() {
  if (open_ == part::none) return;
  write({{"type", open_ == part::text ? "text-end" : "reasoning-end"}, {"id", open_id_}});
  open_ = part::none;
}

void chunk_mapper::begin_step(const object& event) {
  const std::int64_t step = integer_at(event, "step", 1);
  if (step == step_) return reset_step();
  finish_step();
  write({{"type", "start-step"}});
  step_ = step;
  states_.begin_answer();
  held_.clear();
}

// Removes the parts of an aborted attempt from the client's message. A step without parts needs none: clients before
// version 7 of the SDK do not know this part.
void chunk_mapper::reset_step() {
  delta_.clear();
  open_ = part::none;
  for (auto at = open_calls_.begin(); at != open_calls_.end();)
    at = at->second.step == step_ && step_ != 0 ? open_calls_.erase(at) : std::next(at);
  if (step_has_parts_) write({{"type", "reset-step"}});
  step_has_parts_ = false;
}

// A step ends before the next one and at the end of the run, because the calls of an answer and their results follow
// its end.
void chunk_mapper::finish_step() {
  close_part();
  if (step_ == 0) return;
  write({{"type", "finish-step"}});
  step_ = 0;
  step_has_parts_ = false;
}

void chunk_mapper::add_call(const object& event) {
  const std::string_view id = text_at(event, "tool_call_id");
  if (id.empty()) return;
  close_part();
  const bool client = text_at(event, "source") == "client";
  const json::value* arguments = member_at(event, "arguments");
  object chunk{{"type", "tool-input-available"},
               {"toolCallId", view(id)},
               {"toolName", view(text_at(event, "name"))},
               {"input", arguments != nullptr ? *arguments : json::value(object())}};
  if (!client) {
    chunk["dynamic"] = true;
    chunk["providerExecuted"] = true;
  }
  write_call_part(std::move(chunk), shown_.calls.contains(id));
  open_calls_[std::string(id)] = {client, step_};
  if (!client) states_.called(id);
  step_has_parts_ = true;
}

// A run can report a request again.
void chunk_mapper::add_approval(const object& event) {
  const std::string_view id = text_at(event, "approval_id"), call = text_at(event, "tool_call_id");
  if (open_calls_.find(call) == open_calls_.end()) return;
  if (approvals_.emplace(id, false).second) {
    states_.approval_requested(call);
    write_call_part({{"type", "tool-approval-request"},
                     {"approvalId", view(id)},
                     {"toolCallId", view(call)},
                     {"approvalDescriptor", object{{"expiresAt", view(text_at(event, "expires_at"))}}}},
                    shown_.approvals.contains(id));
  }
  const auto requested = [this](const std::string& a) { return approvals_.contains(a); };
  if (skipping_ && std::all_of(shown_.approvals.begin(), shown_.approvals.end(), requested)) end_skip();
}

void chunk_mapper::add_decision(const object& event) {
  const std::string_view id = text_at(event, "approval_id"), call = text_at(event, "tool_call_id");
  if (skipping_ && shown_.approvals.contains(id) && !approvals_.contains(id)) {
    // The log does not have the request any more.
    end_skip();
    open_calls_[std::string(call)] = {};
    approvals_.emplace(id, false);
  }
  const auto approval = approvals_.find(id);
  const auto found = open_calls_.find(call);
  // The SDK refuses a response without its request. A remembered decision has none.
  if (approval == approvals_.end() || found == open_calls_.end()) return;
  approval->second = true;
  states_.approval_resolved(call);
  const std::string_view status = text_at(event, "status");
  std::string_view reason = text_at(event, "reason");
  if (status == "expired") reason = "No decision was made in time.";
  found->second.denied = status != "approved";
  object chunk{{"type", "tool-approval-response"},
               {"approvalId", view(id)},
               {"approved", status == "approved"},
               {"providerExecuted", true}};
  if (!reason.empty()) chunk["reason"] = view(reason);
  write_call_part(std::move(chunk), false);
}

void chunk_mapper::add_result(const object& event) {
  const auto found = open_calls_.find(text_at(event, "tool_call_id"));
  if (found == open_calls_.end()) return;
  states_.finished(found->first);
  const bool shown = shown_.outputs.contains(found->first);
  if (found->second.denied) {
    write_call_part({{"type", "tool-output-denied"}, {"toolCallId", found->first}}, shown);
    open_calls_.erase(found);
    return;
  }
  const bool failed = flag_at(event, "is_error");
  object chunk{{"type", failed ? "tool-output-error" : "tool-output-available"},
               {"toolCallId", found->first},
               {failed ? "errorText" : "output", view(text_at(event, "content"))}};
  if (!found->second.client) {
    chunk["dynamic"] = true;
    chunk["providerExecuted"] = true;
  }
  open_calls_.erase(found);
  write_call_part(std::move(chunk), shown);
}

void chunk_mapper::fail_open_calls(std::string_view message) {
  for (const auto& [id, call] : open_calls_) {
    if (call.client) continue;
    write({{"type", "tool-output-error"},
           {"toolCallId", id},
           {"errorText", view(message)},
           {"dynamic", true},
           {"providerExecuted", true}});
  }
  open_calls_.clear();
}

json::object chunk_mapper::metadata_of(const object& event) const {
  object out{{"runId", run_id_}, {"ended", true}, {"reason", view(text_at(event, "reason"))}};
  if (const object* usage = module_json::object_at(event, "usage")) {
    const std::int64_t input = integer_at(*usage, "input_tokens"), output = integer_at(*usage, "output_tokens");
    out["usage"] = object{{"inputTokens", input},
                          {"outputTokens", output},
                          {"totalTokens", input + output},
                          {"cachedInputTokens", integer_at(*usage, "cached_tokens")}};
  }
  if (const json::value* credits = member_at(event, "credits")) out["credits"] = *credits;
  if (const std::string_view code = text_at(event, "error_code"); !code.empty()) out["errorCode"] = view(code);
  return out;
}

void chunk_mapper::add_status(const object& event) {
  const std::string_view status = text_at(event, "status");
  if (status.empty() || status == "running") return;
  if (!last_run_) return finish_step();
  finished_ = true;
  if (skipping_) end_skip();
  close_part();
  const object metadata = metadata_of(event);
  const std::string_view reason = finish_reason_of(status, text_at(event, "reason"));
  if (status == "completed") {
    finish_step();
    return write({{"type", "finish"}, {"finishReason", view(reason)}, {"messageMetadata", metadata}});
  }
  fail_open_calls("The run ended before the tool call did.");
  // An empty step separates the end from the previous run's calls; otherwise lastAssistantMessageIsCompleteWithToolCalls
  // would send their outputs again.
  if (step_ == 0) begin_step({});
  finish_step();
  // A client stops reading at `error`, so the metadata precede it.
  write({{"type", "message-metadata"}, {"messageMetadata", metadata}});
  if (status == "failed") {
    const std::string_view text = text_at(event, "error");
    write({{"type", "error"}, {"errorText", view(text.empty() ? "The run failed." : text)}});
  } else {
    write({{"type", "abort"}, {"reason", view(text_at(event, "reason"))}});
  }
  write({{"type", "finish"}, {"finishReason", view(reason)}});
}

void chunk_mapper::add_event(std::string_view event_json) {
  boost::system::error_code bad;
  const json::value v = module_json::parse_exactly(event_json, event_depth, bad);
  if (bad || !v.is_object()) return;
  const object& e = v.get_object();
  const std::string_view type = text_at(e, "type");
  const auto text = [&e](std::string_view key) { return view(text_at(e, key)); };
  if (type == "llm_response_chunk") {
    add_text(part::text, text_at(e, "content"));
  } else if (type == "reasoning_chunk") {
    add_text(part::reasoning, text_at(e, "content"));
  } else if (type == "llm_response_start") {
    begin_step(e);
  } else if (type == "llm_response_end") {
    close_part();
  } else if (type == "turn_aborted") {
    // After a crash, the log may lack the start of the aborted answer; the open step is then an earlier, complete one.
    if (integer_at(e, "step", step_) == step_) reset_step();
  } else if (type == "tool_call") {
    add_call(e);
  } else if (type == "tool_result") {
    add_result(e);
  } else if (type == "approval_requested") {
    add_approval(e);
  } else if (type == "approval_resolved") {
    add_decision(e);
  } else if (type == "status") {
    add_status(e);
  } else if (type == "tool_output_chunk") {
    write_data("tool-output", {{"toolCallId", text("tool_call_id")}, {"content", text("content")}});
  } else if (type == "tool_progress") {
    write_data("tool-progress", {{"toolCallId", text("tool_call_id")}, {"message", text("message")}});
  } else if (type == "queued") {
    write_data("queued", {{"position", integer_at(e, "position")}});
  } else if (type == "notice") {
    notify(text_at(e, "code"), text_at(e, "message"));
  } else if (type == "error") {
    notify(text_at(e, "error_code"), text_at(e, "message"));
  } else if (type == "context_compacted") {
    notify("context_compacted", "Older messages were replaced by a summary in the requests to the model.");
  }
}

void chunk_mapper::notify(std::string_view code, std::string_view message) {
  write_data("notice", {{"code", view(code)}, {"message", view(message)}});
}

std::set<std::string> chunk_mapper::pending_approvals() const {
  std::set<std::string> out;
  if (skipping_ || !last_run_ || !states_.waiting()) return out;
  for (const auto& [id, decided] : approvals_)
    if (!decided) out.insert(id);
  return out;
}

void chunk_mapper::wait() {
  finish_step();
  write({{"type", "finish"},
         {"finishReason", "tool-calls"},
         {"messageMetadata", object{{"runId", run_id_}, {"ended", false}, {"waiting", true}}}});
}

void chunk_mapper::interrupt(std::string_view message) {
  write({{"type", "error"}, {"errorText", view(message)}});
}

void chunk_mapper::end() {
  write_delta();
  wire_ += "data: [DONE]\n\n";
}

std::string chunk_mapper::take() {
  write_delta();
  return std::exchange(wire_, {});
}

}  // namespace aisdk
