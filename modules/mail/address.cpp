#include "address.hpp"

#include <idn2.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/utf8.hpp>

namespace mail {
namespace {

bool is_alnum(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label(std::string_view s) noexcept {
  return !s.empty() && s.size() <= 63 && is_alnum(s.front()) && is_alnum(s.back()) &&
         std::all_of(s.begin(), s.end(), [](char c) { return is_alnum(c) || c == '-'; });
}

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
}

// Whether the UTF-8 sequence is a control character, white space, or changes the writing direction.
bool is_invisible(std::string_view c) noexcept {
  if (c.size() == 2) return c[0] == '\xc2' && static_cast<unsigned char>(c[1]) <= 0xa0;
  if (c == "\xe3\x80\x80" || c == "\xef\xbb\xbf") return true;
  if (c.size() != 3 || c[0] != '\xe2') return false;
  const auto low = (static_cast<unsigned>(static_cast<unsigned char>(c[1])) << 8) | static_cast<unsigned char>(c[2]);
  return (low >= 0x8080 && low <= 0x808f) || (low >= 0x80a8 && low <= 0x80ae) || (low >= 0x81a0 && low <= 0x81af);
}

bool is_local_part(std::string_view s) noexcept {
  if (s.empty() || s.size() > 64 || s.front() == '.' || s.back() == '.' || s.find("..") != s.npos) return false;
  constexpr std::string_view punctuation = ".!#$%&'*+/=?^_`{|}~-";
  for (std::size_t i = 0; i < s.size();) {
    const auto n = ry::utf8_length(s.substr(i));
    if (n == 0 || (n == 1 && !is_alnum(s[i]) && punctuation.find(s[i]) == punctuation.npos)) return false;
    if (n > 1 && is_invisible(s.substr(i, n))) return false;
    i += n;
  }
  return true;
}

bool is_host_name(std::string_view domain) noexcept {
  for (;;) {
    const auto dot = domain.find('.');
    const auto label = domain.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == domain.npos) {
      // An all-numeric last label would be an IP address without brackets.
      return !std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
    }
    domain.remove_prefix(dot + 1);
  }
}

bool has_invisible(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto n = ry::utf8_length(text.substr(i));
    if (n == 0 || is_invisible(text.substr(i, n))) return true;
    i += n;
  }
  return false;
}

std::optional<std::string> domain_in_ascii(std::string_view domain) {
  if (is_ascii(domain)) return std::string(domain);
  if (has_invisible(domain)) return std::nullopt;
  // libidn2 removes ASCII characters that are invalid in host names.
  const bool valid = std::all_of(domain.begin(), domain.end(), [](char c) {
    return is_alnum(c) || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
  });
  if (!valid) return std::nullopt;
  const std::string copy(domain);
  char* raw = nullptr;
  const int rc =
      idn2_to_ascii_8z(copy.c_str(), &raw, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL | IDN2_USE_STD3_ASCII_RULES);
  const std::unique_ptr<char, void (*)(void*)> owner(raw, [](void* p) { idn2_free(p); });
  if (rc != IDN2_OK || raw == nullptr) return std::nullopt;
  return std::string(raw);
}

std::string one_line(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t n = ry::utf8_length(text.substr(i));
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
  const auto b64 = ry::base64_encode(utf8, ry::base64_alphabet::standard, true);
  return "=?UTF-8?B?" + b64 + "?=";
}

}  // namespace

bool is_address(std::string_view text) {
  return with_ascii_domain(text).has_value();
}

std::optional<std::string> with_ascii_domain(std::string_view address) {
  const auto at = address.rfind('@');
  if (address.size() > 254 || at == address.npos || !is_local_part(address.substr(0, at))) return std::nullopt;
  const auto domain = domain_in_ascii(address.substr(at + 1));
  if (!domain || !is_host_name(*domain)) return std::nullopt;
  auto out = std::string(address.substr(0, at + 1)) + *domain;
  if (out.size() > 254) return std::nullopt;
  return out;
}

bool is_internet_address(std::string_view address) {
  const auto domain = address.substr(address.rfind('@') + 1);
  const auto dot = domain.rfind('.');
  if (dot == domain.npos) return false;
  constexpr std::string_view reserved[] = {"example", "invalid", "local", "localhost", "test"};
  const auto top = domain.substr(dot + 1);
  return std::none_of(std::begin(reserved), std::end(reserved),
                      [&](std::string_view r) { return ry::iequals(r, top); });
}

bool needs_smtputf8(std::string_view address) noexcept {
  return !is_ascii(address.substr(0, address.rfind('@')));
}

std::string header_text(std::string_view text) {
  const std::string line = one_line(text);
  const bool plain = std::all_of(line.begin(), line.end(), [](char c) { return c > 0; });
  // Text that looks like an encoded word must be encoded itself.
  if (plain && line.find("=?") == line.npos && line.size() <= 200) return line;
  constexpr std::size_t max_word_bytes = 45;  // 60 characters of base64, plus 12 of syntax
  std::string out, word;
  const auto flush = [&] {
    if (!out.empty()) out += "\r\n ";
    out += encoded_word(word);
    word.clear();
  };
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t n = ry::utf8_length(std::string_view(line).substr(i));
    if (word.size() + n > max_word_bytes) flush();
    word.append(line, i, n);
    i += n;
  }
  flush();
  return out;
}

std::string mailbox(std::string_view name, std::string_view address) {
  if (name.empty()) return std::string(address);
  std::string display_name = header_text(name);
  if (display_name == name) {
    std::string quoted = "\"";
    for (const char c : display_name) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    display_name = quoted + "\"";
  }
  return display_name + " <" + std::string(address) + ">";
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
  return std::string(days[static_cast<std::size_t>(utc.tm_wday)]) + ", " + std::to_string(utc.tm_mday) + " " +
         months[static_cast<std::size_t>(utc.tm_mon)] + " " + rest;
}

}  // namespace mail
