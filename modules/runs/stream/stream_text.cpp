#include "stream/stream_text.hpp"

#include <boost/json.hpp>

#include "json/exact.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_merged_bytes = 32 * 1024;
constexpr std::size_t max_event_depth = 160;  // arguments of calls follow the tool's schema, which may be deeply nested
constexpr std::string_view type_key = "{\"type\": \"";
constexpr std::string_view sequence_key = "\", \"sequence\": ";
constexpr std::string_view content_key = "\"content\": \"";

bool has_unescaped_quote(std::string_view text) {
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
    std::size_t slashes = 0;
    while (slashes < at && text[at - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return true;
  }
  return false;
}

std::string_view type_of(std::string_view payload) {
  if (!payload.starts_with(type_key)) return {};
  payload.remove_prefix(type_key.size());
  return payload.substr(0, payload.find('"'));
}

std::string text_at(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v == nullptr ? std::string("null") : json::serialize(*v);
}

std::string joined(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ',';
    out += item;
  }
  return out + "]";
}

}  // namespace

std::optional<chunk_view> as_chunk(std::string_view payload) {
  chunk_view out;
  out.type = type_of(payload);
  if (!out.type.ends_with("_chunk")) return std::nullopt;
  std::string_view rest = payload.substr(type_key.size() + out.type.size());
  if (!rest.starts_with(sequence_key)) return std::nullopt;
  rest.remove_prefix(sequence_key.size());
  const std::size_t comma = rest.find_first_not_of("0123456789");
  if (comma == std::string_view::npos || !rest.substr(comma).starts_with(", ")) return std::nullopt;
  rest.remove_prefix(comma + 2);
  const std::size_t content = rest.find(content_key);
  if (content == std::string_view::npos) return std::nullopt;
  out.other = rest.substr(0, content);
  rest.remove_prefix(content + content_key.size());
  if (!rest.ends_with("\"}")) return std::nullopt;
  out.content = rest.substr(0, rest.size() - 2);
  if (has_unescaped_quote(out.content)) return std::nullopt;
  return out;
}

void chunk_merger::add(std::string_view wire, std::string& out) {
  for (event_view e = next_event(wire); e.sequence != 0; e = next_event(wire)) {
    const std::optional<chunk_view> chunk = as_chunk(e.payload);
    if (!chunk) {
      flush(out);
      out += e.wire;
      continue;
    }
    if (pending() && (chunk->type != type_ || chunk->other != other_ || e.sequence != last_ + 1 ||
                      content_.size() + chunk->content.size() > max_merged_bytes))
      flush(out);
    if (!pending()) {
      type_ = chunk->type;
      other_ = chunk->other;
      first_ = e.sequence;
      first_event_ = e.wire;
    }
    content_ += chunk->content;
    last_ = e.sequence;
    ++count_;
  }
}

void chunk_merger::flush(std::string& out) {
  if (!pending()) return;
  if (count_ == 1) {
    out += first_event_;
  } else {
    const std::string last = std::to_string(last_);
    out += "id: " + last + "\ndata: ";
    out.append(type_key).append(type_).append(sequence_key).append(last);
    out += ", \"from_sequence\": " + std::to_string(first_) + ", ";
    out.append(other_).append(content_key).append(content_).append("\"}\n\n");
  }
  count_ = 0;
  content_.clear();
}

snapshot::turn& snapshot::open(std::uint64_t sequence) {
  if (!open_) open_.emplace().from = sequence;
  return *open_;
}

snapshot::call& snapshot::call_of(const std::string& id) {
  for (call& c : calls_)
    if (c.id == id) return c;
  call& created = calls_.emplace_back();
  created.id = id;
  return created;
}

// Texts of chunks stay in JSON form; the few other events are parsed.
bool snapshot::add(const event_view& event) {
  if (is_terminal(event.payload)) return false;
  last_ = event.sequence;
  if (const std::optional<chunk_view> chunk = as_chunk(event.payload)) {
    if (chunk->type == "llm_response_chunk") {
      open(event.sequence).content += chunk->content;
      return true;
    }
    if (chunk->type == "reasoning_chunk") {
      open(event.sequence).reasoning += chunk->content;
      return true;
    }
  }
  boost::system::error_code bad;
  const json::value value = module_json::parse_exactly(event.payload, max_event_depth, bad);
  if (bad || !value.is_object()) return true;
  const json::object& o = value.as_object();
  const std::string_view type = type_of(event.payload);
  if (type == "llm_response_start") {
    const std::string step = text_at(o, "step"), attempt = text_at(o, "attempt");
    // The earlier attempt is void, and the client may have received a part of it before `from`.
    if (attempt != "1" && last_step_ != step && from_ > 1) {
      const std::string earlier = std::to_string(parse_int(attempt).value_or(1) - 1);
      aborted_.push_back("{\"step\":" + step + ",\"attempt\":" + earlier + "}");
    }
    if (open_ && attempt == "1") close_turn();
    open_.reset();
    turn& t = open(event.sequence);
    t.step = last_step_ = step;
    t.attempt = attempt;
  } else if (type == "turn_aborted") {
    const std::uint64_t from_sequence = static_cast<std::uint64_t>(parse_int(text_at(o, "from_sequence")).value_or(0));
    if (from_sequence < from_)
      aborted_.push_back("{\"step\":" + text_at(o, "step") + ",\"attempt\":" + text_at(o, "attempt") +
                         ",\"from_sequence\":" + text_at(o, "from_sequence") +
                         ",\"to_sequence\":" + text_at(o, "to_sequence") + "}");
    open_.reset();
    last_step_ = text_at(o, "step");
  } else if (type == "llm_response_end") {
    close_turn();
  } else if (type == "tool_call") {
    call& c = call_of(text_at(o, "tool_call_id"));
    c.head = "\"name\":" + text_at(o, "name") + ",\"arguments\":" + text_at(o, "arguments") +
             ",\"source\":" + text_at(o, "source");
  } else if (type == "tool_output_chunk") {
    const std::string content = text_at(o, "content");
    if (content.size() > 2) call_of(text_at(o, "tool_call_id")).output.append(content, 1, content.size() - 2);
  } else if (type == "tool_result") {
    call& c = call_of(text_at(o, "tool_call_id"));
    if (c.head.empty()) c.head = "\"name\":" + text_at(o, "name");
    c.output.clear();
    c.result = "\"is_error\":" + text_at(o, "is_error") + ",\"content\":" + text_at(o, "content");
  } else if (type == "message") {
    message_ids_.push_back(text_at(o, "message_id"));
  } else if (type == "status") {
    if (const json::value* v = o.if_contains("status"); v != nullptr && v->is_string())
      status_ = std::string(v->as_string());
  } else if (type != "gap") {
    // Gaps contain no relevant text; all other events are kept unchanged.
    events_.emplace_back(event.payload);
  }
  return true;
}

void snapshot::close_turn() {
  if (!open_) return;
  content_ += open_->content;
  reasoning_ += open_->reasoning;
  open_.reset();
}

void snapshot::write(std::string& out) const {
  std::string open = "null";
  if (open_) {
    open = "{\"step\":" + open_->step + ",\"attempt\":" + open_->attempt +
           ",\"from_sequence\":" + std::to_string(open_->from) + ",\"content\":\"" + open_->content +
           "\",\"reasoning\":\"" + open_->reasoning + "\"}";
  }
  std::vector<std::string> calls;
  for (const call& c : calls_) {
    std::string& text = calls.emplace_back("{\"tool_call_id\":" + c.id);
    for (const std::string& part : {c.head, c.result})
      if (!part.empty()) text += "," + part;
    if (!c.output.empty()) text += ",\"output\":\"" + c.output + "\"";
    text += "}";
  }
  event_text event(out, last_, "snapshot");
  event.integer("from_sequence", static_cast<std::int64_t>(from_))
      .integer("to_sequence", static_cast<std::int64_t>(last_))
      .text("status", status_)
      .json("content", "\"" + content_ + (open_ ? open_->content : "") + "\"")
      .json("reasoning", "\"" + reasoning_ + (open_ ? open_->reasoning : "") + "\"")
      .json("open_turn", open)
      .json("aborted", joined(aborted_))
      .json("tool_calls", joined(calls))
      .json("message_ids", joined(message_ids_))
      .json("events", joined(events_));
}

}  // namespace runs
