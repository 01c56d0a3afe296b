#include "short_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "language_models.hpp"
#include "transcode.hpp"

namespace extract {
namespace {

constexpr std::size_t max_high_bytes = 48;

// Costs are in bits: the negative binary logarithm of a probability.
constexpr double ascii_cost = 4, symbol_cost = 6, rare_cost = 14, margin = 6, max_cost_per_byte = 8.5;

unsigned char byte_of(char c) {
  return static_cast<unsigned char>(c);
}
bool is_high(char c) {
  return byte_of(c) >= 0x80;
}
bool is_ascii(char32_t c) {
  return c < 0x80;
}
bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}
bool contains(std::u32string_view set, char32_t c) {
  return set.find(c) != set.npos;
}

std::u32string characters_of(std::string_view text) {
  std::u32string out;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (auto remaining = static_cast<utf8proc_ssize_t>(text.size()); remaining > 0;) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t n = utf8proc_iterate(at, remaining, &c);
    if (n <= 0) break;
    out += static_cast<char32_t>(c);
    at += n;
    remaining -= n;
  }
  return out;
}

char32_t lower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}
bool is_upper(char32_t c) {
  return utf8proc_isupper(static_cast<utf8proc_int32_t>(c)) != 0;
}
bool is_letter(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) || category == UTF8PROC_CATEGORY_MN;
}

// The cost of a text in one alphabet.
class alphabet_cost {
 public:
  alphabet_cost(const alphabet_model& model, std::u32string_view text) : model_(model), text_(text) {}
  double total() const {
    double out = model_.prior;
    for (std::size_t i = 0; i < text_.size(); ++i)
      out += is_ascii(text_[i]) ? ascii_cost : is_letter(text_[i]) ? letter_cost(i) : symbol_cost_at(i);
    return out;
  }

 private:
  char32_t at(std::size_t i) const { return i < text_.size() ? text_[i] : U' '; }
  char32_t before(std::size_t i) const { return i > 0 ? text_[i - 1] : U' '; }
  bool is_vowel(char32_t c) const {
    return contains(model_.vowels, lower(c)) || (model_.latin && contains(U"AEIOUYaeiouy", c));
  }

  double letter_cost(std::size_t i) const {
    const char32_t c = text_[i];
    std::size_t rank = model_.letters.find(c);
    if (rank == model_.letters.npos) rank = model_.letters.find(lower(c));
    if (rank == model_.letters.npos) return rare_cost;
    return 3 + static_cast<double>(rank) * (model_.latin ? 0.35 : 0.2) + shape_cost(i) +
           (model_.vowels.empty() ? 0 : sound_cost(i));
  }

  // Capitals are at the beginning of a word or throughout it; a word has one script and more than one letter.
  double shape_cost(std::size_t i) const {
    const char32_t c = text_[i], previous = before(i), next = at(i + 1);
    double out = 0;
    if (is_letter(previous) && is_upper(c) && !is_upper(previous)) out += 8;
    if (is_letter(next) && is_letter(previous) && is_upper(next) && !is_upper(c)) out += 4;
    if (!model_.latin && (is_ascii_letter(previous) || is_ascii_letter(next))) out += 10;
    if (is_upper(c)) out += 0.5;
    if (is_digit(previous)) out += 4;
    if (!is_letter(previous) && !is_letter(next)) out += 4;
    if (model_.latin && !is_ascii(previous) && is_letter(previous))
      out += i > 1 && !is_ascii(text_[i - 2]) && is_letter(text_[i - 2]) ? 8 : 2;
    return out;
  }

  // Consonants and vowels alternate.
  double sound_cost(std::size_t i) const {
    const char32_t previous = before(i), next = at(i + 1);
    const bool vowel = is_vowel(text_[i]);
    std::size_t run = 1;
    for (std::size_t j = i; j-- > 0 && is_letter(text_[j]) && is_vowel(text_[j]) == vowel;) ++run;
    double out = run >= 4 ? 4 : run == 3 ? (vowel ? 3 : 1) : 0;
    if (model_.latin && !vowel && is_letter(previous) && is_letter(next) && !is_vowel(previous) && !is_vowel(next))
      out += 4;
    const char32_t c = lower(text_[i]);
    // Spanish has "ñ" only before vowels, Polish has "ń" only elsewhere.
    if (c == U'ñ' && !is_vowel(next)) out += 8;
    if (c == U'ń' && is_vowel(next)) out += 8;
    // French has this letter before consonants, Italian at the end of words.
    if (c == U'è' && is_letter(next) && is_vowel(next)) out += 6;
    // Rare letters, and letters that do not occur in these positions of a word.
    if (c == U'ď') out += 4;
    if (c == U'ý' && !is_letter(previous)) out += 6;
    if (c == U'ς' && is_letter(next)) out += 8;
    if (c == U'σ' && !is_letter(next) && !is_upper(text_[i])) out += 6;
    if ((c == U'ь' || c == U'ъ' || c == U'ы') && !is_letter(previous)) out += 8;
    return out;
  }

  double symbol_cost_at(std::size_t i) const {
    constexpr std::u32string_view common = U"€£§©®°·«»“”„‘’–—…²³½±×\u00A0№";
    const char32_t c = text_[i], previous = before(i);
    if (c == U'¤') return 20;
    if (!contains(common, c)) return rare_cost;
    double out = symbol_cost;
    if (!is_ascii(previous) && !is_letter(previous)) out += 4;
    const bool joins = c == U'’' || c == U'·' || c == U'–' || c == U'\u00A0' || c == U'×';
    if (!joins && is_letter(previous) && is_letter(at(i + 1))) out += 8;
    if ((c == U'²' || c == U'³') && !is_letter(previous) && !is_digit(previous)) out += 8;
    if (c == U'±' && !is_digit(at(i + 1)) && at(i + 1) != U' ') out += 8;
    if ((c == U'£' || c == U'²' || c == U'½') && is_letter(at(i + 1))) out += 5;
    if ((c == U'±' || c == U'½') && is_letter(previous)) out += 5;
    return out;
  }

  const alphabet_model& model_;
  const std::u32string_view text_;
};

// A character in a two-byte encoding. `common_level`: it belongs to the level of the standard that has the common
// characters.
struct unit {
  std::size_t bytes = 1;
  bool common_level = false;
};

unit unit_at(std::string_view bytes, std::size_t i, cjk_layout layout) {
  const unsigned lead = byte_of(bytes[i]), trail = i + 1 < bytes.size() ? byte_of(bytes[i + 1]) : 0;
  if (lead < 0x80) return {};
  switch (layout) {
    case cjk_layout::gb:
      return {trail >= 0x30 && trail <= 0x39 ? std::size_t{4} : std::size_t{2},
              lead >= 0xB0 && lead <= 0xD7 && trail >= 0xA1};
    case cjk_layout::big5:
      return {2, lead >= 0xA4 && lead <= 0xC6};
    case cjk_layout::korean:
      return {2, lead >= 0xB0 && lead <= 0xC8 && trail >= 0xA1};
    case cjk_layout::euc_jp:
      return {lead == 0x8F ? std::size_t{3} : std::size_t{2}, lead >= 0xB0 && lead <= 0xCF};
    case cjk_layout::shift_jis:
      break;
  }
  if (lead >= 0xA1 && lead <= 0xDF) return {};
  return {2, (lead > 0x88 && lead < 0x98) || (lead == 0x88 && trail >= 0x9F) || (lead == 0x98 && trail <= 0x72)};
}

bool is_kana(char32_t c) {
  return c >= 0x3041 && c <= 0x30FF;
}
bool is_half_width_kana(char32_t c) {
  return c >= 0xFF66 && c <= 0xFF9F;
}
bool is_hangul(char32_t c) {
  return c >= 0xAC00 && c <= 0xD7A3;
}
bool is_ideograph(char32_t c) {
  return c >= 0x4E00 && c <= 0x9FFF;
}
bool is_full_width(char32_t c) {
  return c >= 0xFF01 && c <= 0xFF5E;
}

// The cost of a text in an encoding with two-byte characters.
class cjk_cost {
 public:
  cjk_cost(const cjk_model& model, std::u32string_view text, const std::vector<unit>& units)
      : model_(model), text_(text), units_(units) {}
  double total() const {
    double out = model_.prior;
    for (std::size_t i = 0; i < text_.size(); ++i)
      out += is_ascii(text_[i]) ? ascii_cost : character_cost(i) + neighbor_cost(i);
    return out;
  }

 private:
  char32_t at(std::size_t i) const { return i < text_.size() ? text_[i] : U' '; }
  char32_t before(std::size_t i) const { return i > 0 ? text_[i - 1] : U' '; }

  double character_cost(std::size_t i) const {
    constexpr std::u32string_view marks = U"、。，；：？！（）「」『』《》【】“”‘’…—・～％￥　ー";
    const char32_t c = text_[i];
    const bool japanese = model_.layout == cjk_layout::shift_jis || model_.layout == cjk_layout::euc_jp;
    if (contains(marks, c)) return 8;
    if (is_kana(c)) return japanese ? (c < 0x30A1 ? 6.5 : 7) : 16;
    if (is_half_width_kana(c)) return japanese ? half_width_kana_cost(i) : rare_cost;
    if (is_full_width(c)) return 10;
    const bool written = model_.layout == cjk_layout::korean ? is_hangul(c) : is_ideograph(c);
    if (!written) return rare_cost + 4;
    return contains(model_.common, c) ? 9 : units_[i].common_level ? 13 : 19;
  }

  // Small letters and voicing marks follow other kana.
  double half_width_kana_cost(std::size_t i) const {
    const char32_t c = text_[i], previous = before(i);
    const bool small = c >= 0xFF67 && c <= 0xFF70, mark = c >= 0xFF9E;
    const bool voiceable =
        (previous >= 0xFF76 && previous <= 0xFF84) || (previous >= 0xFF8A && previous <= 0xFF8E) || previous == 0xFF73;
    if (mark) return voiceable ? 3 : 14;
    if (small && !is_half_width_kana(previous)) return 14;
    if (c == 0xFF66) return 9;
    return 6;
  }

  // A single such character among Latin letters or other ASCII characters is improbable.
  double neighbor_cost(std::size_t i) const {
    const char32_t previous = before(i), next = at(i + 1);
    double out = 0;
    if (is_ascii_letter(previous)) out += 3;
    if (is_ascii_letter(next)) out += 3;
    if (is_ascii(previous) && is_ascii(next)) out += is_half_width_kana(text_[i]) ? 8 : 3;
    return out;
  }

  const cjk_model& model_;
  const std::u32string_view text_;
  const std::vector<unit>& units_;
};

struct interpretation {
  std::string encoding;
  double cost = 0;
};
using interpretations = std::map<std::string, interpretation>;  // key: the text in UTF-8

void add(interpretations& all, const std::string& text, const char* encoding, double cost) {
  const auto [at, is_new] = all.try_emplace(text, interpretation{encoding, cost});
  if (!is_new && cost < at->second.cost) at->second = {encoding, cost};
}

void add_cjk(std::string_view bytes, const cjk_model& model, interpretations& all) {
  const std::optional<std::string> text = to_utf8(bytes, model.encoding, false);
  if (!text) return;
  std::vector<unit> units;
  for (std::size_t i = 0; i < bytes.size(); i += units.back().bytes) units.push_back(unit_at(bytes, i, model.layout));
  const std::u32string characters = characters_of(*text);
  if (characters.size() == units.size()) add(all, *text, model.encoding, cjk_cost(model, characters, units).total());
}

}  // namespace

bool is_short_text(std::string_view bytes) {
  return static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), is_high)) <= max_high_bytes;
}

std::string encoding_of_short_text(std::string_view bytes) {
  interpretations all;
  for (const alphabet_model& model : alphabet_models())
    if (const std::optional<std::string> text = to_utf8(bytes, model.encoding, false))
      add(all, *text, model.encoding, alphabet_cost(model, characters_of(*text)).total());
  for (const cjk_model& model : cjk_models()) add_cjk(bytes, model, all);
  const interpretation *best = nullptr, *second = nullptr;
  for (const auto& [text, candidate] : all) {
    if (best == nullptr || candidate.cost < best->cost)
      second = std::exchange(best, &candidate);
    else if (second == nullptr || candidate.cost < second->cost)
      second = &candidate;
  }
  if (best == nullptr || (second != nullptr && second->cost - best->cost < margin)) return {};
  const auto high = static_cast<double>(std::count_if(bytes.begin(), bytes.end(), is_high));
  const double ascii = ascii_cost * (static_cast<double>(bytes.size()) - high);
  return best->cost - ascii <= max_cost_per_byte * high + margin ? best->encoding : std::string();
}

}  // namespace extract
