#include "workflows/person.hpp"

#include <algorithm>
#include <string_view>

namespace notifications {

namespace {

constexpr std::size_t max_first_name = 60;

// Replaces Unicode white space, and characters that are invisible or change the writing direction, with spaces.
std::string with_plain_spaces(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u; };
    if (at(0) < 0x20 || at(0) == 0x7f) {
      out += ' ';
    } else if (at(0) == 0xc2 && at(1) >= 0x80 && at(1) <= 0xa0) {
      out += ' ';
      i += 1;
    } else if ((at(0) == 0xe2 && ((at(1) == 0x80 && (at(2) <= 0x8f || (at(2) >= 0xa8 && at(2) <= 0xaf))) ||
                                  (at(1) == 0x81 && at(2) >= 0x9f && at(2) <= 0xaf))) ||
               (at(0) == 0xe3 && at(1) == 0x80 && at(2) == 0x80) || (at(0) == 0xef && at(1) == 0xbb && at(2) == 0xbf)) {
      out += ' ';
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Mail programs turn such words into links.
bool looks_like_link(std::string_view word) {
  if (word.find_first_of("/:@") != word.npos || word.starts_with("www.")) return true;
  const auto dot = word.find('.');
  return dot != word.npos && dot > 1 && dot + 2 < word.size();
}

// The first word that can be a name. `allow_links`: accept words that look like links, as in the part of an address
// before the @.
std::string first_word(std::string_view text, bool allow_links = false) {
  const auto normalized = with_plain_spaces(text);
  std::string_view rest = normalized;
  while (!rest.empty()) {
    auto word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    while (!word.empty() && std::string_view(",;:!?\"()").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    while (!word.empty() && std::string_view(",;:!?\"()").find(word.front()) != std::string_view::npos)
      word.remove_prefix(1);
    if (word.empty() || word.size() > max_first_name || (!allow_links && looks_like_link(word))) continue;
    return std::string(word);
  }
  return {};
}

}  // namespace

std::string person::first_name() const {
  auto out = first_word(name);
  if (out.empty()) out = first_word(std::string_view(email).substr(0, email.find('@')), true);
  return out.empty() ? std::string("User") : out;
}

}  // namespace notifications
