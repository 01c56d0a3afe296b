#include "core/db/rows.hpp"

#include <libpq-fe.h>

#include <charconv>
#include <ry/cpp/text.hpp>

#include "core/db/failure.hpp"

namespace ry::db {

namespace {

constexpr Oid bytea_type = 17;

[[noreturn]] void malformed(std::string_view expected) {
  throw failure(
      {RY_INTERNAL, "db.cell", "A database column does not contain " + std::string(expected) + ".", {}, 0, 0});
}

template <class T>
T parse(std::string_view s, std::string_view expected) {
  T out{};
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), out);
  if (ec != std::errc() || end != s.data() + s.size()) malformed(expected);
  return out;
}

}  // namespace

void rows::clear::operator()(pg_result* r) const noexcept {
  PQclear(r);
}

std::size_t rows::size() const noexcept {
  return result_ ? static_cast<std::size_t>(PQntuples(result_.get())) : 0;
}
std::size_t rows::columns() const noexcept {
  return result_ ? static_cast<std::size_t>(PQnfields(result_.get())) : 0;
}
std::string_view rows::column(std::size_t col) const noexcept {
  const char* name = col < columns() ? PQfname(result_.get(), static_cast<int>(col)) : nullptr;
  return name ? name : "";
}
std::uint64_t rows::affected() const noexcept {
  if (!result_) return 0;
  const std::string_view s = PQcmdTuples(result_.get());
  std::uint64_t n = 0;
  std::from_chars(s.data(), s.data() + s.size(), n);
  return n;
}

bool rows::is_null(std::size_t row, std::size_t col) const noexcept {
  return row >= size() || col >= columns() || PQgetisnull(result_.get(), static_cast<int>(row), static_cast<int>(col));
}
std::string_view rows::text(std::size_t row, std::size_t col) const noexcept {
  if (is_null(row, col)) return {};
  const int r = static_cast<int>(row), c = static_cast<int>(col);
  return {PQgetvalue(result_.get(), r, c), static_cast<std::size_t>(PQgetlength(result_.get(), r, c))};
}
bool rows::boolean(std::size_t row, std::size_t col) const noexcept {
  return text(row, col).starts_with('t');
}
std::int64_t rows::int64(std::size_t row, std::size_t col) const {
  return is_null(row, col) ? 0 : parse<std::int64_t>(text(row, col), "an integer");
}
double rows::number(std::size_t row, std::size_t col) const {
  return is_null(row, col) ? 0 : parse<double>(text(row, col), "a number");
}

ry_uuid rows::uuid(std::size_t row, std::size_t col) const {
  ry_uuid out{};
  std::size_t nibble = 0;
  for (const char c : text(row, col)) {
    if (c == '-') continue;
    const int h = hex_value(c);
    if (h < 0 || nibble == 32) malformed("a UUID");
    auto& b = out.bytes[nibble / 2];
    b = static_cast<std::uint8_t>(b << 4 | h);
    ++nibble;
  }
  if (nibble != 0 && nibble != 32) malformed("a UUID");
  return out;
}

bool rows::is_bytes(std::size_t col) const noexcept {
  return col < columns() && PQftype(result_.get(), static_cast<int>(col)) == bytea_type;
}

std::string rows::bytes(std::size_t row, std::size_t col) const {
  auto s = text(row, col);
  if (s.empty()) return {};
  if (!s.starts_with("\\x") || s.size() % 2) malformed("bytes");
  s.remove_prefix(2);
  std::string out(s.size() / 2, '\0');
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int hi = hex_value(s[2 * i]), lo = hex_value(s[2 * i + 1]);
    if (hi < 0 || lo < 0) malformed("bytes");
    out[i] = static_cast<char>(hi << 4 | lo);
  }
  return out;
}

}  // namespace ry::db
