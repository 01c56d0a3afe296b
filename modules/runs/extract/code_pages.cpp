#include "code_pages.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "encoding.hpp"
#include "transcode.hpp"

namespace extract {
namespace {

constexpr unsigned western = 1252, mac_roman = 10000;
constexpr std::size_t max_character_bytes = 4;

std::string iconv_name(unsigned code_page) {
  static constexpr std::array<std::pair<unsigned, std::string_view>, 10> special{{{936, "GB18030"},
                                                                                  {949, "UHC"},
                                                                                  {1361, "JOHAB"},
                                                                                  {mac_roman, "MACINTOSH"},
                                                                                  {10001, "CP932"},
                                                                                  {10007, "MAC-CYRILLIC"},
                                                                                  {10029, "MAC-CENTRALEUROPE"},
                                                                                  {32768, "MACINTOSH"},
                                                                                  {32769, "CP1252"},
                                                                                  {65001, "UTF-8"}}};
  for (const auto& [number, name] : special)
    if (number == code_page) return std::string(name);
  return "CP" + std::to_string(code_page);
}

bool is_ascii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Converts character by character, for text that contains bytes that the encoding does not define.
std::string repaired(std::string_view bytes, const std::string& encoding) {
  std::string out;
  while (!bytes.empty()) {
    std::size_t n = 0;
    std::optional<std::string> text;
    while (!text && ++n <= std::min(bytes.size(), max_character_bytes))
      text = to_utf8(bytes.substr(0, n), encoding, false);
    out += text ? *text : "\xEF\xBF\xBD";
    bytes.remove_prefix(text ? n : 1);
  }
  return out;
}

}  // namespace

std::string from_code_page(std::string_view bytes, unsigned code_page) {
  std::string out;
  if (is_ascii(bytes)) {
    out = bytes;
  } else {
    std::string encoding = iconv_name(code_page);
    if (!to_utf8("a", encoding, false)) encoding = iconv_name(western);
    std::optional<std::string> text = to_utf8(bytes, encoding, false);
    out = text ? *std::move(text) : repaired(bytes, encoding);
  }
  return out;
}

unsigned code_page_of_language(unsigned language) {
  if (language == 0x0404 || language == 0x0C04 || language == 0x1404)
    return 950;  // Chinese in Taiwan, Hong Kong, Macao
  static constexpr std::array<std::pair<unsigned, unsigned>, 30> pages{{
      {0x01, 1256}, {0x02, 1251}, {0x04, 936},  {0x05, 1250}, {0x08, 1253}, {0x0D, 1255}, {0x0E, 1250}, {0x11, 932},
      {0x12, 949},  {0x15, 1250}, {0x18, 1250}, {0x19, 1251}, {0x1A, 1250}, {0x1B, 1250}, {0x1C, 1250}, {0x1E, 874},
      {0x1F, 1254}, {0x20, 1256}, {0x22, 1251}, {0x23, 1251}, {0x24, 1250}, {0x25, 1257}, {0x26, 1257}, {0x27, 1257},
      {0x29, 1256}, {0x2A, 1258}, {0x2C, 1254}, {0x2F, 1251}, {0x3F, 1251}, {0x44, 1251},
  }};
  for (const auto& [primary, page] : pages)
    if (primary == (language & 0x3FF)) return page;
  return western;
}

std::string from_utf16(std::string_view bytes) {
  return repaired_utf8(bytes.substr(0, bytes.size() & ~std::size_t{1}), "UTF-16LE");
}

void remove_controls(std::string& text) {
  std::erase_if(text,
                [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F; });
}

}  // namespace extract
