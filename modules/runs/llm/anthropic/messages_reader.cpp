#include "messages_reader.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "context_length.hpp"
#include "request.hpp"

namespace anthropic {

namespace json = boost::json;
using llm::object_at;
using llm::text_at;

namespace {

constexpr int max_learnings = 8;  // every block has an index of its own
constexpr std::size_t max_calls = 128;
constexpr std::size_t max_arguments = 16 * 1024 * 1024;

std::int64_t number_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return 0;
  boost::system::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  return ec || n < 0 ? 0 : n;
}

// {"type":"error","error":{"type":"overloaded_error","message":"..."}}; http_status 0: in
// mid-stream.
llm::failure failure_of(const json::object& body, unsigned http_status) {
  std::string message;
  std::string_view type;
  if (const auto* e = object_at(body, "error")) {
    type = text_at(*e, "type");
    message = text_at(*e, "message");
  }
  if (llm::names_context_too_long(type) || llm::says_context_too_long(message))
    return {RY_OUT_OF_RANGE, "llm.context_too_long", std::move(message)};
  if (type == "billing_error") return {RY_UNAUTHENTICATED, "llm.quota", std::move(message)};
  static constexpr struct {
    std::string_view type;
    unsigned status;
  } known[] = {{"invalid_request_error", 400}, {"authentication_error", 401},
               {"permission_error", 403},      {"not_found_error", 404},
               {"rate_limit_error", 429},      {"api_error", 500},
               {"timeout_error", 504},         {"overloaded_error", 529}};
  for (const auto& k : known)
    if (type == k.type) return llm::failure_of_status(k.status, std::move(message));
  return llm::failure_of_status(http_status ? http_status : 500, std::move(message));
}

}  // namespace

void messages_reader::event(std::string_view, std::string_view data, llm::receiver& to) {
  if (ended_) return;
  if (const auto text = text_.match(data)) {
    produced_ += text->size();
    if (!text->empty()) to.text(*text);
    return;
  }
  if (data.empty()) return;
  const auto v = llm::parse_event(data);
  if (!v || !v->is_object())
    return fail({RY_DATA_LOSS, "llm.protocol", "the model provider sent an event that is no JSON"});
  const auto& o = v->get_object();
  const auto type = text_at(o, "type");
  if (type == "content_block_delta") {
    block_delta(o, data, to);
  } else if (type == "content_block_start") {
    block_start(o, to);
  } else if (type == "content_block_stop") {
    block_stop(o, to);
  } else if (type == "message_start") {
    if (const auto* m = object_at(o, "message"))
      if (const auto* u = object_at(*m, "usage")) usage(*u, false);
  } else if (type == "message_delta") {
    if (const auto* u = object_at(o, "usage")) usage(*u, true);
    const auto* d = object_at(o, "delta");
    if (const auto reason = d ? text_at(*d, "stop_reason") : ""; !reason.empty()) {
      stopped_ = true;
      finish_ = llm::finish_of(reason);
    }
  } else if (type == "message_stop") {
    if (finish_ == 0) finish_ = calls_ ? RY_LLM_FINISH_TOOL_CALLS : RY_LLM_FINISH_STOP;
    ended_ = true;
  } else if (type == "error") {
    fail(failure_of(o, 0));
  }
}

// Counts are cumulative: a later event replaces what an earlier one said. whole: the output is
// counted to its end.
void messages_reader::usage(const json::object& u, bool whole) {
  const auto take = [&u](std::string_view key, std::int64_t& into) {
    const auto n = llm::count_at(u, key);
    if (n) into = *n;
    return n.has_value();
  };
  if (take("input_tokens", fresh_)) usage_.input_reported = true;
  take("cache_read_input_tokens", cache_read_);
  take("cache_creation_input_tokens", cache_written_);
  usage_.input = fresh_ + cache_read_ + cache_written_;
  usage_.cached = cache_read_;
  usage_.cache_write = cache_written_;
  if (take("output_tokens", usage_.output) && whole) usage_.output_reported = true;
}

void messages_reader::block_start(const json::object& o, llm::receiver& to) {
  const auto* b = object_at(o, "content_block");
  if (!b) return;
  const auto type = text_at(*b, "type");
  if (type == "text") {
    if (const auto s = text_at(*b, "text"); !s.empty()) {
      produced_ += s.size();
      to.text(s);
    }
  } else if (type == "thinking") {
    thinking_ = {number_at(o, "index"), std::string(text_at(*b, "thinking")),
                 std::string(text_at(*b, "signature"))};
    if (!thinking_.text.empty()) {
      produced_ += thinking_.text.size();
      to.reasoning(thinking_.text);
    }
  } else if (type == "redacted_thinking") {
    thought(*b, to);
  } else if (type == "tool_use") {
    if (++calls_ > max_calls)
      return fail({RY_DATA_LOSS, "llm.protocol", "the model asked for too many tool calls"});
    tool_block t{number_at(o, "index"),
                 std::string(text_at(*b, "id")),
                 std::string(text_at(*b, "name")),
                 {},
                 {}};
    if (const auto* input = object_at(*b, "input"); input && !input->empty())
      t.given = json::serialize(*input);
    open_.push_back(std::move(t));
  }
}

void messages_reader::block_delta(const json::object& o, std::string_view data, llm::receiver& to) {
  const auto* d = object_at(o, "delta");
  if (!d) return;
  const auto type = text_at(*d, "type");
  if (type == "text_delta") {
    const auto s = text_at(*d, "text");
    produced_ += s.size();
    if (!s.empty()) to.text(s);
    if (!s.empty() && learnings_ < max_learnings) learn(data);
  } else if (type == "thinking_delta") {
    const auto s = text_at(*d, "thinking");
    if (thinking_.text.size() + s.size() > max_arguments)
      return fail({RY_DATA_LOSS, "llm.protocol", "a thought is too large"});
    produced_ += s.size();
    thinking_.text += s;
    if (!s.empty()) to.reasoning(s);
  } else if (type == "signature_delta") {
    const auto s = text_at(*d, "signature");
    if (thinking_.signature.size() + s.size() > max_arguments)
      return fail({RY_DATA_LOSS, "llm.protocol", "a signature is too large"});
    thinking_.signature += s;
  } else if (type == "input_json_delta") {
    const auto index = number_at(o, "index");
    const auto it = std::find_if(open_.begin(), open_.end(),
                                 [&](const tool_block& t) { return t.index == index; });
    if (it == open_.end()) return;
    const auto piece = text_at(*d, "partial_json");
    if (it->arguments.size() + piece.size() > max_arguments)
      return fail({RY_DATA_LOSS, "llm.protocol", "the arguments of a tool call are too large"});
    produced_ += piece.size();
    it->arguments += piece;
  }
}

void messages_reader::block_stop(const json::object& o, llm::receiver& to) {
  const auto index = number_at(o, "index");
  if (index == thinking_.index) {
    // Without a signature the API would not take it back.
    if (!thinking_.signature.empty())
      thought({{"type", "thinking"}, {"thinking", thinking_.text}, {"signature", thinking_.signature}}, to);
    thinking_ = {};
    return;
  }
  const auto it = std::find_if(open_.begin(), open_.end(),
                               [&](const tool_block& t) { return t.index == index; });
  if (it == open_.end()) return;
  const tool_block t = std::move(*it);
  open_.erase(it);
  const std::string& args = t.arguments.empty() ? t.given : t.arguments;
  to.tool_call(t.id.empty() ? "call_" + std::to_string(calls_) : t.id, t.name,
               args.empty() ? std::string_view("{}") : std::string_view(args));
}

void messages_reader::thought(json::object block, llm::receiver& to) {
  block["driver"] = "anthropic";
  block["model"] = model_;
  to.reasoning_block(json::serialize(block));
}

// Trusts what was learned only after an event with another text in its place read as expected.
void messages_reader::learn(std::string_view data) {
  ++learnings_;
  if (!text_.learn(data, "\"text\":\"")) return;
  const auto v = llm::parse_event(text_.with("<proof>"));
  const auto* o = v ? v->if_object() : nullptr;
  const auto* d = o ? object_at(*o, "delta") : nullptr;
  const bool pure = d && text_at(*o, "type") == "content_block_delta" &&
                    text_at(*d, "type") == "text_delta" && text_at(*d, "text") == "<proof>";
  if (!pure) text_.forget();
}

void messages_reader::closed(llm::receiver&) {
  if (ended_) return;
  if (stopped_) {
    ended_ = true;
    return;
  }
  fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider ended the answer before its end"});
}

llm::failure messages_reader::refused(unsigned http_status, std::string_view body) const {
  boost::system::error_code ec;
  const auto v = json::parse(body, ec);
  if (!ec && v.is_object()) return failure_of(v.get_object(), http_status);
  return llm::failure_of_status(http_status, {});
}

}  // namespace anthropic
