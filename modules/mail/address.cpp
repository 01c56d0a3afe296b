#include "address.hpp"

#include <sodium.h>
#include <time.h>

#include <algorithm>
#include <array>

namespace mail {
namespace {

bool is_alnum(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label(std::string_view s) noexcept {
  return !s.empty() && s.size() <= 63 && is_alnum(s.front()) && is_alnum(s.back()) &&
         std::all_of(s.begin(), s.end(), [](char c) { return is_alnum(c) || c == '-'; });
}

// Length of the UTF-8 character that begins there; 0: none does.
std::size_t character(std::string_view s) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = at(0);
  const std::size_t n = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || n > s.size()) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  if ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) > 0x9f) ||
      (first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) > 0x8f)) {
    return 0;
  }
  return n;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t n = character(text.substr(i));
    if (c < 0x20 || c == 0x7f) {
      out += ' ';
    } else if (n == 0) {
      out += '?';
    } else {
      out.append(text.substr(i, n));
    }
    i += std::max<std::size_t>(n, 1);
  }
  return out;
}

std::string encoded_word(std::string_view utf8) {
  std::string b64(sodium_base64_ENCODED_LEN(utf8.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(b64.data(), b64.size(), reinterpret_cast<const unsigned char*>(utf8.data()),
                    utf8.size(), sodium_base64_VARIANT_ORIGINAL);
  b64.pop_back();  // the terminating zero
  return "=?UTF-8?B?" + b64 + "?=";
}

}  // namespace

bool is_address(std::string_view text) noexcept {
  const auto at = text.rfind('@');
  if (text.size() > 254 || at == text.npos) return false;
  const auto local = text.substr(0, at);
  auto domain = text.substr(at + 1);
  constexpr std::string_view others = ".!#$%&'*+/=?^_`{|}~-";
  if (local.empty() || local.size() > 64 || local.front() == '.' || local.back() == '.' ||
      local.find("..") != local.npos ||
      !std::all_of(local.begin(), local.end(),
                   [&](char c) { return is_alnum(c) || others.find(c) != others.npos; })) {
    return false;
  }
  for (;;) {
    const auto dot = domain.find('.');
    if (!is_label(domain.substr(0, dot))) return false;
    if (dot == domain.npos) return true;
    domain.remove_prefix(dot + 1);
  }
}

std::string header_text(std::string_view text) {
  const std::string line = one_line(text);
  const bool plain = std::all_of(line.begin(), line.end(), [](char c) { return c > 0; });
  // Text that looks like an encoded word must not be taken for one.
  if (plain && line.find("=?") == line.npos && line.size() <= 200) return line;
  constexpr std::size_t most = 45;  // 60 characters of base64 and 12 around them
  std::string out, word;
  const auto flush = [&] {
    if (!out.empty()) out += "\r\n ";
    out += encoded_word(word);
    word.clear();
  };
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t n = character(std::string_view(line).substr(i));
    if (word.size() + n > most) flush();
    word.append(line, i, n);
    i += n;
  }
  flush();
  return out;
}

std::string mailbox(std::string_view name, std::string_view address) {
  if (name.empty()) return std::string(address);
  std::string shown = header_text(name);
  if (shown == name) {
    std::string quoted = "\"";
    for (const char c : shown) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    shown = quoted + "\"";
  }
  return shown + " <" + std::string(address) + ">";
}

std::string header_date(std::int64_t unix_s) {
  static constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto t = static_cast<time_t>(unix_s);
  tm utc{};
  gmtime_r(&t, &utc);
  char rest[32];
  ::strftime(rest, sizeof rest, "%Y %H:%M:%S +0000", &utc);
  return std::string(days[static_cast<std::size_t>(utc.tm_wday)]) + ", " +
         std::to_string(utc.tm_mday) + " " + months[static_cast<std::size_t>(utc.tm_mon)] + " " +
         rest;
}

}  // namespace mail
