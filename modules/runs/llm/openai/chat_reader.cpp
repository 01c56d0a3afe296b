#include "chat_reader.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <initializer_list>
#include <optional>
#include <ry/cpp/text.hpp>
#include <utility>
#include <vector>

#include "finish.hpp"
#include "provider_error.hpp"
#include "request.hpp"

namespace openai {

namespace json = boost::json;
using llm::array_at;
using llm::object_at;
using llm::text_at;

namespace {

constexpr int max_learn_count = 4;  // stops learning if a provider's chunks never match
constexpr std::size_t max_kept_bytes = 16 * 1024 * 1024;
constexpr std::size_t max_details = 4096;

// Returns the first of `keys` that is a token count.
std::optional<std::int64_t> first_count(const json::object& o, std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys)
    if (const auto n = llm::count_at(o, key)) return n;
  return std::nullopt;
}

}  // namespace

void chat_reader::event(std::string_view name, std::string_view data, llm::receiver& to) {
  if (ended_) return;
  if (const auto text = content_template_.match(data)) {
    produced_ += text->size();
    if (!text->empty()) to.text(*text);
    return;
  }
  data = ry::trimmed(data);
  if (data.empty()) return;
  if (name == "error") return fail(llm::failure_of_body(data, 0));
  if (data == "[DONE]") return deliver_calls(to);
  const auto v = llm::parse_event(data);
  if (!v || !v->is_object())
    return fail(llm::failure_of_malformed_event(data, "the model provider sent a chunk that is not valid JSON"));
  const bool had_finished = finish_seen_;
  chunk(v->get_object(), to);
  if (!ended_ && !finish_seen_ && !had_finished && learn_count_ < max_learn_count) learn_template(data);
}

void chat_reader::document(const json::object& o, llm::receiver& to) {
  if (ended_) return;
  chunk(o, to);
  if (ended_) return;
  // A document has no terminator; its message is complete.
  const auto* choices = array_at(o, "choices");
  const auto* choice = choices && !choices->empty() ? choices->front().if_object() : nullptr;
  if (choice && object_at(*choice, "message")) finish_seen_ = true;
}

void chat_reader::chunk(const json::object& o, llm::receiver& to) {
  if (const auto error = llm::error_in(o)) return fail(*error);
  if (id_.empty()) id_ = text_at(o, "id").substr(0, 256);
  for (std::string_view key : {"usage", "usageMetadata", "usage_metadata"})
    if (const auto* u = object_at(o, key)) usage(*u);
  if (const auto* x = object_at(o, "x_groq"))
    if (const auto* u = object_at(*x, "usage")) usage(*u);
  const auto* choices = array_at(o, "choices");
  if (!choices || choices->empty() || !choices->front().is_object()) return;
  const auto& choice = choices->front().get_object();
  if (const auto* e = choice.if_contains("error"); e && (e->is_object() || e->is_string()))
    return fail(llm::failure_of(choice, 0));
  for (std::string_view part : {"delta", "message"})
    if (const auto* p = object_at(choice, part))
      if (const auto* u = object_at(*p, "usage")) usage(*u);
  if (const auto* u = object_at(choice, "usage")) usage(*u);
  if (const auto* d = object_at(choice, "delta"))
    delta(*d, to);
  else if (const auto* m = object_at(choice, "message"); m && produced_ == 0)
    delta(*m, to);
  if (ended_) return;
  if (const auto finish = llm::finish_of(text_at(choice, "finish_reason"), text_at(choice, "native_finish_reason"));
      finish != 0) {
    finish_seen_ = true;
    finish_ = llm::more_severe(finish_, finish);  // some gateways end every answer with an additional "stop"
  }
}

// Accepts the names of OpenAI, the Responses API, Moonshot, DeepSeek, xAI, Gemini, Ollama, and gateways for Anthropic.
// A later chunk replaces earlier counts.
void chat_reader::usage(const json::object& u) {
  if (const auto n = first_count(u, {"prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count"})) {
    usage_.input = *n;
    usage_.input_reported = true;
  }
  if (const auto n = first_count(u, {"completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count"})) {
    // Gemini's candidate count does not include its reasoning.
    usage_.output = *n + llm::count_at(u, "thoughtsTokenCount").value_or(0);
    usage_.output_reported = true;
  }
  std::optional<std::int64_t> cached, written;
  for (std::string_view key : {"prompt_tokens_details", "input_tokens_details", "input_token_details"}) {
    const auto* d = object_at(u, key);
    if (d == nullptr) continue;
    if (!cached)
      cached = first_count(*d, {"cached_tokens", "cache_read_tokens", "cache_read_input_tokens", "cache_read"});
    if (!written) written = first_count(*d, {"cache_write_tokens", "cache_creation_tokens", "cache_creation"});
  }
  if (!cached)
    cached = first_count(
        u, {"cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_prompt_text_tokens",
            "num_cached_tokens", "cached_input_tokens", "cachedContentTokenCount"});
  if (!written) written = first_count(u, {"cache_creation_input_tokens", "cache_write_tokens"});
  if (cached) usage_.cached = *cached;
  if (written) usage_.cache_write = *written;
  usage_.cached = std::min(usage_.cached, usage_.input);
}

void chat_reader::add_text(std::string_view s, llm::receiver& to) {
  if (s.empty()) return;
  produced_ += s.size();
  to.text(s);
}

void chat_reader::add_reasoning(std::string_view s, llm::receiver& to) {
  if (s.empty()) return;
  produced_ += s.size();
  if (keep_reasoning_ && reasoning_text_.size() + s.size() <= max_kept_bytes) reasoning_text_ += s;
  to.reasoning(s);
}

void chat_reader::delta(const json::object& d, llm::receiver& to) {
  bool has_reasoning = false;
  for (const char* key : {"reasoning_content", "reasoning", "reasoning_text"})
    if (const auto s = text_at(d, key); !s.empty()) {
      add_reasoning(s, to);
      has_reasoning = true;
      break;
    }
  if (const auto* list = array_at(d, "reasoning_details")) add_details(*list, has_reasoning, to);
  if (const auto* v = d.if_contains("content")) content(*v, to);
  if (const auto s = text_at(d, "refusal"); !s.empty()) {
    has_refusal_ = true;
    add_text(s, to);
  }
  if (const auto* calls = array_at(d, "tool_calls")) count_call_bytes(calls_.add(*calls));
  if (const auto* f = object_at(d, "function_call"); f && !ended_) count_call_bytes(calls_.add_function(*f));
}

// The content is a text, a part or an array of parts.
void chat_reader::content(const json::value& v, llm::receiver& to) {
  if (v.is_string()) return add_text(v.get_string(), to);
  if (v.is_object()) return part(v.get_object(), to);
  if (!v.is_array()) return;
  for (const auto& p : v.get_array()) {
    if (p.is_string()) add_text(p.get_string(), to);
    if (p.is_object()) part(p.get_object(), to);
  }
}

void chat_reader::part(const json::object& p, llm::receiver& to) {
  const auto type = text_at(p, "type");
  const bool is_reasoning = type == "thinking" || type == "reasoning";
  if (is_reasoning) {
    // Mistral nests text parts.
    const auto* inner = p.if_contains(type);
    if (!inner) inner = p.if_contains("text");
    if (inner && inner->is_string()) return add_reasoning(inner->get_string(), to);
    if (const auto* parts = inner ? inner->if_array() : nullptr)
      for (const auto& t : *parts)
        if (t.is_object()) add_reasoning(text_at(t.get_object(), "text"), to);
    return;
  }
  if (type == "refusal") {
    has_refusal_ = true;
    return add_text(text_at(p, "refusal"), to);
  }
  add_text(text_at(p, "text"), to);
}

// Chunks of one detail have the same type and index; they are merged into the complete detail.
void chat_reader::add_details(const json::array& list, bool has_reasoning_text, llm::receiver& to) {
  for (const auto& v : list) {
    const auto* o = v.if_object();
    if (!o) continue;
    if (!has_reasoning_text) add_reasoning(text_at(*o, o->contains("summary") ? "summary" : "text"), to);
    if (model_.empty()) continue;
    details_bytes_ += json::serialize(*o).size();
    if (details_bytes_ > max_kept_bytes || details_.size() >= max_details) continue;
    const auto same = [o](const json::object& last, std::string_view key) {
      const auto *a = last.if_contains(key), *b = o->if_contains(key);
      return a && b ? *a == *b : a == b;
    };
    const bool continues_last = !details_.empty() && !text_at(*o, "type").ends_with("encrypted") &&
                                same(details_.back().get_object(), "type") &&
                                same(details_.back().get_object(), "index");
    if (!continues_last) {
      details_.push_back(*o);
      continue;
    }
    auto& last = details_.back().get_object();
    for (const auto& [key, piece] : *o) {
      const auto* text = piece.if_string();
      if (text && (key == "text" || key == "summary") && !text_at(last, key).empty())
        last[key].get_string().append(*text);
      else if (!piece.is_null())
        last[key] = piece;
    }
  }
}

void chat_reader::count_call_bytes(std::optional<std::size_t> bytes) {
  if (bytes)
    produced_ += *bytes;
  else
    fail({RY_DATA_LOSS, "llm.protocol", "the model asked for too many tool calls, or their arguments are too large"});
}

// Trusts the learned template only after a chunk with another text has been parsed as expected.
void chat_reader::learn_template(std::string_view data) {
  if (data.find("\"content\":\"") == std::string_view::npos || data.find("\"content\":\"\"") != std::string_view::npos)
    return;
  ++learn_count_;
  if (!content_template_.learn(data, "\"content\":\"")) return;
  const auto v = llm::parse_event(content_template_.with("<proof>"));
  const auto* o = v ? v->if_object() : nullptr;
  const auto* choices = o ? array_at(*o, "choices") : nullptr;
  const auto* choice = choices && choices->size() == 1 ? choices->front().if_object() : nullptr;
  const auto* d = choice ? object_at(*choice, "delta") : nullptr;
  const auto all_absent = [](const json::object& in, std::initializer_list<std::string_view> keys) {
    return std::none_of(keys.begin(), keys.end(), [&](std::string_view key) {
      const auto* x = in.if_contains(key);
      return x && !x->is_null();
    });
  };
  const bool only_content = d && text_at(*d, "content") == "<proof>" &&
                            all_absent(*d, {"tool_calls", "function_call", "reasoning", "reasoning_content",
                                            "reasoning_text", "reasoning_details", "refusal", "usage"}) &&
                            all_absent(*choice, {"finish_reason", "error", "usage", "message"}) &&
                            all_absent(*o, {"usage", "usageMetadata", "usage_metadata", "x_groq"}) &&
                            !llm::error_in(*o);
  if (!only_content) content_template_.forget();
}

// Delivers the blocks that this model requires with its message: reasoning details, and signatures of its calls.
void chat_reader::deliver_blocks(const std::vector<llm::assembled_call>& calls, llm::receiver& to) const {
  if (model_.empty()) return;
  json::object block;
  if (!reasoning_text_.empty() && !calls.empty()) block["reasoning_content"] = reasoning_text_;
  if (!details_.empty() && details_bytes_ <= max_kept_bytes) block["reasoning_details"] = details_;
  json::array signatures;
  std::size_t bytes = 0;
  for (const auto& c : calls) {
    if (c.extra.empty()) continue;
    signatures.push_back({{"id", c.id}, {"extra_content", c.extra}});
    bytes += json::serialize(c.extra).size();
  }
  if (!signatures.empty() && bytes <= max_kept_bytes) block["calls"] = std::move(signatures);
  if (block.empty()) return;
  json::object out{{"driver", "openai"}, {"model", model_}};
  for (auto& [key, value] : block) out[key] = std::move(value);
  to.reasoning_block(json::serialize(out));
}

void chat_reader::deliver_calls(llm::receiver& to) {
  const bool ended_by_model = finish_ != RY_LLM_FINISH_LENGTH;
  const auto calls = calls_.take(id_, ended_by_model);
  deliver_blocks(calls, to);
  for (const auto& c : calls) to.tool_call(c.id, c.name, c.arguments);
  if (finish_ == 0) finish_ = RY_LLM_FINISH_STOP;
  if (finish_ == RY_LLM_FINISH_STOP && has_refusal_) finish_ = RY_LLM_FINISH_REFUSAL;
  if (finish_ == RY_LLM_FINISH_STOP && !calls.empty()) finish_ = RY_LLM_FINISH_TOOL_CALLS;
  ended_ = true;
}

void chat_reader::closed(llm::receiver& to) {
  if (ended_) return;
  if (finish_seen_) return deliver_calls(to);
  fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider ended the response before it was complete"});
}

llm::failure chat_reader::refused(unsigned http_status, std::string_view body) const {
  return llm::failure_of_body(body, http_status);
}

}  // namespace openai
