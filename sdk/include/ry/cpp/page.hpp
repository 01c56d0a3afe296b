// Pages of lists: reads one row more than the page from the database, and returns {"<name>":[...],"next_cursor":...}.
#pragma once

#include <ry/cpp/db.hpp>
#include <ry/cpp/http.hpp>
#include <ry/cpp/input.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ry {

struct page_of_rows {
  std::vector<std::string> rows;  // JSON objects
  std::optional<std::string> next;  // the key of the last row if there are more rows: for make_cursor()
};

// `read`: up to limit + 1 rows with a column "doc", a JSON object, and the list's key in a column "id". Throws
// RY_INTERNAL if they are missing.
inline page_of_rows read_page(const rows& read, std::int64_t limit) {
  page_of_rows out;
  for (const auto r : read) {
    if (static_cast<std::int64_t>(out.rows.size()) == limit) {
      out.next = std::string(read[out.rows.size() - 1].text("id"));
      break;
    }
    out.rows.emplace_back(r.text("doc"));
  }
  return out;
}

// The body of the response. `list` as in make_cursor().
inline std::string page_json(std::string_view name, std::string_view list, const page_of_rows& page) {
  std::string doc = "{\"" + std::string(name) + "\":[";
  for (const auto& row : page.rows) {
    if (doc.back() != '[') doc += ',';
    doc += row;
  }
  doc += "],\"next_cursor\":";
  doc += page.next ? json_string(make_cursor(list, *page.next)) : std::string("null");
  return doc + "}";
}

// A query parameter that is a whole number, or nullopt if it is missing. Throws RY_INVALID_ARGUMENT (422, naming the
// parameter and its range) for any other value.
inline std::optional<std::int64_t> query_integer(const request& r, std::string_view name, std::int64_t min,
                                                 std::int64_t max) {
  const auto text = r.query(name);
  if (!text) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (ec != std::errc() || end != text->data() + text->size() || out < min || out > max) {
    throw http_error(
        422, RY_INVALID_ARGUMENT, "http.invalid_value",
        std::string(name) + " must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return out;
}

// A query parameter that is text, or nullopt if it is missing. Throws like require_text().
inline std::optional<std::string> query_text(const request& r, std::string_view name, std::size_t min,
                                             std::size_t max) {
  auto text = r.query(name);
  if (text) text = require_text(name, *std::move(text), min, max);
  return text;
}

// The query parameter "cursor" of a list whose keys are UUIDs; nullopt if it is missing or empty. Throws like
// read_cursor().
inline std::optional<uuid> query_uuid_cursor(const request& r, std::string_view list) {
  const auto text = r.query("cursor");
  if (!text || text->empty()) return std::nullopt;
  const auto id = uuid::parse(read_cursor(list, *text));
  if (!id) throw detail::wrong_cursor();
  return id;
}

// The same for keys that are whole numbers from 1 on.
inline std::optional<std::int64_t> query_number_cursor(const request& r, std::string_view list) {
  const auto text = r.query("cursor");
  if (!text || text->empty()) return std::nullopt;
  return read_number_cursor(list, *text);
}

}  // namespace ry
