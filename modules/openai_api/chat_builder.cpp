#include "chat_builder.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <common/call_events.hpp>
#include <utility>

#include "ids.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::string_view answer_break = "\n\n";

}  // namespace

void chat_builder::apply(std::string_view text, chunks& out) {
  if (ended_) return;
  const json::object event = parse_object(text);
  const std::string_view type = module_json::text_at(event, "type");
  const std::string_view content = module_json::text_at(event, "content");
  const std::string_view call = module_json::text_at(event, "tool_call_id");
  tool_calls::apply_event(states_, event);
  if (type == "llm_response_start" || type == "turn_aborted") {
    answer_.clear();
    answer_reasoning_.clear();
  } else if (type == "llm_response_chunk") {
    if (!who_.only_output) on_text(content, out);
  } else if (type == "reasoning_chunk") {
    begin(out);
    answer_reasoning_ += content;
    emit(out, {{"reasoning_content", content}});
  } else if (type == "llm_response_end") {
    text_ += std::exchange(answer_, {});
    reasoning_ += std::exchange(answer_reasoning_, {});
    const std::string_view reason = module_json::text_at(event, "finish");
    separate_ = reason != "length" && reason != "pause" && !text_.empty();
  } else if (type == "tool_call" && module_json::text_at(event, "source") == client_source) {
    on_tool_call(event, out);
  } else if (type == "tool_result") {
    // The server has refused a call of the client's tool, and the model has the result.
    const auto gone = std::find_if(calls_.begin(), calls_.end(), [call](const json::value& c) {
      return module_json::text_at(c.get_object(), "id") == call;
    });
    if (gone != calls_.end()) calls_.erase(gone);
  } else if (type == "status" && is_terminal(event)) {
    if (const json::object* usage = module_json::object_at(event, "usage")) usage_.add(*usage);
    run_result result = result_of(event, who_.only_output);
    if (who_.only_output && result.end == run_end::completed) on_text(result.output, out);
    text_ += std::exchange(answer_, {});
    finish(std::move(result), out);
  }
}

json::object chat_builder::envelope(std::string_view object) const {
  json::object o;
  o["id"] = completion_id(who_.run);
  o["object"] = object;
  o["created"] = created_ms(who_.run) / 1000;
  o["model"] = who_.model;
  o["service_tier"] = "default";
  o["system_fingerprint"] = nullptr;
  return o;
}

void chat_builder::emit(chunks& out, json::object delta, json::value finish_reason) {
  json::object choice;
  choice["index"] = 0;
  choice["delta"] = std::move(delta);
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = std::move(finish_reason);
  json::object chunk = envelope("chat.completion.chunk");
  json::array choices;
  choices.push_back(std::move(choice));
  chunk["choices"] = std::move(choices);
  if (who_.include_usage) chunk["usage"] = nullptr;
  out.push_back(std::move(chunk));
}

void chat_builder::begin(chunks& out) {
  if (std::exchange(begun_, true)) return;
  emit(out, {{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}});
}

void chat_builder::on_text(std::string_view text, chunks& out) {
  begin(out);
  std::string delta;
  if (separate_ && answer_.empty()) delta = answer_break;
  delta += text;
  answer_ += delta;
  emit(out, {{"content", delta}});
}

void chat_builder::on_tool_call(const json::object& event, chunks& out) {
  begin(out);
  const json::value* arguments = module_json::member_at(event, "arguments");
  json::object f;
  f["name"] = module_json::text_of(event, "name");
  f["arguments"] = arguments != nullptr ? json::serialize(*arguments) : std::string("{}");
  json::object call;
  call["id"] = module_json::text_of(event, "tool_call_id");
  call["type"] = "function";
  call["function"] = std::move(f);
  json::object delta = call;
  delta["index"] = calls_.size();
  calls_.push_back(std::move(call));
  json::array list;
  list.push_back(std::move(delta));
  emit(out, {{"tool_calls", std::move(list)}});
}

std::string_view chat_builder::finish_reason() const {
  switch (result_.end) {
    case run_end::tool_calls:
      return "tool_calls";
    case run_end::length:
      return "length";
    case run_end::content_filter:
      return "content_filter";
    default:
      return "stop";
  }
}

json::object chat_builder::usage() const {
  json::object o;
  o["prompt_tokens"] = usage_.input;
  o["completion_tokens"] = usage_.output;
  o["total_tokens"] = usage_.input + usage_.output;
  o["prompt_tokens_details"] = json::object{{"cached_tokens", usage_.cached}, {"audio_tokens", 0}};
  o["completion_tokens_details"] = json::object{{"reasoning_tokens", 0}, {"audio_tokens", 0}};
  return o;
}

void chat_builder::finish(run_result result, chunks& out) {
  result_ = std::move(result);
  ended_ = true;
  if (failed()) return;
  begin(out);
  emit(out, {}, json::value(finish_reason()));
  if (!who_.include_usage) return;
  json::object chunk = envelope("chat.completion.chunk");
  chunk["choices"] = json::array();
  chunk["usage"] = usage();
  out.push_back(std::move(chunk));
}

void chat_builder::refuse_wait() {
  result_ = {run_end::failed, std::string(approval_required_code), std::string(approval_required_text)};
  ended_ = true;
}

api_error chat_builder::failure() const {
  if (result_.code == approval_required_code) return approval_required();
  if (result_.code == "insufficient_quota") {
    api_error out(429, "insufficient_quota", result_.code, "", result_.message);
    out.retry = false;
    return out;
  }
  // The server has retried already.
  api_error out(500, "server_error", result_.code, "", result_.message);
  out.retry = false;
  return out;
}

json::object chat_builder::completion() const {
  json::object message;
  message["role"] = "assistant";
  message["content"] = text_.empty() && !calls_.empty() ? json::value(nullptr) : json::value(text_);
  message["refusal"] = nullptr;
  message["annotations"] = json::array();
  if (!reasoning_.empty()) message["reasoning_content"] = reasoning_;
  if (!calls_.empty()) message["tool_calls"] = calls_;
  json::object choice;
  choice["index"] = 0;
  choice["message"] = std::move(message);
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = finish_reason();
  json::object o = envelope("chat.completion");
  json::array choices;
  choices.push_back(std::move(choice));
  o["choices"] = std::move(choices);
  o["usage"] = usage();
  return o;
}

}  // namespace openai_api
