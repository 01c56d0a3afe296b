#include "agent/context.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "text.hpp"

namespace runs {

namespace json = boost::json;

bool contains_images(std::string_view tool_body) {
  return tool_body.find("\"type\":\"image\"") != std::string_view::npos;
}

namespace {

constexpr std::int64_t tokens_of_image = 1600;
constexpr std::int64_t tokens_of_message = 8;  // role and framing
constexpr std::size_t old_result_bytes = 600;
constexpr std::size_t min_result_bytes = 1024;
constexpr std::size_t max_message_bytes = 4000;  // in a transcript

std::int64_t tokens_of(const chat_message& m) {
  if (!contains_images(m.body)) return tokens_of_message + estimate_tokens(m.body);
  boost::system::error_code bad;
  const json::value v = json::parse(m.body, bad, {}, body_options());
  std::int64_t tokens = tokens_of_message + estimate_tokens(content_of(m.body));
  if (bad || !v.is_object()) return tokens;
  if (const json::value* content = v.as_object().if_contains("content"); content && content->is_array())
    for (const json::value& part : content->as_array())
      if (part.is_object() && part.as_object().contains("media_type")) tokens += tokens_of_image;
  return tokens;
}

// Returns the body with its content replaced.
std::string replace_content(std::string_view body, const json::value& content) {
  boost::system::error_code bad;
  json::value v = json::parse(body, bad, {}, body_options());
  if (bad || !v.is_object()) return std::string(body);
  v.as_object()["content"] = content;
  return json::serialize(v);
}

std::string without_images(std::string_view body) {
  return replace_content(body, json::value(content_of(body) + "\n[an image was omitted]"));
}

// Providers require reasoning only with the latest calls.
std::string without_reasoning(std::string_view body) {
  boost::system::error_code bad;
  if (body.find("\"reasoning\"") == std::string_view::npos) return std::string(body);
  json::value v = json::parse(body, bad, {}, body_options());
  if (bad || !v.is_object()) return std::string(body);
  v.as_object().erase("reasoning");
  return json::serialize(v);
}

void shorten_result(chat_message& m, std::size_t max_bytes) {
  const std::string text = content_of(m.body);
  if (text.size() <= max_bytes && !contains_images(m.body)) return;
  m.body = replace_content(m.body, json::value(shorten(text, max_bytes)));
}

// Index of the first message of the exchange that the model has not answered yet.
std::size_t latest_exchange(const std::vector<chat_message>& messages) {
  std::size_t i = messages.size();
  while (i > 0 && messages[i - 1].role == "tool") --i;
  return i > 0 ? i - 1 : 0;
}

}  // namespace

std::int64_t estimate_tokens(std::string_view text) {
  std::int64_t ascii = 0, others = 0;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x80)
      ++ascii;
    else if ((u & 0xC0) != 0x80)
      ++others;
  }
  return (ascii + 3) / 4 + others;
}

std::int64_t estimate_tokens(const std::vector<chat_message>& messages) {
  std::int64_t sum = 0;
  for (const chat_message& m : messages) sum += tokens_of(m);
  return sum;
}

std::int64_t room_for_messages(std::int64_t window_tokens, std::int64_t max_output_tokens, std::string_view system,
                               std::string_view tools_json) {
  const std::int64_t output =
      std::min(max_output_tokens > 0 ? max_output_tokens : std::int64_t{8192}, window_tokens / 4);
  const std::int64_t rest =
      window_tokens - window_tokens / 10 - output - estimate_tokens(system) - estimate_tokens(tools_json);
  return std::max<std::int64_t>(rest, window_tokens / 10);
}

std::int64_t shorten_old(std::vector<chat_message>& messages, std::int64_t room) {
  std::int64_t tokens = estimate_tokens(messages);
  if (tokens <= room) return tokens;
  const std::size_t end = latest_exchange(messages);
  for (std::size_t i = 0; i < end && tokens > room / 4 * 3; ++i) {
    chat_message& m = messages[i];
    const std::int64_t before = tokens_of(m);
    if (m.role == "tool")
      shorten_result(m, old_result_bytes);
    else if (m.role == "assistant")
      m.body = without_reasoning(m.body);
    else if (contains_images(m.body))
      m.body = without_images(m.body);
    tokens -= before - tokens_of(m);
  }
  return tokens;
}

std::int64_t shorten_recent(std::vector<chat_message>& messages, std::int64_t room) {
  std::int64_t tokens = estimate_tokens(messages);
  for (std::size_t max_bytes = 64 * 1024; tokens > room && max_bytes >= min_result_bytes; max_bytes /= 2) {
    for (chat_message& m : messages)
      if (m.role == "tool") shorten_result(m, max_bytes);
    tokens = estimate_tokens(messages);
  }
  return tokens;
}

bool remove_tool_images(std::vector<chat_message>& messages) {
  bool any = false;
  for (chat_message& m : messages) {
    if (m.role != "tool" || !contains_images(m.body)) continue;
    any = true;
    m.body = without_images(m.body);
  }
  return any;
}

std::size_t to_summarise(const std::vector<chat_message>& messages, std::int64_t room) {
  std::size_t split = latest_exchange(messages);
  std::int64_t kept_tokens = 0;
  for (std::size_t i = split; i < messages.size(); ++i) kept_tokens += tokens_of(messages[i]);
  // Extends the kept part backwards by complete exchanges while they fit.
  for (std::size_t i = split; i-- > 0;) {
    kept_tokens += tokens_of(messages[i]);
    if (kept_tokens > room / 2) break;
    if (messages[i].role != "tool") split = i;
  }
  const std::size_t min_count = !messages.empty() && messages.front().role == "summary" ? 2 : 1;
  return split >= min_count ? split : 0;
}

std::string transcript(const std::vector<chat_message>& messages, std::size_t count, std::int64_t room) {
  std::string out;
  for (std::size_t i = 0; i < count && i < messages.size(); ++i) {
    const chat_message& m = messages[i];
    const std::string text = shorten(content_of(m.body), max_message_bytes);
    if (m.role == "summary")
      out += "EARLIER SUMMARY:\n" + text + "\n";
    else if (m.role == "user" || m.role == repair_role)
      out += "USER:\n" + text + "\n";
    else if (m.role == "tool")
      out += "RESULT OF THE TOOL:\n" + text + "\n";
    else if (!text.empty())
      out += "ASSISTANT:\n" + text + "\n";
    if (m.role == "assistant")
      for (const tool_call& call : calls_of(m.body))
        out += "ASSISTANT CALLS " + call.name + " " + shorten(call.arguments, max_message_bytes / 4) + "\n";
  }
  // Three bytes per token are a safe estimate for all scripts.
  return shorten(out, static_cast<std::size_t>(std::max<std::int64_t>(room, 256)) * 3);
}

std::string summary_body(std::string_view text, const std::vector<chat_message>& messages, std::size_t count,
                         std::int64_t room) {
  std::string out;
  if (text.empty())
    out = "[" + std::to_string(count) + " earlier messages were omitted because they do not fit.]";
  else
    out = "[A summary of the conversation so far]\n" + std::string(text);
  for (std::size_t i = std::min(count, messages.size()); i-- > 0;) {
    const chat_message& m = messages[i];
    if (m.role == "summary" && text.empty()) out += "\n\n" + content_of(m.body);
    if (m.role != "user" || m.run != belongs::to_this_run) continue;
    out += "\n\n[The user's request that is being worked on]\n" +
           shorten(content_of(m.body), static_cast<std::size_t>(std::max<std::int64_t>(room, 256)));
    break;
  }
  return user_body(out);
}

}  // namespace runs
