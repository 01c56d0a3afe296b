#include "core/observe/log_line.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <cstdio>
#include <ry/cpp/utf8.hpp>

namespace ry::observe {

namespace {

namespace json = boost::json;

// The length of the character at s[at], 0 if it is invalid. `code_point` receives a valid character.
std::size_t character_at(std::string_view s, std::size_t at, std::uint32_t& code_point) noexcept {
  std::string_view rest = s.substr(at);
  const std::size_t n = utf8_length(rest);
  if (n != 0) code_point = next_code_point(rest);
  return n;
}

// Code points that end a line, control a terminal or change the text direction.
bool unsafe(std::uint32_t cp) noexcept {
  return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0x2028 || cp == 0x2029 || cp == 0x200e || cp == 0x200f ||
         (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;
}

void append_escape(std::string& out, const char* format, std::uint32_t cp) {
  char buf[16];
  std::snprintf(buf, sizeof buf, format, static_cast<unsigned>(cp));
  out += buf;
}

void append_plain(std::string& out, std::string_view s, std::string_view also_escaped) {
  for (std::size_t i = 0; i < s.size();) {
    std::uint32_t cp = 0;
    const std::size_t n = character_at(s, i, cp);
    if (n == 0) {
      append_escape(out, "\\x%02x", static_cast<unsigned char>(s[i]));
    } else if (cp == '\n') {
      out += "\\n";
    } else if (cp == '\r') {
      out += "\\r";
    } else if (cp == '\t') {
      out += "\\t";
    } else if (unsafe(cp)) {
      append_escape(out, cp < 0x100 ? "\\x%02x" : "\\u%04x", cp);
    } else if (n == 1 && also_escaped.find(s[i]) != std::string_view::npos) {
      (out += '\\') += s[i];
    } else {
      out += s.substr(i, n);
    }
    i += n ? n : 1;
  }
}

// Masks before truncating: truncation could leave the beginning of a secret, which no longer matches.
std::string mask_secrets(const redactor& secrets, std::string_view s) {
  std::string out = secrets.apply(s);
  if (out.size() > max_log_text) {
    const std::size_t more = out.size() - max_log_text;
    out.resize(max_log_text);
    out += "...(" + std::to_string(more) + " more bytes)";
  }
  return out;
}

void append_value(std::string& out, std::string_view v, bool quote) {
  quote = quote || v.empty();
  for (const char c : v)
    quote = quote || c == ' ' || c == '"' || c == '=' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  if (!quote) return append_plain(out, v, "");
  out += '"';
  append_plain(out, v, "\"\\");
  out += '"';
}

json::value masked_json(const redactor& secrets, const json::value& v) {
  switch (v.kind()) {
    case json::kind::string:
      return json::string(to_valid_utf8(mask_secrets(secrets, v.get_string())));
    case json::kind::array: {
      json::array out;
      for (const auto& e : v.get_array()) out.push_back(masked_json(secrets, e));
      return out;
    }
    case json::kind::object: {
      json::object out;
      for (const auto& [k, e] : v.get_object()) out[to_valid_utf8(mask_secrets(secrets, k))] = masked_json(secrets, e);
      return out;
    }
    default: {
      // A number can be a secret too (a PIN, a card).
      const std::string text = json::serialize(v);
      std::string after = secrets.apply(text);
      if (after == text) return v;
      return json::string(after);
    }
  }
}

// `s` is already JSON: only characters inside its strings need escaping.
void append_json_safe(std::string& out, std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    std::uint32_t cp = 0;
    const std::size_t n = character_at(s, i, cp);
    if (n == 0)
      out += "\xef\xbf\xbd";
    else if (unsafe(cp))
      append_escape(out, "\\u%04x", cp);
    else
      out += s.substr(i, n);
    i += n ? n : 1;
  }
}

void append_printable_json(std::string& out, std::string_view s) {
  append_json_safe(out, json::serialize(json::string_view(s)));
}

std::string json_value_text(const redactor& secrets, const line_field& f) {
  boost::system::error_code ec;
  const json::value v = json::parse(f.value, ec);
  if (ec) return json::serialize(json::string(to_valid_utf8(mask_secrets(secrets, f.value))));
  std::string text = json::serialize(masked_json(secrets, v));
  if (text.size() > max_log_text) return json::serialize(json::string(mask_secrets(secrets, text)));
  return text;
}

}  // namespace

std::string text_line(const redactor& secrets, std::string_view component, std::string_view message,
                      const std::vector<line_field>& fields) {
  std::string out = "[";
  append_plain(out, mask_secrets(secrets, component), "");
  out += "] ";
  append_plain(out, mask_secrets(secrets, message), "");
  for (const auto& f : fields) {
    out += ' ';
    append_plain(out, mask_secrets(secrets, f.key), " =\"\\");
    out += '=';
    if (f.json)
      append_plain(out, json_value_text(secrets, f), "");
    else
      append_value(out, mask_secrets(secrets, f.value), false);
  }
  return out;
}

std::string json_line(const redactor& secrets, std::string_view component, std::string_view message,
                      const std::vector<line_field>& fields) {
  std::string out = "\"component\":";
  append_printable_json(out, mask_secrets(secrets, component));
  out += ",\"msg\":";
  append_printable_json(out, mask_secrets(secrets, message));
  for (const auto& f : fields) {
    std::string key = mask_secrets(secrets, f.key);
    if (key == "ts" || key == "level" || key == "component" || key == "msg") key += '_';
    out += ',';
    append_printable_json(out, key);
    out += ':';
    if (f.json)
      append_json_safe(out, json_value_text(secrets, f));
    else
      append_printable_json(out, mask_secrets(secrets, f.value));
  }
  return out;
}

std::vector<line_field> fields_of_json(std::string_view fields_json) {
  if (fields_json.empty()) return {};
  boost::system::error_code ec;
  const json::value v = json::parse(fields_json, ec);
  if (ec || !v.is_object()) return {{"fields", std::string(fields_json), false}};
  std::vector<line_field> out;
  for (const auto& [k, e] : v.get_object()) {
    if (e.is_string())
      out.push_back({std::string(k), std::string(e.get_string()), false});
    else
      out.push_back({std::string(k), json::serialize(e), true});
  }
  return out;
}

}  // namespace ry::observe
