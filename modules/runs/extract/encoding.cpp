#include "encoding.hpp"

#include <uchardet.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <regex>
#include <type_traits>
#include <utility>

#include "short_text.hpp"
#include "transcode.hpp"

namespace extract {
namespace {

constexpr std::size_t declaration_bytes = 1024;

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

bool has_byte_in(std::string_view bytes, unsigned char from, unsigned char to) {
  return std::any_of(bytes.begin(), bytes.end(), [=](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= from && u <= to;
  });
}

// The iconv name of the encoding that text with this label has in practice (WHATWG's table): usually the vendor's
// superset.
std::string practical_name(const std::string& label) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 29> names{{
      {"SHIFT_JIS", "CP932"},     {"SHIFT-JIS", "CP932"},   {"SJIS", "CP932"},         {"X-SJIS", "CP932"},
      {"WINDOWS-31J", "CP932"},   {"EUC-JP", "EUC-JP-MS"},  {"EUC-KR", "UHC"},         {"KS_C_5601-1987", "UHC"},
      {"GB2312", "GB18030"},      {"GBK", "GB18030"},       {"CP936", "GB18030"},      {"BIG5", "BIG5-HKSCS"},
      {"ISO-8859-1", "CP1252"},   {"LATIN1", "CP1252"},     {"ISO8859-1", "CP1252"},   {"US-ASCII", "CP1252"},
      {"ASCII", "CP1252"},        {"ISO-8859-9", "CP1254"}, {"ISO-8859-11", "CP874"},  {"TIS-620", "CP874"},
      {"WINDOWS-874", "CP874"},   {"X-GBK", "GB18030"},     {"MS932", "CP932"},        {"KOI8", "KOI8-R"},
      {"CP949", "UHC"},           {"WINDOWS-949", "UHC"},   {"X-EUC-JP", "EUC-JP-MS"}, {"BIG5HKSCS", "BIG5-HKSCS"},
      {"X-X-BIG5", "BIG5-HKSCS"},
  }};
  for (const auto& [from, to] : names)
    if (label == from) return std::string(to);
  if (label.starts_with("WINDOWS-")) return "CP" + label.substr(8);
  return label;
}

// The Windows code page that has letters and quotation marks at the positions of ISO 8859's control characters.
std::string with_windows_letters(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> siblings{{
      {"ISO-8859-2", "CP1250"},
      {"ISO-8859-16", "CP1250"},
      {"ISO-8859-7", "CP1253"},
      {"ISO-8859-8", "CP1255"},
      {"ISO-8859-13", "CP1257"},
      {"ISO-8859-4", "CP1257"},
      {"ISO-8859-15", "CP1252"},
      {"ISO-8859-3", "CP1254"},
  }};
  for (const auto& [iso, windows] : siblings)
    if (name == iso) return std::string(windows);
  return name;
}

bool is_latin_guess(std::string_view name) {
  return name.starts_with("IBM85") || name.starts_with("MAC-C") || name == "ISO-8859-2" || name == "ISO-8859-3" ||
         name == "ISO-8859-4" || name == "ISO-8859-10" || name == "ISO-8859-16" || name == "WINDOWS-1250" ||
         name == "WINDOWS-1257" || name == "VISCII" || name == "ISO-8859-13" || name == "IBM865" || name == "IBM437" ||
         name == "ISO-8859-9" || name == "WINDOWS-1254" || name == "WINDOWS-1258";
}

// A statistical detector needs more than a few letters. Accepts text whose few non-ASCII bytes are, in Windows-1252,
// letters of western European languages or common symbols.
bool is_western(std::string_view bytes) {
  constexpr std::string_view symbols =
      "\x80\x82\x84\x85\x8B\x91\x92\x93\x94\x95\x96\x97\x99\x9B\xA0\xA3\xA7\xA9\xAB\xAE\xB0\xB1\xB2\xB3\xB4\xB5\xB7\xBB\xD7";
  constexpr std::string_view letters =
      "\x8C\x9C\xA1\xAA\xBA\xBF\xC0\xC1\xC2\xC3\xC4\xC5\xC6\xC7\xC8\xC9\xCA\xCB\xCC\xCD\xCE\xCF\xD1\xD2\xD3\xD4\xD5\xD6\xD8\xD9\xDA\xDB\xDC\xDF"
      "\xE0\xE1\xE2\xE3\xE4\xE5\xE6\xE7\xE8\xE9\xEA\xEB\xEC\xED\xEE\xEF\xF1\xF2\xF3\xF4\xF5\xF6\xF8\xF9\xFA\xFB\xFC\xFF";
  std::size_t seen = 0;
  for (char c : bytes) {
    if (static_cast<unsigned char>(c) < 0x80) continue;
    if (letters.find(c) == letters.npos && symbols.find(c) == symbols.npos) return false;
    ++seen;
  }
  return seen <= 4;
}

// ISO 8859-15 has the euro sign in place of the rarely used currency sign of ISO 8859-1, and letters in place of
// symbols that do not precede a letter.
bool has_latin9_letters(std::string_view bytes) {
  if (has_byte_in(bytes, 0x80, 0x9F)) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\xA4') return true;
    const bool letter = std::string_view("\xA6\xA8\xBC\xBD\xBE").find(bytes[i]) != std::string_view::npos;
    if (letter && i + 1 < bytes.size() && bytes[i + 1] >= 'a' && bytes[i + 1] <= 'z' &&
        (i == 0 || bytes[i - 1] < '0' || bytes[i - 1] > '9'))
      return true;
  }
  return false;
}

bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Windows-1250 has symbols in place of these letters of ISO 8859-2, and symbols do not occur in words.
bool has_latin2_letters(std::string_view bytes) {
  if (has_byte_in(bytes, 0x80, 0x9F)) return false;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
    if (std::string_view("\xA1\xA6\xAC\xB1\xB6").find(bytes[i]) != std::string_view::npos &&
        (is_ascii_letter(bytes[i + 1]) || (i > 0 && is_ascii_letter(bytes[i - 1]))))
      return true;
  return false;
}

std::string detected_label(std::string_view bytes) {
  const std::unique_ptr<std::remove_pointer_t<uchardet_t>, void (*)(uchardet_t)> detector(uchardet_new(),
                                                                                          &uchardet_delete);
  if (!detector || uchardet_handle_data(detector.get(), bytes.data(), bytes.size()) != 0) return {};
  uchardet_data_end(detector.get());
  return upper(uchardet_get_charset(detector.get()));
}

// The number of characters that occur in nearly every text; decides the byte order.
std::size_t common_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n' || c == '\r' || (c >= '0' && c <= 'z'); }));
}

// Whether all characters are assigned and at most half of them are outside the Basic Multilingual Plane.
bool is_assigned_text(std::string_view text) {
  std::size_t all = 0, rare = 0;
  const bool assigned = all_characters(text, [&](char32_t c) {
    ++all;
    if (c > 0xFFFF) ++rare;
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return !is_text_control(c) && category != UTF8PROC_CATEGORY_CN && category != UTF8PROC_CATEGORY_CO;
  });
  return assigned && rare * 2 <= all;
}

}  // namespace

std::string declared_encoding(std::string_view bytes) {
  static const std::regex forms(
      R"re(<\?xml[^>]{0,200}\sencoding\s*=\s*["']([A-Za-z0-9._:-]{2,40})|<meta[^>]{0,300}charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})|@charset\s+["']([A-Za-z0-9._:-]{2,40})|[#;*/"%!-].{0,80}coding[:=]\s*([A-Za-z0-9._:-]{2,40}))re",
      std::regex::icase | std::regex::optimize);
  const std::string head(bytes.substr(0, declaration_bytes));
  std::smatch found;
  if (!std::regex_search(head, found, forms)) return {};
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i].matched) return practical_name(upper(found[i].str()));
  return {};
}

std::string detect_encoding(std::string_view bytes) {
  const bool escapes = bytes.find('\x1B') != bytes.npos;  // the detector recognizes ISO 2022 by its escapes
  if (!escapes && is_short_text(bytes)) return encoding_of_short_text(bytes);
  std::string name = detected_label(bytes);
  if ((name.empty() || is_latin_guess(name)) && is_western(bytes)) name = "WINDOWS-1252";
  // uchardet has no model of KOI8-U, which has Ukrainian letters in place of some box-drawing characters of KOI8-R.
  if (name == "KOI8-R" && bytes.find_first_of("\xA4\xA6\xA7\xAD\xB4\xB6\xB7\xBD") != bytes.npos) name = "KOI8-U";
  // Text in Mac OS Roman that uchardet mistakes for this encoding is more probable than the encoding itself.
  if (name == "MAC-CENTRALEUROPE") return {};
  if ((name == "ISO-8859-1" || name == "WINDOWS-1252") && has_latin9_letters(bytes)) name = "ISO-8859-15";
  if (name == "WINDOWS-1250" && has_latin2_letters(bytes)) name = "ISO-8859-2";
  if (has_byte_in(bytes, 0x80, 0x9F)) name = with_windows_letters(name);
  return practical_name(name);
}

std::optional<wide_text> read_wide(std::string_view bytes, bool cut) {
  if (bytes.size() < 2 || bytes.find('\0') == bytes.npos) return std::nullopt;
  std::optional<wide_text> best;
  std::size_t best_common = 0;
  for (const auto& [name, unit] : {std::pair{"UTF-32LE", 4u}, {"UTF-32BE", 4u}, {"UTF-16LE", 2u}, {"UTF-16BE", 2u}}) {
    const std::size_t odd = bytes.size() % unit;
    if (odd != 0 && !cut) continue;
    std::optional<std::string> text = to_utf8(bytes.substr(0, bytes.size() - odd), name, cut);
    if (!text || !is_assigned_text(*text)) continue;
    // A zero byte in UTF-16 is usually half of a space, a line end, a digit or a Latin letter.
    const std::size_t common = common_characters(*text);
    if ((common == 0 && unit == 2) || (best && common <= best_common)) continue;
    best_common = common;
    best = wide_text{name, std::move(*text)};
  }
  return best;
}

}  // namespace extract
