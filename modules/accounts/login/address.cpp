#include "address.hpp"

#include <idn2.h>
#include <locale.h>

#include <algorithm>
#include <climits>
#include <cwchar>
#include <cwctype>
#include <memory>
#include <ry/cpp/text.hpp>

namespace accounts {
namespace {

constexpr std::size_t max_local_bytes = 64;
constexpr std::size_t max_address_bytes = 254;

bool is_digit_or_letter(char c) {
  return (c >= '0' && c <= '9') || (ry::lower_ascii(c) >= 'a' && ry::lower_ascii(c) <= 'z');
}

// RFC 5322: atext, separated by single dots.
bool is_dot_atom(std::string_view s) {
  if (s.empty() || s.size() > max_local_bytes || s.front() == '.' || s.back() == '.') return false;
  if (s.find("..") != s.npos) return false;
  return std::all_of(s.begin(), s.end(), [](char c) {
    return is_digit_or_letter(c) || std::string_view(".!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
  });
}

bool is_host_name(std::string_view s) {
  if (s.empty() || s.size() > 253) return false;
  std::size_t label = 0;
  for (std::size_t i = 0; i <= s.size(); ++i) {
    if (i == s.size() || s[i] == '.') {
      if (label == 0 || label > 63 || s[i - 1] == '-') return false;
      label = 0;
    } else if (is_digit_or_letter(s[i]) || (s[i] == '-' && label > 0)) {
      ++label;
    } else {
      return false;
    }
  }
  // An all-numeric last label would be an IP address without brackets.
  const auto last = s.substr(s.rfind('.') + 1);
  return !std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> domain_in_ascii(std::string_view s) {
  // libidn2 removes ASCII characters that are invalid in host names; reject such an address instead.
  const bool valid = std::all_of(s.begin(), s.end(), [](char c) {
    return is_digit_or_letter(c) || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
  });
  if (!valid) return std::nullopt;
  const std::string copy(s);
  char* raw = nullptr;
  const int rc =
      idn2_to_ascii_8z(copy.c_str(), &raw, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL | IDN2_USE_STD3_ASCII_RULES);
  const std::unique_ptr<char, void (*)(void*)> owner(raw, [](void* p) { idn2_free(p); });
  if (rc != IDN2_OK || raw == nullptr) return std::nullopt;
  std::string out = ry::lower_ascii(std::string_view(raw));
  if (!is_host_name(out)) return std::nullopt;
  return out;
}

// Covers all of Unicode: every glibc that this server supports has C.UTF-8.
std::string lower_utf8(std::string_view text) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return ry::lower_ascii(text);
  std::string out;
  const locale_t previous_locale = uselocale(utf8);
  std::mbstate_t reading{}, writing{};
  for (std::size_t at = 0; at < text.size();) {
    wchar_t c = 0;
    const auto n = std::mbrtowc(&c, text.data() + at, text.size() - at, &reading);
    char bytes[MB_LEN_MAX];
    const bool readable = n != 0 && n != static_cast<std::size_t>(-1) && n != static_cast<std::size_t>(-2);
    const auto m =
        readable ? std::wcrtomb(bytes, static_cast<wchar_t>(std::towlower(c)), &writing) : static_cast<std::size_t>(-1);
    if (m == static_cast<std::size_t>(-1)) {
      reading = writing = {};
      out += text[at++];
    } else {
      out.append(bytes, m);
      at += n;
    }
  }
  uselocale(previous_locale);
  return out;
}

}  // namespace

std::string mailbox_text(std::string_view email) {
  const auto folded = lower_utf8(email);
  const auto at = folded.rfind('@');
  if (at == folded.npos) return folded;
  auto domain = folded.substr(at + 1);
  while (!domain.empty() && (domain.back() == '.' || domain.back() == ' ')) domain.pop_back();
  if (auto ascii = domain_in_ascii(domain)) domain = *std::move(ascii);
  return folded.substr(0, at + 1) + domain;
}

std::optional<address> parse_address(std::string_view typed) {
  typed = ry::trimmed(typed, " \t");
  if (typed.size() > 4 * max_address_bytes) return std::nullopt;
  const auto at = typed.rfind('@');
  if (at == typed.npos || !is_dot_atom(typed.substr(0, at))) return std::nullopt;
  const auto domain = domain_in_ascii(typed.substr(at + 1));
  if (!domain) return std::nullopt;
  address out;
  out.text = std::string(typed.substr(0, at)) + "@" + *domain;
  if (out.text.size() > max_address_bytes) return std::nullopt;
  out.key = ry::lower_ascii(out.text);
  return out;
}

}  // namespace accounts
