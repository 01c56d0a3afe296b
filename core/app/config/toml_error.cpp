#include "core/app/config/toml_error.hpp"

#include <algorithm>
#include <array>
#include <ry/cpp/text.hpp>

namespace ry::app::config {

namespace {

std::string_view line_of(std::string_view text, std::size_t line) {
  for (; line > 1; --line) {
    const auto end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  return trimmed(text.substr(0, text.find('\n')));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

// The parser quotes names with single quotes.
std::string quoted_part(std::string_view description) {
  const auto from = description.find('\'');
  const auto to = description.rfind('\'');
  return from == to ? std::string() : std::string(description.substr(from + 1, to - from - 1));
}

bool is_open(std::string_view text) {
  const char quote = text.front();
  bool escaped = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\' && quote == '"') {
      escaped = true;
    } else if (text[i] == quote) {
      return false;
    }
  }
  return true;
}

bool is_switch(std::string_view value) {
  constexpr std::array<std::string_view, 14> words{"yes",   "no",  "on", "off", "True", "False",   "TRUE",
                                                   "FALSE", "Yes", "No", "On",  "Off",  "enabled", "disabled"};
  return std::find(words.begin(), words.end(), value) != words.end();
}

// "1MB", "10s", "5 min"
bool is_number_with_unit(std::string_view value) {
  const auto unit = value.find_first_not_of("+-.0123456789_");
  if (unit == 0 || unit == value.npos) return false;
  const auto word = trimmed(value.substr(unit));
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%';
  });
}

// The fault in a value that is not valid TOML; empty if it is unknown.
std::string value_sentence(const std::string& key, std::string_view value, std::string_view description) {
  if (value.empty() || value.front() == '#')
    return key + " has no value: write " + key + " = \"...\", or remove the line";
  if (value.front() == '"' || value.front() == '\'') {
    if (is_open(value)) return "the text of " + key + " has no closing quote";
    if (contains(description, "escape"))
      return "a backslash in double quotes begins an escape sequence: in the text of " + key +
             ", write \\\\ for a backslash, or put the text into single quotes";
    return {};
  }
  if (value.front() == '[' || value.front() == '{') return {};
  value = trimmed(value.substr(0, value.find('#')));
  if (is_switch(value)) return key + " must be true or false";
  if (is_number_with_unit(value))
    return key + " must be a number without a unit, or a text in quotes: " + key + " = \"...\"";
  return "a text needs quotes: write " + key + " = \"...\"";
}

std::string line_sentence(std::string_view line, std::string_view description) {
  if (line.empty() || line.front() == '[') return {};
  const auto equals = line.find('=');
  const auto colon = line.find(':');
  if (equals == line.npos || (colon < equals && contains(description, "saw ':'"))) {
    if (colon != line.npos)
      return "a setting is written with \"=\", not \":\": " + std::string(trimmed(line.substr(0, colon))) + " = ...";
    return "the line is neither a table such as [http] nor a setting such as key = \"value\"";
  }
  const std::string key(trimmed(line.substr(0, equals)));
  if (key.empty()) return "there is no key before \"=\"";
  return value_sentence(key, trimmed(line.substr(equals + 1)), description);
}

}  // namespace

std::string syntax_sentence(std::string_view text, std::size_t line, std::string_view description) {
  if (contains(description, "cannot redefine existing")) {
    const auto name = quoted_part(description);
    return contains(description, "existing table")
               ? "the table [" + name + "] appears twice; merge its settings into one table"
               : name + " is set twice; keep one of the lines";
  }
  if (auto sentence = line_sentence(line_of(text, line), description); !sentence.empty()) return sentence;
  constexpr std::string_view prefix = "Error while parsing ";
  if (description.starts_with(prefix)) description.remove_prefix(prefix.size());
  return "invalid TOML: " + std::string(description);
}

}  // namespace ry::app::config
