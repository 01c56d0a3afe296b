#include "chat_reader.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "context_length.hpp"
#include "request.hpp"
#include "retry_hint.hpp"

namespace openai {

namespace json = boost::json;
using llm::array_at;
using llm::object_at;
using llm::text_at;

namespace {

constexpr int max_learnings = 4;  // a provider whose chunks never repeat is not learned for ever
constexpr std::size_t max_calls = 128;
constexpr std::size_t max_arguments = 16 * 1024 * 1024;

std::int64_t number_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return 0;
  boost::system::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  return ec || n < 0 ? 0 : n;
}

// {"error": {...}} or {"error": "text"} of a body or of an event in mid-stream.
llm::failure cause_of(const json::object& body, unsigned http_status) {
  std::string message, code, type;
  if (const auto* e = object_at(body, "error")) {
    message = text_at(*e, "message");
    type = text_at(*e, "type");
    code = text_at(*e, "code");
    if (const auto n = number_at(*e, "code"); n >= 400 && n < 600 && http_status == 0)
      http_status = static_cast<unsigned>(n);
  } else {
    message = text_at(body, "error");
  }
  if (message.empty()) message = text_at(body, "message");
  if (message.empty()) message = text_at(body, "detail");
  if (llm::names_context_too_long(code) || llm::names_context_too_long(type) || llm::says_context_too_long(message))
    return {RY_OUT_OF_RANGE, "llm.context_too_long", std::move(message)};
  if (http_status == 0) {
    if (code == "rate_limit_exceeded" || type == "rate_limit_error" || type == "tokens")
      http_status = 429;
    else if (type == "invalid_request_error")
      http_status = 400;
    else
      http_status = 500;
  }
  if (code == "insufficient_quota") return {RY_UNAUTHENTICATED, "llm.quota", std::move(message)};
  if (code == "model_not_found") http_status = 404;
  return llm::failure_of_status(http_status, std::move(message));
}

llm::failure failure_of(const json::object& body, unsigned http_status) {
  auto f = cause_of(body, http_status);
  const auto* error = object_at(body, "error");
  // Only headers have moments, and those are read elsewhere: the time now is not needed.
  f.retry_after_s = llm::whole_seconds(llm::retry_ms_of_error(error ? *error : body, 0));
  return f;
}

}  // namespace

void chat_reader::event(std::string_view, std::string_view data, llm::receiver& to) {
  if (ended_) return;
  if (const auto text = content_.match(data)) {
    produced_ += text->size();
    if (!text->empty()) to.text(*text);
    return;
  }
  if (data == "[DONE]") return conclude(to);
  if (data.empty()) return;
  const auto v = llm::parse_event(data);
  if (!v || !v->is_object())
    return fail({RY_DATA_LOSS, "llm.protocol", "the model provider sent a chunk that is no JSON"});
  chunk(v->get_object(), data, to);
}

void chat_reader::chunk(const json::object& o, std::string_view data, llm::receiver& to) {
  if (const auto* e = o.if_contains("error"); e && !e->is_null()) return fail(failure_of(o, 0));
  if (const auto* u = object_at(o, "usage")) usage(*u);
  const auto* choices = array_at(o, "choices");
  if (!choices || choices->empty() || !choices->front().is_object()) return;
  const auto& choice = choices->front().get_object();
  const auto* d = object_at(choice, "delta");
  if (d) delta(*d, to);
  if (ended_) return;
  if (const auto reason = text_at(choice, "finish_reason"); !reason.empty()) {
    finished_ = true;
    finish_ = llm::finish_of(reason);
    // Gateways turn reasons that they do not know into "stop" and keep the original beside it.
    if (finish_ == RY_LLM_FINISH_STOP) finish_ = llm::finish_of(text_at(choice, "native_finish_reason"));
  } else if (d && learnings_ < max_learnings && !text_at(*d, "content").empty()) {
    learn(data);
  }
}

// Some servers use the names of the responses API. A later chunk replaces what an earlier one said.
void chat_reader::usage(const json::object& u) {
  const auto count = [](const json::object& o, std::string_view key, std::string_view other) {
    const auto n = llm::count_at(o, key);
    return n ? n : llm::count_at(o, other);
  };
  if (const auto n = count(u, "prompt_tokens", "input_tokens")) {
    usage_.input = *n;
    usage_.input_reported = true;
  }
  if (const auto n = count(u, "completion_tokens", "output_tokens")) {
    usage_.output = *n;
    usage_.output_reported = true;
  }
  const auto* d = object_at(u, "prompt_tokens_details");
  if (!d) d = object_at(u, "input_tokens_details");
  if (d) usage_.cached = llm::count_at(*d, "cached_tokens").value_or(0);
  usage_.cached = std::min(usage_.cached, usage_.input);
}

void chat_reader::delta(const json::object& d, llm::receiver& to) {
  for (const char* key : {"reasoning_content", "reasoning"})
    if (const auto s = text_at(d, key); !s.empty()) {
      produced_ += s.size();
      if (!keep_for_.empty() && thought_.size() + s.size() <= max_arguments) thought_ += s;
      to.reasoning(s);
      break;
    }
  for (const char* key : {"content", "refusal"})
    if (const auto s = text_at(d, key); !s.empty()) {
      produced_ += s.size();
      to.text(s);
    }
  if (const auto* calls = array_at(d, "tool_calls"))
    for (const auto& c : *calls) tool_delta(c);
}

void chat_reader::tool_delta(const json::value& v) {
  const auto* o = v.if_object();
  if (!o) return;
  const auto id = text_at(*o, "id");
  const auto* f = object_at(*o, "function");
  const auto name = f ? text_at(*f, "name") : std::string_view();
  const auto* at = o->if_contains("index");
  std::int64_t index = calls_.empty() ? 0 : calls_.back().index;
  if (at && at->is_number())
    index = number_at(*o, "index");
  else if (!id.empty() && !calls_.empty() && calls_.back().id != id)
    ++index;  // some servers leave the index out
  auto it =
      std::find_if(calls_.rbegin(), calls_.rend(), [&](const call& c) { return c.index == index; });
  // Others give every call the index 0.
  const bool another = it != calls_.rend() && !id.empty() && !it->id.empty() && it->id != id;
  if (it == calls_.rend() || another) {
    if (calls_.size() >= max_calls)
      return fail({RY_DATA_LOSS, "llm.protocol", "the model asked for too many tool calls"});
    calls_.push_back({index, {}, {}, {}});
    it = calls_.rbegin();
  }
  if (it->id.empty()) it->id = id;
  if (it->name.empty()) it->name = name;
  if (!f) return;
  const auto* args = f->if_contains("arguments");
  if (!args) return;
  std::string whole;  // a server may send the arguments as an object instead of text
  std::string_view piece;
  if (args->is_string()) {
    piece = args->get_string();
  } else if (args->is_object()) {
    whole = json::serialize(*args);
    piece = whole;
  }
  produced_ += piece.size();
  if (it->arguments.size() + piece.size() > max_arguments)
    return fail({RY_DATA_LOSS, "llm.protocol", "the arguments of a tool call are too large"});
  it->arguments.append(piece);
}

// Trusts what was learned only after a chunk with another text in its place read as expected.
void chat_reader::learn(std::string_view data) {
  ++learnings_;
  if (!content_.learn(data, "\"content\":\"")) return;
  const auto v = llm::parse_event(content_.with("<proof>"));
  const auto* o = v ? v->if_object() : nullptr;
  const auto* choices = o ? array_at(*o, "choices") : nullptr;
  const auto* choice = choices && choices->size() == 1 ? choices->front().if_object() : nullptr;
  const auto* d = choice ? object_at(*choice, "delta") : nullptr;
  const auto quiet = [](const json::object& in, std::initializer_list<std::string_view> loud) {
    return std::none_of(loud.begin(), loud.end(), [&](std::string_view key) {
      const auto* x = in.if_contains(key);
      return x && !x->is_null();
    });
  };
  const bool pure = d && text_at(*d, "content") == "<proof>" &&
                    quiet(*d, {"tool_calls", "reasoning", "reasoning_content", "refusal"}) &&
                    quiet(*choice, {"finish_reason"}) && quiet(*o, {"usage", "error"});
  if (!pure) content_.forget();
}

void chat_reader::conclude(llm::receiver& to) {
  if (!thought_.empty() && !calls_.empty())
    to.reasoning_block(json::serialize(json::object{
        {"driver", "openai"}, {"model", keep_for_}, {"reasoning_content", thought_}}));
  std::size_t n = 0;
  for (const auto& c : calls_) {
    ++n;
    if (c.name.empty()) continue;
    to.tool_call(c.id.empty() ? "call_" + std::to_string(n) : c.id, c.name,
                 c.arguments.empty() ? std::string_view("{}") : std::string_view(c.arguments));
  }
  if (!calls_.empty() && (finish_ == RY_LLM_FINISH_STOP || finish_ == 0))
    finish_ = RY_LLM_FINISH_TOOL_CALLS;
  if (finish_ == 0) finish_ = RY_LLM_FINISH_STOP;
  ended_ = true;
}

void chat_reader::closed(llm::receiver& to) {
  if (ended_) return;
  if (finished_) return conclude(to);
  fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider ended the answer before its end"});
}

llm::failure chat_reader::refused(unsigned http_status, std::string_view body) const {
  boost::system::error_code ec;
  auto v = json::parse(body, ec);
  // Google's compatible endpoint wraps the object in an array.
  if (!ec && v.is_array() && !v.get_array().empty()) v = json::value(v.get_array().front());
  if (!ec && v.is_object()) return failure_of(v.get_object(), http_status);
  if (llm::says_context_too_long(body))
    return {RY_OUT_OF_RANGE, "llm.context_too_long", std::string(body)};
  return llm::failure_of_status(http_status, {});
}

}  // namespace openai
