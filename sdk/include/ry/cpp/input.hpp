// Reads ids, cursors and texts in requests, by the same rules in all modules.
#pragma once

#include <ry/cpp/types.hpp>
#include <ry/cpp/utf8.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ry {

namespace detail {

// FNV-1a: distinguishes lists; it is not a protection against forgery.
inline std::string list_mark(std::string_view list) {
  std::uint32_t h = 2166136261u;
  for (const char c : list) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  std::string out;
  for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(h >> shift) & 15u];
  return out;
}

inline error wrong_cursor() {
  return bad_request("http.invalid_cursor", "cursor is not valid for this list");
}

}  // namespace detail

// Opaque cursors of keyset pages. A cursor contains the list that it belongs to; a cursor of another list is rejected
// instead of returning a page from the wrong position. `list` names the list with everything that selects its rows
// ("ledger:<account>"); `key` is the last row's key, of characters that need no escape in a URL.
inline std::string make_cursor(std::string_view list, std::string_view key) {
  return detail::list_mark(list) + "." + std::string(key);
}

// The key in the cursor. Throws RY_INVALID_ARGUMENT (400 "cursor is not valid for this list") unless make_cursor() made
// it for this list. The caller must check the key itself.
inline std::string read_cursor(std::string_view list, std::string_view text) {
  const auto mark = detail::list_mark(list) + ".";
  if (text.size() <= mark.size() || text.size() > 256 || text.substr(0, mark.size()) != mark) {
    throw detail::wrong_cursor();
  }
  return std::string(text.substr(mark.size()));
}
// The same for keys that are whole numbers from 1 on.
inline std::int64_t read_number_cursor(std::string_view list, std::string_view text) {
  const auto key = read_cursor(list, text);
  std::int64_t out = 0;
  const auto [end, ec] = std::from_chars(key.data(), key.data() + key.size(), out);
  if (ec != std::errc() || end != key.data() + key.size() || out < 1) throw detail::wrong_cursor();
  return out;
}

// A path parameter or body field that must be a UUID. Throws RY_INVALID_ARGUMENT (400 "Invalid UUID
// format").
inline uuid require_uuid(std::string_view text) {
  const auto id = uuid::parse(text);
  if (!id) throw bad_request("http.invalid_uuid", "Invalid UUID format");
  return *id;
}

// A text that is passed to the database, such as a filter in a query. Throws RY_INVALID_ARGUMENT (422, naming the
// parameter) unless it has `min` to `max` bytes of UTF-8 and no NUL character, which PostgreSQL cannot store.
inline std::string require_text(std::string_view name, std::string text, std::size_t min, std::size_t max) {
  if (text.size() < min || text.size() > max || text.find('\0') != text.npos || !is_utf8(text)) {
    throw http_error(422, RY_INVALID_ARGUMENT, "http.invalid_value",
                     std::string(name) + " must be UTF-8 text of " +
                         (min == 0 ? "at most " : std::to_string(min) + " to ") + std::to_string(max) +
                         " bytes without NUL characters");
  }
  return text;
}

}  // namespace ry
