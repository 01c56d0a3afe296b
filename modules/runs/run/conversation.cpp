#include "run/conversation.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/utf8.hpp>
#include <set>

#include "json/exact.hpp"
#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_argument_depth = 32;
constexpr std::size_t max_id_bytes = 256, max_name_bytes = 256;  // of a call; tool names are shorter
constexpr std::string_view no_result = "The call was interrupted and has no result.";
constexpr std::string_view truncated_call =
    "The call was not made: the answer reached the output limit before the arguments were complete. Make the call "
    "again with shorter arguments, in several smaller calls if necessary.";
constexpr std::string_view malformed_call = "the arguments were not a valid JSON object";
constexpr std::string_view continue_after_truncation =
    "Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything and "
    "without an introduction.";
constexpr std::string_view continue_prompt = "Continue.";

json::object parse_object(std::string_view text) {
  boost::system::error_code error;
  json::value v = module_json::parse_exactly(text, body_options().max_depth, error);
  return !error && v.is_object() ? std::move(v.as_object()) : json::object();
}

constexpr std::string_view finish_length = "length", finish_pause = "pause";

// A text search suffices, because quotes inside strings are escaped. Only for bodies of tool and summary messages:
// arguments of calls may contain such a member.
bool contains_loaded_tools(std::string_view body) {
  return body.find("\"loaded_tools\":") != std::string_view::npos;
}

constexpr std::string_view repair_mark = ",\"repair\":true}";

// Without the members that only the executor reads; for bodies of tool and summary messages.
std::string without_marks(const std::string& body) {
  if (!contains_loaded_tools(body) && !body.ends_with(repair_mark)) return body;
  json::object o = parse_object(body);
  o.erase("loaded_tools");
  o.erase("repair");
  return one_line(std::move(o));
}

// A text search suffices, because quotes inside strings are escaped.
bool contains_finish(std::string_view body) {
  return body.find("\"finish\":") != std::string_view::npos;
}

// Why an answer is unfinished: length or pause. Empty for all other messages.
std::string_view unfinished_reason(const chat_message& m) {
  if (m.role != "assistant" || !contains_finish(m.body)) return {};
  const std::string finish = module_json::text_of(parse_object(m.body), "finish");
  return finish == finish_length ? finish_length : finish == finish_pause ? finish_pause : std::string_view();
}

// Below the maximum of double, because parsing the serialized number rounds and could yield infinity.
constexpr double max_number = 1e308;

void clamp_numbers(json::value& v) {
  if (double* number = v.if_double()) *number = std::clamp(*number, -max_number, max_number);
  if (json::array* items = v.if_array())
    for (json::value& item : *items) clamp_numbers(item);
  if (json::object* members = v.if_object())
    for (auto& member : *members) clamp_numbers(member.value());
}

}  // namespace

std::string one_line(json::value v) {
  clamp_numbers(v);
  return escape_line_ends(json::serialize(v));
}

std::string user_body(std::string_view text) {
  return "{\"role\":\"user\",\"content\":" + json_string(text) + "}";
}

std::string assistant_body(std::string_view text, const std::vector<tool_call>& calls, std::string_view finish) {
  std::string out;
  out.reserve(text.size() + text.size() / 16 + 64);
  out += "{\"role\":\"assistant\",\"content\":";
  append_json_string(out, text);
  if (!calls.empty()) {
    out += ",\"tool_calls\":[";
    for (std::size_t i = 0; i < calls.size(); ++i) {
      out += i == 0 ? "{\"id\":" : ",{\"id\":";
      append_json_string(out, calls[i].id);
      out += ",\"name\":";
      append_json_string(out, calls[i].name);
      out += ",\"arguments\":" + calls[i].arguments + "}";
    }
    out += "]";
  }
  if (!finish.empty()) {
    out += ",\"finish\":";
    append_json_string(out, finish);
  }
  out += '}';
  return out;
}

std::string tool_body(const tool_call& call, const tool_outcome& outcome) {
  std::string out = "{\"role\":\"tool\",\"tool_call_id\":" + json_string(call.id) +
                    ",\"name\":" + json_string(call.name) + ",\"content\":";
  if (outcome.images.empty())
    append_json_string(out, outcome.content);
  else
    out += "[{\"type\":\"text\",\"text\":" + json_string(outcome.content) + "}," + outcome.images + "]";
  out += outcome.is_error ? ",\"is_error\":true}" : ",\"is_error\":false}";
  return with_loaded_tools(std::move(out), outcome.loaded_tools);
}

std::string with_loaded_tools(std::string body, const std::vector<std::string>& names) {
  if (names.empty()) return body;
  body.pop_back();
  body += ",\"loaded_tools\":[";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) body += ',';
    append_json_string(body, names[i]);
  }
  return body + "]}";
}

std::vector<std::string> loaded_tools_of(std::string_view body) {
  std::vector<std::string> out;
  if (!contains_loaded_tools(body)) return out;
  const json::object o = parse_object(body);
  const json::value* names = o.if_contains("loaded_tools");
  if (names == nullptr || !names->is_array()) return out;
  for (const json::value& name : names->as_array())
    if (name.is_string()) out.emplace_back(name.as_string());
  return out;
}

std::string with_reasoning(std::string body, std::string_view reasoning_json) {
  if (reasoning_json.empty()) return body;
  body.pop_back();
  body.append(",\"reasoning\":").append(reasoning_json).append("}");
  return body;
}

std::string content_of(std::string_view body) {
  const json::object o = parse_object(body);
  const json::value* content = o.if_contains("content");
  if (content == nullptr || !content->is_array()) return module_json::text_of(o, "content");
  std::string out;
  for (const json::value& part : content->as_array()) {
    if (!part.is_object() || module_json::text_of(part.as_object(), "type") != "text") continue;
    if (!out.empty()) out += '\n';
    out += module_json::text_of(part.as_object(), "text");
  }
  return out;
}

std::vector<tool_call> calls_of(std::string_view body) {
  std::vector<tool_call> out;
  if (body.find("\"tool_calls\"") == std::string_view::npos) return out;
  const json::object o = parse_object(body);
  const json::value* calls = o.if_contains("tool_calls");
  if (calls == nullptr || !calls->is_array()) return out;
  for (const json::value& v : calls->as_array()) {
    if (!v.is_object()) continue;
    const json::object& c = v.as_object();
    tool_call call{module_json::text_of(c, "id"), module_json::text_of(c, "name"), "{}", false};
    if (const json::value* a = c.if_contains("arguments")) call.arguments = json::serialize(*a);
    out.push_back(std::move(call));
  }
  return out;
}

bool is_unfinished(const chat_message& m) {
  return !unfinished_reason(m).empty();
}

std::string answered_id(const chat_message& m) {
  return m.role == "tool" ? module_json::text_of(parse_object(m.body), "tool_call_id") : std::string();
}

tool_call read_tool_call(std::string_view id, std::string_view name, std::string_view arguments,
                         const std::vector<tool_call>& before) {
  name = name.substr(0, max_name_bytes);
  tool_call out{std::string(id.substr(0, max_id_bytes + 1)), std::string(name.substr(0, ry::whole_characters(name))),
                "{}", false};
  // The database cannot store NUL in ids and names.
  std::replace(out.name.begin(), out.name.end(), '\0', '_');
  const auto taken = [&](const std::string& id) {
    return id.empty() || id.find('\0') != std::string::npos || id.size() > max_id_bytes ||
           std::any_of(before.begin(), before.end(), [&](const tool_call& c) { return c.id == id; });
  };
  for (std::size_t n = before.size() + 1; taken(out.id); ++n) out.id = "call_" + std::to_string(n);
  if (trim(arguments).empty()) {
    out.without_arguments = true;
    return out;
  }
  boost::system::error_code error;
  json::value v = module_json::parse_exactly(arguments, max_argument_depth, error);
  if (error || !v.is_object())
    out.malformed = true;
  else
    out.arguments = one_line(std::move(v));  // normalises what the model sent
  return out;
}

std::optional<tool_outcome> refuse_call(const tool_call& call, answer_ending end) {
  if (end == answer_ending::truncated && (call.malformed || call.without_arguments))
    return tool_outcome{std::string(truncated_call), true, {}};
  if (call.malformed) return tool_outcome{std::string(malformed_call), true, {}};
  return std::nullopt;
}

next_action decide(const std::vector<chat_message>& messages) {
  std::set<std::string> answered;
  for (auto m = messages.rbegin(); m != messages.rend(); ++m) {
    if (m->role == "tool") {
      answered.insert(answered_id(*m));
      continue;
    }
    if (m->role != "assistant" || m->run != belongs::to_this_run) return {next_kind::call_model, {}};
    std::vector<tool_call> calls = calls_of(m->body);
    if (calls.empty()) return {is_unfinished(*m) ? next_kind::call_model : next_kind::finished, {}};
    std::erase_if(calls, [&](const tool_call& c) { return answered.contains(c.id); });
    if (calls.empty()) return {next_kind::call_model, {}};
    return {next_kind::run_tools, std::move(calls)};
  }
  return {next_kind::call_model, {}};
}

unfinished_parts parts_so_far(const std::vector<chat_message>& messages) {
  unfinished_parts out;
  for (auto m = messages.rbegin(); m != messages.rend() && m->run == belongs::to_this_run; ++m) {
    const std::string_view reason = unfinished_reason(*m);
    if (reason.empty()) break;
    ++(reason == finish_length ? out.truncated : out.paused);
  }
  return out;
}

std::string answer_so_far(const std::vector<chat_message>& messages) {
  const auto is_answer = [&](std::size_t i) {
    return messages[i].role == "assistant" && messages[i].run == belongs::to_this_run;
  };
  std::size_t first = messages.size();
  if (first == 0 || !is_answer(first - 1)) return {};
  --first;
  while (first > 0 && is_answer(first - 1) && is_unfinished(messages[first - 1])) --first;
  std::string out;
  for (std::size_t i = first; i < messages.size(); ++i) out += content_of(messages[i].body);
  return out;
}

std::string repair_body(std::string_view errors) {
  return user_body("Your answer does not match the required JSON Schema: " + std::string(errors) +
                   ". Answer again with the corrected JSON only, without a code fence and without any other text.");
}

bool has_asked_for_repair(const std::vector<chat_message>& messages) {
  return std::any_of(messages.begin(), messages.end(), [](const chat_message& m) {
    return m.run == belongs::to_this_run &&
           (m.role == repair_role || (m.role == "summary" && m.body.ends_with(repair_mark)));
  });
}

std::string with_repair_mark(std::string body) {
  body.pop_back();
  return body.append(repair_mark);
}

namespace {

// Joins the messages from `first` to `last` into one body: the texts of all, the other members of the last one.
std::string joined_body(const std::vector<chat_message>& messages, std::size_t first, std::size_t last) {
  json::object body = parse_object(messages[last].body);
  std::string text;
  for (std::size_t i = first; i <= last; ++i) text += content_of(messages[i].body);
  body["content"] = text;
  body.erase("finish");
  return one_line(std::move(body));
}

}  // namespace

std::string build_request(const request_parts& parts, const std::vector<chat_message>& messages) {
  std::string out = "{\"model\":" + json_string(parts.model);
  if (!parts.system.empty()) out += ",\"system\":" + json_string(parts.system);
  out += ",\"messages\":[";
  bool first = true;
  const auto add = [&](std::string_view body) {
    if (!first) out += ',';
    first = false;
    out += body;
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const chat_message& m = messages[i];
    if (m.role == "tool") continue;  // written after the answer with its call
    if (m.role != "assistant") {
      add(m.role == "summary" ? without_marks(m.body) : m.body);
      continue;
    }
    const std::size_t first_part = i;
    while (is_unfinished(messages[i]) && i + 1 < messages.size() && messages[i + 1].role == "assistant") ++i;
    if (contains_finish(messages[i].body) || i > first_part)
      add(joined_body(messages, first_part, i));
    else
      add(m.body);
    const std::vector<tool_call> calls = calls_of(messages[i].body);
    if (calls.empty()) continue;
    std::size_t end = i + 1;
    while (end < messages.size() && messages[end].role == "tool") ++end;
    for (const tool_call& call : calls) {
      std::size_t at = i + 1;
      while (at < end && answered_id(messages[at]) != call.id) ++at;
      add(at < end ? without_marks(messages[at].body)
                   : tool_body(call, tool_outcome{std::string(no_result), true, {}}));
    }
  }
  // A run started without a prompt continues the thread; providers require a user message at the end.
  if (!messages.empty() && messages.back().role == "assistant" && calls_of(messages.back().body).empty())
    add(user_body(unfinished_reason(messages.back()) == finish_length ? continue_after_truncation : continue_prompt));
  out += "]";
  if (!parts.tools_json.empty() && parts.tools_json != "[]") {
    out += ",\"tools\":";
    out += parts.tools_json;
  }
  if (parts.max_output_tokens > 0) out += ",\"max_output_tokens\":" + std::to_string(parts.max_output_tokens);
  if (!parts.output_schema.empty()) out.append(",\"output_schema\":").append(parts.output_schema);
  if (!parts.parameters.empty()) out.append(",").append(parts.parameters);
  return out + "}";
}

}  // namespace runs
