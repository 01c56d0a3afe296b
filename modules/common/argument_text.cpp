#include "common/argument_text.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <ry/cpp/utf8.hpp>

#include "common/unicode.hpp"

namespace ry_arguments {
namespace {

constexpr std::string_view blanks = " \t\r\n", ellipsis = "\xE2\x80\xA6";

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

// Removes a string with its quotes from the beginning of `text`. Without a closing quote it ends with the text.
std::string_view take_string(std::string_view& text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  end = std::min(end + 1, text.size());
  const std::string_view out = text.substr(0, end);
  text.remove_prefix(end);
  return out;
}

// Removes a value from the beginning of `text`.
std::string_view take_value(std::string_view& text) {
  if (text.starts_with('"')) return take_string(text);
  std::string_view rest = text;
  for (std::size_t depth = 0; !rest.empty();) {
    const char c = rest.front();
    if (c == '"') {
      take_string(rest);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    rest.remove_prefix(1);
  }
  std::string_view out = text.substr(0, text.size() - rest.size());
  text = rest;
  return out.substr(0, out.find_last_not_of(blanks) + 1);
}

// The characters of a string of a JSON text; of an incomplete one as many as are known.
std::string decoded(std::string_view quoted) {
  std::string text(quoted);
  for (int dropped = 0; dropped < 12 && !text.empty(); ++dropped) {  // an escaped surrogate pair has 12 characters
    for (const std::string_view end : {"", "\""}) {
      boost::json::error_code bad;
      const boost::json::value v = boost::json::parse(text + std::string(end), bad);
      if (!bad && v.is_string()) return std::string(v.get_string());
    }
    text.pop_back();
  }
  return std::string(quoted);
}

void append_escaped(std::string& out, char32_t c) {
  constexpr char digits[] = "0123456789ABCDEF";
  out += "\\u{";
  bool started = false;
  for (int shift = 20; shift >= 0; shift -= 4) {
    const auto digit = (c >> shift) & 0xF;
    started = started || digit != 0 || shift == 0;
    if (started) out += digits[digit];
  }
  out += '}';
}

// The value with visible characters only. indent: after line feeds.
std::string visible(const std::string& value, std::string_view indent) {
  std::string out;
  const std::string valid = ry::to_valid_utf8(value);
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t c = ry::next_code_point(rest);
    if (c == '\n')
      out.append("\n").append(indent);
    else if (c == '\t' || (!unicode::is_invisible(c) && c != 0x2028 && c != 0x2029))
      out += before.substr(0, before.size() - rest.size());
    else
      append_escaped(out, c);
  }
  return out;
}

}  // namespace

shown_arguments show(std::string_view json, std::size_t max_bytes) {
  shown_arguments out;
  skip_blanks(json);
  const auto finish = [&] {
    while (out.text.size() > max_bytes) {
      out.is_complete = false;
      std::size_t end = max_bytes - ellipsis.size();
      while (end > 0 && (static_cast<unsigned char>(out.text[end]) & 0xC0) == 0x80) --end;
      out.text.resize(end);
      out.text += ellipsis;
    }
    return out;
  };
  if (!json.starts_with('{')) {
    out.text = visible(std::string(json), "");
    return finish();
  }
  json.remove_prefix(1);
  bool closed = false;
  while (!json.empty() && out.text.size() <= max_bytes) {
    skip_blanks(json);
    if (json.starts_with(',')) json.remove_prefix(1);
    skip_blanks(json);
    closed = json.starts_with('}');
    if (closed || !json.starts_with('"')) break;
    const std::string name = decoded(take_string(json));
    skip_blanks(json);
    if (json.starts_with(':')) json.remove_prefix(1);
    skip_blanks(json);
    const std::string_view value = take_value(json);
    if (!out.text.empty()) out.text += '\n';
    out.text += visible(name, " ") + ": " + visible(value.starts_with('"') ? decoded(value) : std::string(value), "  ");
  }
  if (!closed && out.text.size() <= max_bytes) {
    out.is_complete = false;
    out.text += ellipsis;
  }
  return finish();
}

}  // namespace ry_arguments
