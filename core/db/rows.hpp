// The result of one statement: text cells in PostgreSQL's output format. Owns its memory and is immutable, so any
// thread may read it.
#pragma once

#include <ry/abi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct pg_result;

namespace ry::db {

class rows {
 public:
  rows() = default;
  explicit rows(pg_result* owned) : result_(owned) {}

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  std::size_t columns() const noexcept;
  std::string_view column(std::size_t col) const noexcept;
  // Rows changed by an insert, update or delete; rows returned by a select.
  std::uint64_t affected() const noexcept;

  // Indexes out of range read as NULL; NULL reads as empty text, 0 or false.
  bool is_null(std::size_t row, std::size_t col) const noexcept;
  std::string_view text(std::size_t row, std::size_t col) const noexcept;
  bool boolean(std::size_t row, std::size_t col) const noexcept;
  // Throw failure (RY_INTERNAL) if the cell does not have this format.
  std::int64_t int64(std::size_t row, std::size_t col) const;
  double number(std::size_t row, std::size_t col) const;
  ry_uuid uuid(std::size_t row, std::size_t col) const;
  // Decodes a bytea cell.
  std::string bytes(std::size_t row, std::size_t col) const;
  bool is_bytes(std::size_t col) const noexcept;

 private:
  struct clear {
    void operator()(pg_result* r) const noexcept;
  };
  std::unique_ptr<pg_result, clear> result_;
};

}  // namespace ry::db
