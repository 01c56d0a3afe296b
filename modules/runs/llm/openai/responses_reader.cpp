#include "responses_reader.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "finish.hpp"
#include "provider_error.hpp"
#include "request.hpp"
#include "tool_calls.hpp"
#include "tool_ids.hpp"

namespace openai {

namespace json = boost::json;
using llm::array_at;
using llm::object_at;
using llm::text_at;

namespace {

constexpr std::size_t max_output_items = 1024;
constexpr std::size_t max_calls = 128;
constexpr std::size_t max_parts = 256;  // of one message
constexpr std::size_t max_held_bytes = 32 * 1024 * 1024;
constexpr std::string_view message_separator = "\n\n";

std::optional<std::int64_t> index_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return std::nullopt;
  boost::system::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  if (ec) return std::nullopt;
  return n;
}

// Events that contain the response repeat the tools of the request, whose schemas may be deeply nested.
std::optional<json::value> parse_deep_event(std::string_view data) {
  auto v = llm::parse_event(data);
  if (v) return v;
  json::parse_options options;
  options.max_depth = 128;
  boost::system::error_code ec;
  v = json::parse(data, ec, {}, options);
  if (ec) return std::nullopt;
  return v;
}

// The response object of an event; a gateway may send it without the enclosing event.
const json::object& response_of(const json::object& o) {
  const auto* r = object_at(o, "response");
  return r ? *r : o;
}

// The arguments of a call, as text or as an object.
std::string arguments_of(const json::object& o) {
  const auto* v = o.if_contains("arguments");
  if (v && v->is_object()) return json::serialize(*v);
  return std::string(text_at(o, "arguments"));
}

// The text of a content part: "text" or "refusal".
std::string_view text_of_part(const json::object& part) {
  const auto text = text_at(part, "text");
  return text.empty() ? text_at(part, "refusal") : text;
}

std::string text_of_message(const json::object& item) {
  std::string out(text_at(item, "content"));
  if (const auto* parts = array_at(item, "content"))
    for (const auto& p : *parts)
      if (const auto* o = p.if_object()) out += text_of_part(*o);
  return out;
}

}  // namespace

responses_reader::handler responses_reader::handler_of(std::string_view type) {
  using self = responses_reader;
  static constexpr struct {
    std::string_view type;
    handler function;
  } known[] = {{"response.output_text.delta", &self::text_delta},
               {"response.output_text.done", &self::text_done},
               {"response.refusal.delta", &self::refusal_delta},
               {"response.refusal.done", &self::text_done},
               {"response.content_part.done", &self::part_done},
               {"response.reasoning_summary_text.delta", &self::summary_delta},
               {"response.reasoning_text.delta", &self::reasoning_delta},
               {"response.function_call_arguments.delta", &self::arguments_delta},
               {"response.function_call_arguments.done", &self::arguments_done},
               {"response.output_item.added", &self::item_added},
               {"response.output_item.done", &self::item_done},
               {"response.completed", &self::completed},
               {"response.done", &self::completed},
               {"response.incomplete", &self::incomplete},
               {"response.failed", &self::response_failed},
               {"response.cancelled", &self::cancelled},
               {"response.error", &self::error},
               {"error", &self::error}};
  for (const auto& k : known)
    if (type == k.type) return k.function;
  return nullptr;
}

void responses_reader::event(std::string_view name, std::string_view data, llm::receiver& to) {
  if (ended_ || data.empty()) return;
  if (data == "[DONE]") return closed(to);
  const auto v = parse_deep_event(data);
  if (name == "error") {
    return v && v->is_object() ? error(v->get_object(), to) : fail(llm::failure_of_body(data, 0));
  }
  if (!v || !v->is_object())
    return fail(llm::failure_of_malformed_event(data, "the model provider sent an event that is not valid JSON"));
  dispatch(v->get_object(), name, to);
}

void responses_reader::document(const json::object& o, llm::receiver& to) {
  if (!ended_) dispatch(o, {}, to);
}

void responses_reader::dispatch(const json::object& o, std::string_view name, llm::receiver& to) {
  auto type = text_at(o, "type");
  if (type.empty()) type = name;
  if (type.empty() && text_at(o, "object") == "response") type = "response.completed";
  if (const auto handler = handler_of(type)) return (this->*handler)(o, to);
  // Events of other types report progress, unless they contain an error.
  if (llm::error_in(o)) error(o, to);
}

void responses_reader::closed(llm::receiver&) {
  if (ended_) return;
  fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider ended the response before it was complete"});
}

// ---- item lookup ---------------------------------------------------------------------------------------

responses_reader::kind responses_reader::kind_of(const json::object& item) {
  const auto type = text_at(item, "type");
  if (type == "message") return kind::message;
  if (type == "reasoning") return kind::reasoning;
  return type == "function_call" ? kind::call : kind::other;
}

responses_reader::reference responses_reader::reference_of(const json::object& event) {
  return {llm::bounded_id(text_at(event, "item_id")), llm::bounded_id(text_at(event, "call_id")),
          index_at(event, "output_index")};
}

responses_reader::reference responses_reader::reference_of(const json::object& item,
                                                           std::optional<std::int64_t> index) {
  return {llm::bounded_id(text_at(item, "id")), llm::bounded_id(text_at(item, "call_id")), index};
}

// Finds an item by its id, then by its call id: some gateways use one of these ids for several items, others change one
// of them between events. Prefers items that are not done.
responses_reader::output_item* responses_reader::find_named(kind k, const reference& r) {
  const auto find = [&](auto&& fits) {
    output_item* found = nullptr;
    for (auto& i : items_)
      if (i.type == k && fits(i) && (found == nullptr || (found->done && !i.done))) found = &i;
    return found;
  };
  const auto same_id = [&](const output_item& i) { return !r.id.empty() && i.id == r.id; };
  const auto same_call = [&](const output_item& i) { return !r.call_id.empty() && i.call_id == r.call_id; };
  if (auto* i = find([&](const output_item& x) { return same_id(x) && same_call(x); })) return i;
  const auto other_call = [&](const output_item& i) {
    return i.done && !r.call_id.empty() && !i.call_id.empty() && i.call_id != r.call_id;
  };
  if (auto* i = find([&](const output_item& x) { return same_id(x) && !other_call(x); })) return i;
  return find(same_call);
}

// Whether an announced item is not `i`, although find_named() matched it.
bool responses_reader::is_different_item(const output_item& i, const reference& announced) {
  const auto differ = [](std::string_view a, std::string_view b) { return !a.empty() && !b.empty() && a != b; };
  if (!i.announced) return false;
  return differ(i.id, announced.id) || differ(i.call_id, announced.call_id) ||
         (i.done && i.index && announced.index && *i.index != *announced.index);
}

// The latest item of the kind that is not done, with the same index if both have one.
responses_reader::output_item* responses_reader::find_open(kind k, const reference& r) {
  for (auto i = items_.rbegin(); i != items_.rend(); ++i)
    if (i->type == k && !i->done && (!r.index || !i->index || *r.index == *i->index)) return &*i;
  return nullptr;
}

responses_reader::output_item* responses_reader::first_call_without_complete_arguments() {
  const auto i = std::find_if(items_.begin(), items_.end(), [](const output_item& x) {
    return x.type == kind::call && !x.done && !x.complete_arguments;
  });
  return i == items_.end() ? nullptr : &*i;
}

// nullptr: there are too many items, and the answer has failed.
responses_reader::output_item* responses_reader::add(kind k, const reference& r) {
  if (items_.size() >= max_output_items || (k == kind::call && calls_ >= max_calls)) {
    fail({RY_DATA_LOSS, "llm.protocol", "the model asked for too many tool calls or messages"});
    return nullptr;
  }
  if (k == kind::call) ++calls_;
  auto& i = items_.emplace_back();
  i.type = k;
  i.id = r.id;
  i.call_id = r.call_id;
  i.index = r.index;
  return &i;
}

// Returns the item of a text, reasoning or arguments delta. Adds it if necessary: some gateways do not announce items.
responses_reader::output_item* responses_reader::item_of_delta(kind k, const json::object& event) {
  const auto r = reference_of(event);
  if (auto* i = find_named(k, r)) return i;
  if (auto* i = find_open(k, r)) return i;
  // Arguments without an id belong to an announced call, whatever their index.
  if (k == kind::call && r.id.empty() && r.call_id.empty())
    if (auto* i = find_open(k, {})) return i;
  return add(k, r);
}

// Returns the item of a complete text or complete arguments, which may arrive after the item is done.
responses_reader::output_item* responses_reader::item_of_complete(kind k, const json::object& event) {
  const auto r = reference_of(event);
  if (find_named(k, r) == nullptr && find_open(k, r) == nullptr)
    for (auto i = items_.rbegin(); i != items_.rend(); ++i)
      if (i->type == k && i->index == r.index) return &*i;
  return item_of_delta(k, event);
}

void responses_reader::item_added(const json::object& o, llm::receiver&) {
  const auto* item = object_at(o, "item");
  const kind k = item ? kind_of(*item) : kind::other;
  if (k == kind::other) return;
  const auto r = reference_of(*item, index_at(o, "output_index"));
  auto* i = find_named(k, r);
  if (i && is_different_item(*i, r))
    i = nullptr;
  else if (!i && (i = find_open(k, r)) && i->announced)
    i = nullptr;
  if (!i) i = add(k, r);
  if (!i) return;
  i->announced = true;
  if (i->name.empty()) i->name = text_at(*item, "name");
  if (i->phase.empty()) i->phase = text_at(*item, "phase");
  if (k == kind::call) i->announced_arguments = arguments_of(*item);
  count_bytes(i->announced_arguments.size());
}

void responses_reader::item_done(const json::object& o, llm::receiver& to) {
  const auto* item = object_at(o, "item");
  const kind k = item ? kind_of(*item) : kind::other;
  if (k == kind::other) return;
  const auto r = reference_of(*item, index_at(o, "output_index"));
  auto* i = find_named(k, r);
  // The item may not have been announced, or its ids may have changed.
  if (!i) i = find_open(k, r);
  if (i && k == kind::call && !r.call_id.empty() && !i->call_id.empty() && i->call_id != r.call_id) i = nullptr;
  if (!i) i = add(k, r);
  if (i) merge_item(*i, *item, to);
}

// ---- text --------------------------------------------------------------------------------------------

// Whether the message has already delivered the text, a prefix of it or a longer text, or has it as a part.
bool responses_reader::has_delivered(const output_item& m, std::string_view text) {
  if (std::any_of(m.parts.begin(), m.parts.end(), [text](const part& p) { return p.text == text; })) return true;
  for (const auto& p : m.parts) {
    const auto size = std::min(text.size(), p.text.size());
    if (text.substr(0, size) != std::string_view(p.text).substr(0, size)) return false;
    text.remove_prefix(size);
  }
  return !m.parts.empty();
}

// Several messages of one answer become paragraphs of its text.
void responses_reader::add_text(output_item& m, std::int64_t content_index, std::string_view text, llm::receiver& to) {
  if (text.empty() || !count_bytes(text.size())) return;
  auto p = std::find_if(m.parts.begin(), m.parts.end(), [&](const part& x) { return x.index == content_index; });
  if (p == m.parts.end()) p = m.parts.insert(p, {content_index, {}});
  if (m.parts.size() > max_parts || spans_.size() > max_output_items) return fail_too_large();
  p->text += text;
  if (spans_.empty() || spans_.back().of != &m) {
    if (text_bytes_ != 0) {
      to.text(message_separator);
      text_bytes_ += message_separator.size();
    }
    spans_.push_back({&m, text_bytes_, 0});
  }
  produced_ += text.size();
  text_bytes_ += text.size();
  spans_.back().size += text.size();
  to.text(text);
}

// Completes a part with its full text, of which all, a prefix or nothing has been delivered.
void responses_reader::complete_part(output_item& m, std::int64_t content_index, std::string_view text,
                                     llm::receiver& to) {
  const auto p = std::find_if(m.parts.begin(), m.parts.end(), [&](const part& x) { return x.index == content_index; });
  if (p == m.parts.end()) {
    if (!has_delivered(m, text)) add_text(m, content_index, text, to);  // otherwise it arrived with another index
    return;
  }
  // Delivered text cannot be changed; the rest can follow only if this part is the last text.
  const bool is_last = !spans_.empty() && spans_.back().of == &m && std::next(p) == m.parts.end();
  if (is_last && text.size() > p->text.size() && text.starts_with(p->text)) {
    const std::string rest(text.substr(p->text.size()));
    add_text(m, content_index, rest, to);
  }
}

void responses_reader::text_delta(const json::object& o, llm::receiver& to) {
  if (auto* m = item_of_delta(kind::message, o))
    add_text(*m, index_at(o, "content_index").value_or(0), text_at(o, "delta"), to);
}

void responses_reader::refusal_delta(const json::object& o, llm::receiver& to) {
  has_refusal_ = true;
  text_delta(o, to);
}

void responses_reader::text_done(const json::object& o, llm::receiver& to) {
  if (!text_at(o, "refusal").empty()) has_refusal_ = true;
  if (auto* m = item_of_complete(kind::message, o))
    complete_part(*m, index_at(o, "content_index").value_or(0), text_of_part(o), to);
}

void responses_reader::part_done(const json::object& o, llm::receiver& to) {
  const auto* p = object_at(o, "part");
  if (!p || text_at(*p, "type") == "reasoning_text") return;
  if (text_at(*p, "type") == "refusal") has_refusal_ = true;
  if (auto* m = item_of_complete(kind::message, o))
    complete_part(*m, index_at(o, "content_index").value_or(0), text_of_part(*p), to);
}

// ---- reasoning ---------------------------------------------------------------------------------------

void responses_reader::add_reasoning(output_item& r, std::int64_t part_index, std::string_view text,
                                     llm::receiver& to) {
  if (text.empty()) return;
  const std::pair<const output_item*, std::int64_t> now{&r, part_index};
  if (last_reasoning_part_.first != nullptr && last_reasoning_part_ != now) to.reasoning(message_separator);
  last_reasoning_part_ = now;
  r.reasoning_bytes += text.size();
  produced_ += text.size();
  to.reasoning(text);
}

void responses_reader::summary_delta(const json::object& o, llm::receiver& to) {
  if (auto* r = item_of_delta(kind::reasoning, o))
    add_reasoning(*r, index_at(o, "summary_index").value_or(0), text_at(o, "delta"), to);
}

void responses_reader::reasoning_delta(const json::object& o, llm::receiver& to) {
  if (auto* r = item_of_delta(kind::reasoning, o))
    add_reasoning(*r, index_at(o, "content_index").value_or(0), text_at(o, "delta"), to);
}

// ---- calls -------------------------------------------------------------------------------------------

void responses_reader::arguments_delta(const json::object& o, llm::receiver&) {
  auto* call = item_of_delta(kind::call, o);
  const auto piece = text_at(o, "delta");
  if (!call || !count_bytes(piece.size())) return;
  produced_ += piece.size();
  call->arguments += piece;
}

void responses_reader::arguments_done(const json::object& o, llm::receiver&) {
  const auto r = reference_of(o);
  // If complete arguments do not identify their call, they arrive in the order of the calls (llama.cpp).
  const bool unnamed = r.id.empty() && r.call_id.empty() && !r.index;
  auto* call = unnamed ? first_call_without_complete_arguments() : nullptr;
  if (!call) call = item_of_complete(kind::call, o);
  if (!call) return;
  if (call->name.empty()) call->name = text_at(o, "name");
  merge_arguments(*call, o);
}

// Complete arguments replace the deltas, unless they contain less.
void responses_reader::merge_arguments(output_item& call, const json::object& from) {
  std::string complete = arguments_of(from);
  if (!complete.empty()) call.complete_arguments = true;
  if (complete.empty() || complete == call.arguments || !count_bytes(complete.size())) return;
  if (llm::means_no_arguments(complete) && !llm::means_no_arguments(call.arguments)) return;
  produced_ += complete.size() - std::min(complete.size(), call.arguments.size());
  call.arguments = std::move(complete);
}

// ---- complete items ------------------------------------------------------------------------------------

void responses_reader::merge_item(output_item& into, const json::object& item, llm::receiver& to) {
  into.announced = into.done = true;
  const auto learn = [&item](std::string& member, std::string_view key) {
    if (member.empty()) member = llm::bounded_id(text_at(item, key));
  };
  learn(into.id, "id");
  switch (into.type) {
    case kind::message:
      learn(into.phase, "phase");
      return merge_message(into, item, to);
    case kind::reasoning:
      return merge_reasoning(into, item, to);
    case kind::call:
      learn(into.call_id, "call_id");
      learn(into.name, "name");
      into.incomplete = text_at(item, "status") == "incomplete";
      return merge_arguments(into, item);
    case kind::other:
      return;
  }
}

void responses_reader::merge_message(output_item& m, const json::object& item, llm::receiver& to) {
  if (const auto text = text_at(item, "content"); !text.empty()) complete_part(m, 0, text, to);
  const auto* parts = array_at(item, "content");
  if (parts == nullptr) return;
  for (std::size_t n = 0; n < parts->size() && !ended_; ++n) {
    const auto* p = (*parts)[n].if_object();
    if (p == nullptr) continue;
    if (text_at(*p, "type") == "refusal") has_refusal_ = true;
    complete_part(m, static_cast<std::int64_t>(n), text_of_part(*p), to);
  }
}

void responses_reader::merge_reasoning(output_item& r, const json::object& item, llm::receiver& to) {
  if (r.reasoning_bytes == 0) {
    const auto* content = array_at(item, "content");
    const auto* parts = content && !content->empty() ? content : array_at(item, "summary");
    for (std::size_t n = 0; parts && n < parts->size(); ++n)
      if (const auto* p = (*parts)[n].if_object())
        add_reasoning(r, static_cast<std::int64_t>(n), text_at(*p, "text"), to);
  }
  if (text_at(item, "status") == "incomplete") return;
  auto replayable = replayable_reasoning(item);
  if (replayable.empty() || replayable == r.replayable || !count_bytes(json::serialize(replayable).size())) return;
  r.replayable = std::move(replayable);
}

// ---- the end -----------------------------------------------------------------------------------------

// Whether an item of the final list has already arrived under other ids: some gateways change them.
bool responses_reader::is_known(kind k, const json::object& item, std::optional<std::int64_t> index) const {
  const auto any = [&](auto&& same) {
    return std::any_of(items_.begin(), items_.end(), [&](const output_item& i) { return i.type == k && same(i); });
  };
  switch (k) {
    case kind::message: {
      const std::string text = text_of_message(item);
      return text.empty() || any([&](const output_item& i) { return has_delivered(i, text); });
    }
    case kind::reasoning:
      return any([](const output_item& i) { return i.reasoning_bytes != 0 || !i.replayable.empty(); });
    case kind::call: {
      const auto call_id = text_at(item, "call_id");
      const auto name = text_at(item, "name");
      const auto arguments = arguments_of(item);
      return any([&](const output_item& i) {
        const bool may_be = call_id.empty() || i.call_id.empty() || i.index == index;
        return may_be && i.name == name && i.arguments == arguments;
      });
    }
    case kind::other:
      break;
  }
  return true;
}

void responses_reader::merge_output(const json::object& response, llm::receiver& to) {
  usage(response);
  const auto* output = array_at(response, "output");
  if (output == nullptr) return;
  if (output->size() > max_output_items) return fail_too_large();
  for (std::size_t n = 0; n < output->size() && !ended_; ++n) {
    const auto* item = (*output)[n].if_object();
    const kind k = item ? kind_of(*item) : kind::other;
    if (k == kind::other) continue;
    const auto r = reference_of(*item, static_cast<std::int64_t>(n));
    auto* i = find_named(k, r);
    if (!i && k != kind::call)
      for (auto& known : items_)
        if (known.type == k && known.index == r.index) i = &known;
    if (!i && is_known(k, *item, r.index)) continue;
    if (!i) i = add(k, r);
    if (i) merge_item(*i, *item, to);
  }
}

void responses_reader::usage(const json::object& response) {
  const auto* u = object_at(response, "usage");
  if (u == nullptr) return;
  const auto count = [](const json::object& o, std::string_view key, std::string_view other) {
    const auto n = llm::count_at(o, key);
    return n ? n : llm::count_at(o, other);
  };
  if (const auto n = count(*u, "input_tokens", "prompt_tokens")) {
    usage_.input = *n;
    usage_.input_reported = true;
  }
  if (const auto n = count(*u, "output_tokens", "completion_tokens")) {
    usage_.output = *n;
    usage_.output_reported = true;
  }
  const auto* d = object_at(*u, "input_tokens_details");
  if (!d) d = object_at(*u, "prompt_tokens_details");
  if (d == nullptr) return;
  usage_.cached = std::min(llm::count_at(*d, "cached_tokens").value_or(0), usage_.input);
  usage_.cache_write = llm::count_at(*d, "cache_write_tokens").value_or(0);
}

void responses_reader::completed(const json::object& o, llm::receiver& to) {
  const auto& response = response_of(o);
  const auto status = text_at(response, "status");
  if (status == "in_progress" || status == "queued") return;  // the answer has only just started
  if (status == "incomplete") return incomplete(o, to);
  if (status == "failed") return response_failed(o, to);
  if (status == "cancelled") return cancelled(o, to);
  merge_output(response, to);
  if (ended_) return;
  const bool has_incomplete_call =
      std::any_of(items_.begin(), items_.end(), [](const output_item& i) { return i.incomplete; });
  if (has_incomplete_call) return finish_answer(RY_LLM_FINISH_LENGTH, to);
  if (calls_ != 0) return finish_answer(RY_LLM_FINISH_TOOL_CALLS, to);
  finish_answer(has_refusal_ ? RY_LLM_FINISH_REFUSAL : RY_LLM_FINISH_STOP, to);
}

void responses_reader::incomplete(const json::object& o, llm::receiver& to) {
  const auto& response = response_of(o);
  merge_output(response, to);
  if (ended_) return;
  const auto* details = object_at(response, "incomplete_details");
  const auto reason = details ? text_at(*details, "reason") : std::string_view();
  auto finish = reason.empty() ? RY_LLM_FINISH_LENGTH : llm::finish_of(reason);
  if (finish == RY_LLM_FINISH_STOP) finish = RY_LLM_FINISH_ERROR;  // the answer is incomplete, whatever the reason
  finish_answer(finish, to);
}

void responses_reader::response_failed(const json::object& o, llm::receiver&) {
  const auto& response = response_of(o);
  usage(response);
  fail(with_learned_rejections(llm::failure_of(response, 0), response));
}

void responses_reader::cancelled(const json::object& o, llm::receiver&) {
  usage(response_of(o));
  fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider cancelled the answer"});
}

void responses_reader::error(const json::object& o, llm::receiver&) {
  fail(with_learned_rejections(llm::failure_of(o, 0), o));
}

void responses_reader::finish_answer(std::int32_t finish, llm::receiver& to) {
  finish_ = finish;
  ended_ = true;
  deliver_items(to);
  std::size_t n = 0;
  for (const auto& i : items_) {
    if (i.type != kind::call) continue;
    ++n;
    if (i.name.empty()) continue;
    const auto& id = i.call_id.empty() ? i.id : i.call_id;
    // A limit may have truncated the arguments of the last call.
    const bool truncated = i.incomplete || (finish == RY_LLM_FINISH_LENGTH && n == calls_);
    // Omits arguments that look complete but are reported as incomplete: a part may be missing.
    std::string arguments;
    if (!i.incomplete || !llm::is_complete_object(i.arguments)) {
      llm::argument_accumulator accumulator;
      accumulator.add(i.arguments.empty() ? i.announced_arguments : i.arguments);
      arguments = llm::final_arguments(accumulator.take(), truncated);
    }
    to.tool_call(id.empty() ? "call_" + std::to_string(n) : id, i.name, arguments);
  }
}

// Delivers the order of the answer's items with the data that only this provider understands. Reasoning belongs to the
// item after it.
void responses_reader::deliver_items(llm::receiver& to) {
  json::array list;
  bool has_provider_data = false;
  for (const auto& i : items_) {
    if (i.type == kind::reasoning && !i.replayable.empty()) {
      list.push_back(i.replayable);
      has_provider_data = true;
    } else if (i.type == kind::message) {
      for (const auto& s : spans_) {
        if (s.of != &i) continue;
        json::object message{{"type", "message"}, {"at", s.at}, {"size", s.size}};
        if (!i.phase.empty()) message["phase"] = i.phase;
        has_provider_data = has_provider_data || !i.phase.empty();
        list.push_back(std::move(message));
      }
    } else if (i.type == kind::call && !i.name.empty()) {
      list.push_back({{"type", "function_call"}, {"call_id", i.call_id.empty() ? i.id : i.call_id}});
    }
  }
  if (!has_provider_data) return;
  to.reasoning_block(json::serialize(json::object{{"driver", "openai"},
                                                  {"model", origin_.model},
                                                  {"provider", origin_.provider},
                                                  {"wire", "responses"},
                                                  {"items", std::move(list)}}));
}

bool responses_reader::count_bytes(std::size_t bytes) {
  held_bytes_ += bytes;
  if (held_bytes_ <= max_held_bytes) return !ended_;
  fail_too_large();
  return false;
}

void responses_reader::fail_too_large() {
  fail({RY_DATA_LOSS, "llm.protocol", "the answer of the model provider is too large"});
}

// ---- failures ----------------------------------------------------------------------------------------

// Rejected reasoning items are not fatal: the next request omits them.
llm::failure responses_reader::with_learned_rejections(llm::failure f, const json::object& body) const {
  const auto* inner = object_at(body, "error");
  const json::object& e = inner ? *inner : body;
  if (f.status == RY_INVALID_ARGUMENT || f.status == RY_NOT_FOUND || f.status == RY_UNAVAILABLE)
    if (learn_rejection(text_at(e, "code"), text_at(e, "param"), f.message)) {
      f.status = RY_UNAVAILABLE;
      f.reason = "llm.unavailable";
    }
  return f;
}

// True if the provider rejected the request's reasoning items and the next request omits them.
bool responses_reader::learn_rejection(std::string_view code, std::string_view param, std::string_view message) const {
  if (!refusals_) return false;
  const auto message_contains = [message](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  if (message_contains("ncrypted content is not supported") || param == "include" || param.starts_with("include["))
    return refusals_->add_model(origin_.model);
  const bool cannot_decrypt = code == "invalid_encrypted_content" ||
                              (message_contains("ncrypted content") && (message_contains("could not be verified") ||
                                                                        message_contains("could not be decrypted")));
  const bool item_unknown = message_contains("Item with id 'rs_") && message_contains("not found");
  // The item after the reasoning is missing, for example the call of a hosted tool, which is not stored.
  const bool following_item_missing = message_contains("of type 'reasoning' was provided without its required");
  return (cannot_decrypt || item_unknown || following_item_missing) && refusals_->add(sent_);
}

llm::failure responses_reader::refused(unsigned http_status, std::string_view body) const {
  const auto v = llm::parse_event(body);
  auto f = llm::failure_of_body(body, http_status);
  return v && v->is_object() ? with_learned_rejections(std::move(f), v->get_object()) : f;
}

}  // namespace openai
