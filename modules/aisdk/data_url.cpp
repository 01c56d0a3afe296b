#include "data_url.hpp"

#include <iterator>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>
#include <utility>

namespace aisdk {
namespace {

constexpr std::string_view scheme = "data:";
constexpr std::string_view base64_mark = ";base64";

// Unlike ry::percent_decode, keeps '+': in the path of a URL it is not a space.
std::optional<std::string> percent_decode_path(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '%') {
      out += s[i];
      continue;
    }
    if (i + 2 >= s.size()) return std::nullopt;
    const int high = ry::hex_value(s[i + 1]), low = ry::hex_value(s[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

std::optional<data_url> parse_data_url(std::string_view text) {
  if (text.size() < scheme.size() || !ry::iequals(text.substr(0, scheme.size()), scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  std::string_view head = text.substr(0, comma);
  const std::string_view body = text.substr(comma + 1);
  const bool encoded =
      head.size() >= base64_mark.size() && ry::iequals(head.substr(head.size() - base64_mark.size()), base64_mark);
  std::optional<std::string> content =
      encoded ? ry::base64_decode(body, ry::base64_alphabet::standard, ry::base64_padding::optional)
              : percent_decode_path(body);
  if (!content) return std::nullopt;
  head = head.substr(0, head.find(';'));
  return data_url{ry::lower_ascii(head), *std::move(content)};
}

std::string_view extension_of(std::string_view media_type) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"image/png", ".png"},         {"image/jpeg", ".jpg"}, {"image/gif", ".gif"},       {"image/webp", ".webp"},
      {"application/pdf", ".pdf"},   {"text/plain", ".txt"}, {"text/markdown", ".md"},    {"text/csv", ".csv"},
      {"application/json", ".json"}, {"text/html", ".html"}, {"application/zip", ".zip"}, {"image/svg+xml", ".svg"},
  };
  for (const auto& [type, extension] : known)
    if (type == media_type) return extension;
  return {};
}

}  // namespace aisdk
