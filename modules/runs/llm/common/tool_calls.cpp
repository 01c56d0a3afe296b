#include "tool_calls.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <ry/cpp/text.hpp>
#include <set>
#include <utility>

#include "json_text.hpp"
#include "request.hpp"
#include "tool_ids.hpp"

namespace llm {

namespace json = boost::json;

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool all_blank(std::string_view s) {
  return s.find_first_not_of(blanks) == std::string_view::npos;
}

// Returns the position after the object at the beginning of `s`; npos if it is incomplete.
std::size_t object_end(std::string_view s) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

bool starts_object(std::string_view s) {
  return ry::trimmed(s).starts_with('{');
}

bool empty_object(std::string_view s) {
  s = ry::trimmed(s);
  return s.starts_with('{') && s.ends_with('}') && all_blank(s.substr(1, s.size() - 2));
}

// Texts of very different lengths count as different, so that comparing many short texts with a long one stays cheap.
bool same_value(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (a.size() / 4 > b.size() || b.size() / 4 > a.size()) return false;
  boost::system::error_code bad_a, bad_b;
  const auto x = json::parse(a, bad_a), y = json::parse(b, bad_b);
  return !bad_a && !bad_b && x == y;
}

// Whether `next` contains all of `before`, and perhaps more.
bool extends(std::string_view next, std::string_view before) {
  before.remove_suffix(1);
  before = ry::trimmed(before);
  if (!next.starts_with(before)) return false;
  const auto rest = ry::trimmed(next.substr(before.size()));
  return rest.starts_with(',') || rest.starts_with('}');
}

std::string generated_id(std::string_view seed, std::size_t ordinal, const assembled_call& of) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto mix = [&hash](std::string_view s) {
    for (const char c : s) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    hash = (hash ^ 0x100) * 1099511628211ull;
  };
  mix(seed);
  mix(std::to_string(ordinal));
  mix(of.name);
  mix(of.arguments);
  hash ^= hash >> 29;
  std::string out(9, '0');
  for (char& c : out) {
    c = "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
    hash /= 36;
  }
  return out;
}

}  // namespace

bool is_complete_object(std::string_view text) {
  text = ry::trimmed(text);
  return text.starts_with('{') && object_end(text) == text.size();
}

bool means_no_arguments(std::string_view text) {
  text = ry::trimmed(text);
  if (text.empty() || text == "null" || empty_object(text)) return true;
  const bool enclosed =
      text.size() >= 2 && ((text.front() == '[' && text.back() == ']') || (text.front() == '"' && text.back() == '"'));
  return enclosed && (all_blank(text.substr(1, text.size() - 2)) || text == "\"null\"");
}

std::string final_arguments(std::string taken, bool truncated) {
  if (!is_complete_object(taken) && means_no_arguments(taken)) return truncated ? "" : "{}";
  if (auto paired = without_lone_surrogates(taken)) return std::move(*paired);
  return taken;
}

void argument_accumulator::add(std::string_view piece) {
  std::size_t i = 0;
  for (; i < piece.size() && !closed_; ++i) {
    const char c = piece[i];
    if (first_ == std::string::npos) {
      if (blanks.find(c) != std::string_view::npos) continue;
      first_ = text_.size() + i;
      object_ = c == '{';
    }
    if (!object_) continue;
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      closed_ = true;
    }
  }
  text_.append(piece.substr(0, i));
  trailing_.append(piece.substr(i));
}

bool argument_accumulator::is_repeated_by(std::string_view other) const {
  const auto object = ry::trimmed(text_);
  other = ry::trimmed(other);
  return closed_ && starts_object(other) &&
         (empty_object(object) || extends(other, object) || same_value(object, other));
}

std::string argument_accumulator::take() {
  if (!closed_) {
    const auto text = ry::trimmed(text_);
    // "null" before the object, or an object written as a JSON string.
    if (text.starts_with("null") && starts_object(text.substr(4))) return std::string(ry::trimmed(text.substr(4)));
    if (text.starts_with('"')) {
      boost::system::error_code ec;
      const auto v = json::parse(text, ec);
      if (!ec && v.is_string() && is_complete_object(v.get_string())) return std::string(v.get_string());
    }
    return std::move(text_);
  }
  std::string_view rest = ry::trimmed(trailing_);
  if (rest.empty()) return std::move(text_);
  std::string_view best = ry::trimmed(text_);
  while (!rest.empty()) {
    const auto end = rest.starts_with('{') ? object_end(rest) : std::string_view::npos;
    const std::string_view next = rest.substr(0, end);
    const bool incomplete = end == std::string_view::npos;
    if (empty_object(best) && next.starts_with('{'))
      best = next;
    else if (!incomplete && extends(next, best))
      best = next;
    else if (incomplete || (!empty_object(next) && !same_value(best, next)))
      return text_ + trailing_;  // different objects: ambiguous
    rest = incomplete ? std::string_view() : ry::trimmed(rest.substr(end));
  }
  return std::string(best);
}

std::optional<std::size_t> tool_call_assembly::add(const json::array& calls) {
  ++deltas_;
  std::size_t bytes = 0, position = 0;
  for (const auto& v : calls) {
    const auto* o = v.if_object();
    if (!o) continue;
    const auto taken = add(*o, position++);
    if (!taken) return std::nullopt;
    bytes += *taken;
  }
  return bytes;
}

std::optional<std::size_t> tool_call_assembly::add_function(const json::object& function) {
  ++deltas_;
  return add({{"index", 0}, {"function", function}}, 0);
}

std::optional<std::size_t> tool_call_assembly::add(const json::object& o, std::size_t position) {
  piece p;
  p.position = position;
  p.id = bounded_id(text_at(o, "id"));
  const auto* f = object_at(o, "function");
  const json::object& named = f ? *f : o;
  p.name = text_at(named, "name");
  if (const auto* at = o.if_contains("index")) {
    std::int64_t n = -1;
    if (at->is_int64())
      n = at->get_int64();
    else if (const auto* s = at->if_string())
      std::from_chars(s->data(), s->data() + s->size(), n);
    else if (at->is_double() && at->get_double() >= 0 && at->get_double() < 1e6)
      n = static_cast<std::int64_t>(at->get_double());
    if (n >= 0) p.index = n;
  }
  std::string serialized;  // arguments that arrived as JSON instead of text
  const auto* arguments = named.if_contains("arguments");
  if (arguments && arguments->is_string()) {
    p.arguments = arguments->get_string();
  } else if (arguments && (arguments->is_object() || arguments->is_array())) {
    serialized = json::serialize(*arguments);
    p.arguments = serialized;
  }
  p.is_complete = is_complete_object(p.arguments);
  const auto* extra = object_at(o, "extra_content");
  if (extra && extra->empty()) extra = nullptr;
  return add(p, extra);
}

std::optional<std::size_t> tool_call_assembly::add(const piece& p, const json::object* extra) {
  call* c = find_call_for(p);
  if (c == nullptr || starts_new_call(*c, p)) {
    if (p.id.empty() && p.name.empty() && all_blank(p.arguments)) return 0;
    if (calls_.size() >= max_calls) return std::nullopt;
    calls_.push_back({p.index, {}, {}, deltas_, {}, {}});
    c = &calls_.back();
  }
  if (c->id.empty()) {
    c->id = p.id;
    bytes_ += p.id.size();
  }
  if (p.name.starts_with(c->name))
    c->name = p.name;  // the first part, a repetition, or the complete name so far
  else if (p.name != c->name)
    c->name += p.name;
  if (extra != nullptr) {
    c->extra = *extra;
    bytes_ += json::serialize(*extra).size();
  }
  bytes_ += p.arguments.size() + p.name.size();
  if (bytes_ > max_bytes) return std::nullopt;
  c->arguments.add(p.arguments);
  return p.arguments.size();
}

// Returns the call that the piece continues, unless starts_new_call() holds; nullptr: the piece starts a new call.
tool_call_assembly::call* tool_call_assembly::find_call_for(const piece& p) {
  if (calls_.empty()) return nullptr;
  call& last = calls_.back();
  const auto from_back = [this](auto&& fits) {
    const auto it = std::find_if(calls_.rbegin(), calls_.rend(), fits);
    return it == calls_.rend() ? nullptr : &*it;
  };
  call* same_id = p.id.empty() ? nullptr : from_back([&](const call& c) { return c.id == p.id; });
  if (!p.index) {
    if (same_id != nullptr) return same_id;
    if (p.position == 0) return &last;
    if (!p.name.empty()) return nullptr;
    return p.position < calls_.size() ? &calls_[p.position] : &last;
  }
  if (call* c = from_back([&](const call& x) { return x.index == p.index; })) return c;
  // A new index. Some servers count chunks instead of calls.
  if (same_id != nullptr && (p.name.empty() || (p.name == same_id->name && !same_id->arguments.complete())))
    return same_id;
  if (last.delta == deltas_ || last.arguments.complete() || all_blank(p.arguments)) return nullptr;
  if (p.name.empty()) return &last;
  const bool continues_last = p.name == last.name && !last.arguments.blank() && !starts_object(p.arguments);
  return continues_last ? &last : nullptr;
}

bool tool_call_assembly::starts_new_call(const call& c, const piece& p) const {
  const bool other_id = !p.id.empty() && !c.id.empty() && p.id != c.id;
  const bool no_arguments = all_blank(p.arguments);
  if (p.name.empty()) return other_id && c.arguments.complete() && no_arguments;  // the name follows in a later delta
  if (c.delta == deltas_ && p.position > 0) return true;  // two elements of one delta
  if (c.name.empty()) return false;
  const bool same_name = p.name == c.name;
  if (c.arguments.complete()) {
    if (!same_name || other_id) return true;
    return starts_object(p.arguments) && !c.arguments.is_repeated_by(p.arguments);
  }
  if (same_name) return other_id && !p.index && (p.is_complete || (no_arguments && c.arguments.blank()));
  if (!c.arguments.blank() || other_id) return true;
  // A name in parts, or the previous call has no arguments.
  return p.id.empty() && !no_arguments && !p.index;
}

std::vector<assembled_call> tool_call_assembly::take(std::string_view seed, bool finished) {
  std::vector<assembled_call> out;
  std::set<std::string, std::less<>> ids;
  for (call& c : calls_) {
    if (c.name.empty()) continue;
    assembled_call a{std::move(c.id), std::move(c.name), c.arguments.take(), std::move(c.extra)};
    // A limit may have truncated the arguments of the last call.
    const bool truncated = !finished && &c == &calls_.back();
    a.arguments = final_arguments(std::move(a.arguments), truncated);
    for (std::size_t n = out.size(); a.id.empty() || ids.contains(a.id); ++n) {
      a.id = generated_id(seed, n, a);
    }
    ids.insert(a.id);
    out.push_back(std::move(a));
  }
  calls_.clear();
  return out;
}

}  // namespace llm
