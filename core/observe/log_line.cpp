#include "core/observe/log_line.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <cstdio>

namespace ry::observe {

namespace {

namespace json = boost::json;

// Length of the well-formed UTF-8 sequence at s[i], or 0 if there is none. `cp` receives its code point.
std::size_t utf8_at(std::string_view s, std::size_t i, std::uint32_t& cp) noexcept {
  const auto b = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned char c = b(i);
  if (c < 0x80) return cp = c, 1;
  const std::size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
  if (n == 0 || c > 0xf4 || i + n > s.size()) return 0;
  cp = c & (0x7f >> n);
  for (std::size_t k = 1; k < n; ++k) {
    if ((b(i + k) & 0xc0) != 0x80) return 0;
    cp = cp << 6 | (b(i + k) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (cp < least[n] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff)) return 0;
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
    const std::size_t n = utf8_at(s, i, cp);
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

}  // namespace

bool is_utf8(std::string_view s) noexcept {
  std::uint32_t cp = 0;
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = utf8_at(s, i, cp);
    if (n == 0) return false;
    i += n;
  }
  return true;
}

std::string valid_utf8(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    std::uint32_t cp = 0;
    const std::size_t n = utf8_at(s, i, cp);
    out += n ? s.substr(i, n) : std::string_view("\xef\xbf\xbd");
    i += n ? n : 1;
  }
  return out;
}

namespace {

// Masks before cutting: a cut could leave the beginning of a secret, which no longer matches.
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
      return json::string(valid_utf8(mask_secrets(secrets, v.get_string())));
    case json::kind::array: {
      json::array out;
      for (const auto& e : v.get_array()) out.push_back(masked_json(secrets, e));
      return out;
    }
    case json::kind::object: {
      json::object out;
      for (const auto& [k, e] : v.get_object()) out[valid_utf8(mask_secrets(secrets, k))] = masked_json(secrets, e);
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
    const std::size_t n = utf8_at(s, i, cp);
    if (n == 0)
      out += "\xef\xbf\xbd";
    else if (unsafe(cp))
      append_escape(out, "\\u%04x", cp);
    else
      out += s.substr(i, n);
    i += n ? n : 1;
  }
}

void append_json_string(std::string& out, std::string_view s) {
  append_json_safe(out, json::serialize(json::string_view(s)));
}

std::string json_value_text(const redactor& secrets, const line_field& f) {
  boost::system::error_code ec;
  const json::value v = json::parse(f.value, ec);
  if (ec) return json::serialize(json::string(valid_utf8(mask_secrets(secrets, f.value))));
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
  append_json_string(out, mask_secrets(secrets, component));
  out += ",\"msg\":";
  append_json_string(out, mask_secrets(secrets, message));
  for (const auto& f : fields) {
    std::string key = mask_secrets(secrets, f.key);
    if (key == "ts" || key == "level" || key == "component" || key == "msg") key += '_';
    out += ',';
    append_json_string(out, key);
    out += ':';
    if (f.json)
      append_json_safe(out, json_value_text(secrets, f));
    else
      append_json_string(out, mask_secrets(secrets, f.value));
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
