#include "json_text.hpp"

#include <cstdint>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>
#include <utility>

namespace llm {

namespace {

// Four hex digits at `at`, or -1.
int utf16_unit(std::string_view s, std::size_t at) {
  if (at + 4 > s.size()) return -1;
  int v = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int h = ry::hex_value(s[i]);
    if (h < 0) return -1;
    v = v * 16 + h;
  }
  return v;
}

// The length of the first character: 1 to 4 bytes, or 0 if it is invalid; `invalid_bytes` is then the number of
// bytes to skip.
std::size_t utf8_length(std::string_view s, std::size_t& invalid_bytes) {
  const auto at = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  invalid_bytes = 1;
  std::size_t length = 0;
  unsigned low = 0x80, high = 0xbf;  // of the second byte
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i, low = 0x80, high = 0xbf) {
    if (at(i) < low || at(i) > high) return 0;
    invalid_bytes = i + 1;
  }
  return length;
}

}  // namespace

std::optional<std::string> with_valid_utf8(std::string_view text) {
  std::optional<std::string> out;
  std::size_t invalid_bytes = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = utf8_length(text.substr(i), invalid_bytes);
    if (n == 0 && !out) out.emplace(text.substr(0, i));
    if (out) out->append(n == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(i, n));
    i += n == 0 ? invalid_bytes : n;
  }
  return out;
}

std::optional<json_body> check_json_body(std::string_view body) {
  json_body out;
  unsigned char all = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto c = static_cast<unsigned char>(body[i]);
    all |= c;
    if (c == '"' || c < 0x20) return std::nullopt;
    if (c != '\\') continue;
    out.plain = false;
    if (++i == body.size()) return std::nullopt;
    switch (body[i]) {
      case '"':
      case '\\':
      case '/':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        break;
      case 'u':
        if (utf16_unit(body, i + 1) < 0) return std::nullopt;
        i += 4;
        break;
      default:
        return std::nullopt;
    }
  }
  out.ascii = all < 0x80;
  return out;
}

bool decode_json_body(std::string_view body, std::string& out) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    switch (body[++i]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        std::uint32_t c = static_cast<std::uint32_t>(utf16_unit(body, i + 1));
        i += 4;
        if (c >= 0xdc00 && c <= 0xdfff) return false;
        if (c >= 0xd800 && c <= 0xdbff) {
          if (body.substr(i + 1, 2) != "\\u") return false;
          const int low = utf16_unit(body, i + 3);
          if (low < 0xdc00 || low > 0xdfff) return false;
          c = 0x10000 + ((c - 0xd800) << 10) + (static_cast<std::uint32_t>(low) - 0xdc00);
          i += 6;
        }
        ry::append_utf8(out, c);
        break;
      }
      default:
        out += body[i];
    }
  }
  return true;
}

std::optional<std::string> without_lone_surrogates(std::string_view json) {
  std::optional<std::string> out;
  std::size_t i = 0;
  while ((i = json.find('\\', i)) != std::string_view::npos) {
    const int c = json.substr(i, 2) == "\\u" ? utf16_unit(json, i + 2) : -1;
    if (c < 0) {
      i += 2;
      continue;
    }
    const int next = json.substr(i + 6, 2) == "\\u" ? utf16_unit(json, i + 8) : -1;
    if (c >= 0xd800 && c <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
      i += 12;
      continue;
    }
    if (c >= 0xd800 && c <= 0xdfff) {
      if (!out) out.emplace(json);
      out->replace(i, 6, "\\ufffd");
    }
    i += 6;
  }
  return out;
}

std::optional<std::string_view> delta_template::match(std::string_view chunk) {
  if (prefix_.empty() || chunk.size() < prefix_.size() + suffix_.size() || !chunk.ends_with(suffix_) ||
      !chunk.starts_with(prefix_))
    return std::nullopt;
  const auto body = chunk.substr(prefix_.size(), chunk.size() - prefix_.size() - suffix_.size());
  const auto checked = check_json_body(body);
  if (!checked) return std::nullopt;
  if (checked->plain && checked->ascii) return body;
  decoded_.clear();
  if (!checked->plain && !decode_json_body(body, decoded_)) return std::nullopt;
  if (!checked->ascii)
    if (auto valid = with_valid_utf8(checked->plain ? body : std::string_view(decoded_))) {
      decoded_ = std::move(*valid);
      return decoded_;
    }
  if (checked->plain) return body;
  return decoded_;
}

bool delta_template::learn(std::string_view chunk, std::string_view key) {
  forget();
  const auto at = chunk.find(key);
  if (at == std::string_view::npos || chunk.find(key, at + 1) != std::string_view::npos) return false;
  const auto begin = at + key.size();
  auto end = begin;
  while (end < chunk.size() && chunk[end] != '"') end += chunk[end] == '\\' ? 2 : 1;
  if (end >= chunk.size()) return false;
  prefix_ = chunk.substr(0, begin);
  suffix_ = chunk.substr(end);
  return true;
}

}  // namespace llm
