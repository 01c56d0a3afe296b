#include "messages_reader.hpp"

#include <boost/json/serialize.hpp>
#include <utility>

#include "finish.hpp"
#include "provider_error.hpp"
#include "request.hpp"
#include "tool_ids.hpp"

namespace anthropic {

namespace json = boost::json;
using llm::object_at;
using llm::text_at;

namespace {

constexpr int max_learn_count = 8;  // every block has a different index, so its first chunk does not match
constexpr std::size_t max_arguments = 16 * 1024 * 1024;

std::int64_t number_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return 0;
  boost::system::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  return ec || n < 0 ? 0 : n;
}

}  // namespace

void messages_reader::event(std::string_view name, std::string_view data, llm::receiver& to) {
  if (ended_) return;
  if (const auto text = text_template_.match(data)) {
    produced_ += text->size();
    if (!text->empty()) to.text(*text);
    return;
  }
  if (data.empty() || data == "[DONE]") return;  // some gateways end every stream like OpenAI
  if (name == "error") return fail(llm::failure_of_body(data, 0));
  const auto v = llm::parse_event(data);
  if (!v || !v->is_object())
    return fail(llm::failure_of_malformed_event(data, "the model provider sent an event that is not valid JSON"));
  dispatch(v->get_object(), data, to);
}

void messages_reader::document(const json::object& o, llm::receiver& to) {
  if (ended_) return;
  const auto* content = llm::array_at(o, "content");
  if (text_at(o, "type") != "message" || !content) return dispatch(o, {}, to);
  if (const auto* u = object_at(o, "usage")) usage(*u, true);
  std::int64_t index = 0;
  for (const auto& block : *content) {
    const json::object of{{"index", index++}, {"content_block", block}};
    block_start(of, to);
    block_stop(of, to);
    if (ended_) return;
  }
  finish_seen_ = true;
  finish_ = llm::finish_of(text_at(o, "stop_reason"));
}

void messages_reader::dispatch(const json::object& o, std::string_view data, llm::receiver& to) {
  if (const auto error = llm::error_in(o)) return fail(*error);
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
    if (const auto finish = d ? llm::finish_of(text_at(*d, "stop_reason")) : 0; finish != 0) {
      finish_seen_ = true;
      finish_ = llm::more_severe(finish_, finish);
    }
  } else if (type == "message_stop") {
    deliver_calls(to);
  }
}

// Counts are cumulative: a later event replaces earlier counts. `is_final`: the output count is the last one.
void messages_reader::usage(const json::object& u, bool is_final) {
  const auto read = [&u](std::string_view key, std::int64_t& count) {
    const auto n = llm::count_at(u, key);
    if (n) count = *n;
    return n.has_value();
  };
  if (read("input_tokens", uncached_input_)) usage_.input_reported = true;
  read("cache_read_input_tokens", cache_read_);
  read("cache_creation_input_tokens", cache_written_);
  usage_.input = uncached_input_ + cache_read_ + cache_written_;
  usage_.cached = cache_read_;
  usage_.cache_write = cache_written_;
  if (read("output_tokens", usage_.output) && is_final) usage_.output_reported = true;
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
    thinking_ = {number_at(o, "index"), std::string(text_at(*b, "thinking")), std::string(text_at(*b, "signature"))};
    if (!thinking_.text.empty()) {
      produced_ += thinking_.text.size();
      to.reasoning(thinking_.text);
    }
  } else if (type == "redacted_thinking") {
    deliver_thinking_block(*b, to);
  } else if (type == "tool_use") {
    if (calls_.size() == llm::tool_call_assembly::max_calls)
      return fail({RY_DATA_LOSS, "llm.protocol", "the model asked for too many tool calls"});
    tool_block t{number_at(o, "index"),
                 std::string(llm::bounded_id(text_at(*b, "id"))),
                 std::string(text_at(*b, "name")),
                 {},
                 {}};
    if (const auto* input = object_at(*b, "input"); input && !input->empty()) t.start_input = json::serialize(*input);
    calls_.push_back(std::move(t));
  }
}

// Gateways that translate another protocol may number blocks wrongly: if only one block is open, use it.
messages_reader::tool_block* messages_reader::open_call(const json::object& o) {
  const auto index = number_at(o, "index");
  tool_block* open = nullptr;
  int count = 0;
  for (auto it = calls_.rbegin(); it != calls_.rend(); ++it) {
    if (!it->open) continue;
    if (it->index == index) return &*it;
    open = &*it;
    ++count;
  }
  return count == 1 ? open : nullptr;
}

void messages_reader::block_delta(const json::object& o, std::string_view data, llm::receiver& to) {
  const auto* d = object_at(o, "delta");
  if (!d) return;
  const auto type = text_at(*d, "type");
  if (type == "text_delta") {
    const auto s = text_at(*d, "text");
    produced_ += s.size();
    if (!s.empty()) to.text(s);
    if (!s.empty() && learn_count_ < max_learn_count) learn_template(data);
  } else if (type == "thinking_delta") {
    const auto s = text_at(*d, "thinking");
    if (thinking_.text.size() + s.size() > max_arguments)
      return fail({RY_DATA_LOSS, "llm.protocol", "a thinking block is too large"});
    produced_ += s.size();
    thinking_.text += s;
    if (!s.empty()) to.reasoning(s);
  } else if (type == "signature_delta") {
    const auto s = text_at(*d, "signature");
    if (thinking_.signature.size() + s.size() > max_arguments)
      return fail({RY_DATA_LOSS, "llm.protocol", "a signature is too large"});
    thinking_.signature += s;
  } else if (type == "input_json_delta") {
    tool_block* t = open_call(o);
    if (t == nullptr) return;
    const auto piece = text_at(*d, "partial_json");
    argument_bytes_ += piece.size();
    if (argument_bytes_ > max_arguments)
      return fail({RY_DATA_LOSS, "llm.protocol", "the arguments of a tool call are too large"});
    produced_ += piece.size();
    t->arguments.add(piece);
  }
}

void messages_reader::block_stop(const json::object& o, llm::receiver& to) {
  const auto index = number_at(o, "index");
  if (index == thinking_.index) {
    // The API rejects a block without a signature.
    if (!thinking_.signature.empty())
      deliver_thinking_block({{"type", "thinking"}, {"thinking", thinking_.text}, {"signature", thinking_.signature}},
                             to);
    thinking_ = {};
    return;
  }
  for (auto& t : calls_)
    if (t.open && t.index == index) {
      t.open = false;
      return;
    }
}

void messages_reader::deliver_calls(llm::receiver& to) {
  const bool ended_by_model = finish_ != RY_LLM_FINISH_LENGTH;
  std::size_t n = 0;
  for (tool_block& t : calls_) {
    ++n;
    // A limit may have truncated the input of the last call.
    const bool truncated = !ended_by_model && n == calls_.size();
    if (t.name.empty()) continue;
    const std::string arguments =
        llm::final_arguments(t.arguments.blank() ? std::move(t.start_input) : t.arguments.take(), truncated);
    to.tool_call(t.id.empty() ? "call_" + std::to_string(n) : t.id, t.name, arguments);
  }
  if (finish_ == 0) finish_ = calls_.empty() ? RY_LLM_FINISH_STOP : RY_LLM_FINISH_TOOL_CALLS;
  ended_ = true;
}

void messages_reader::deliver_thinking_block(json::object block, llm::receiver& to) {
  block["driver"] = "anthropic";
  block["model"] = model_;
  to.reasoning_block(json::serialize(block));
}

// Trusts the learned template only after an event with another text has been parsed as expected.
void messages_reader::learn_template(std::string_view data) {
  ++learn_count_;
  if (!text_template_.learn(data, "\"text\":\"")) return;
  const auto v = llm::parse_event(text_template_.with("<proof>"));
  const auto* o = v ? v->if_object() : nullptr;
  const auto* d = o ? object_at(*o, "delta") : nullptr;
  const bool only_text = d && text_at(*o, "type") == "content_block_delta" && text_at(*d, "type") == "text_delta" &&
                         text_at(*d, "text") == "<proof>";
  if (!only_text) text_template_.forget();
}

void messages_reader::closed(llm::receiver& to) {
  if (ended_) return;
  if (finish_seen_) return deliver_calls(to);
  fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider ended the response before it was complete"});
}

llm::failure messages_reader::refused(unsigned http_status, std::string_view body) const {
  return llm::failure_of_body(body, http_status);
}

}  // namespace anthropic
