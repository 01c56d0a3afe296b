// A statement with its parameters, copied and encoded for the wire on the caller's thread and sent by a worker.
// Scalars are sent as untyped text (the statement determines the type); bytes, UUIDs and arrays are sent in binary
// with their type.
#pragma once

#include <ry/if/db.h>

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace ry::db {

class call {
 public:
  // Throws failure (RY_INVALID_ARGUMENT) for a NUL byte in SQL or text, an unknown kind of value, or too many values.
  call(std::string_view schema, std::string_view sql, std::span<const ry_value> params, std::uint32_t flags = 0,
       std::chrono::milliseconds timeout = {});

  // NUL-terminated.
  const char* sql() const noexcept { return key_.c_str() + sql_at_; }
  std::string_view schema() const noexcept { return std::string_view(key_).substr(0, schema_len_); }
  // Schema, parameter types and text: the key of the prepared-statement cache.
  std::string_view key() const noexcept { return key_; }
  std::uint32_t flags() const noexcept { return flags_; }
  std::chrono::milliseconds timeout() const noexcept { return timeout_; }  // 0: the default

  int size() const noexcept { return static_cast<int>(lengths_.size()); }
  const unsigned* types() const noexcept { return types_.data(); }
  const int* lengths() const noexcept { return lengths_.data(); }
  const int* formats() const noexcept { return formats_.data(); }
  // Pointers into this object, valid until it moves.
  const char* const* values() const;

 private:
  void add(const ry_value& v, std::size_t index);

  std::string key_, data_;
  std::size_t schema_len_ = 0, sql_at_ = 0;
  std::uint32_t flags_ = 0;
  std::chrono::milliseconds timeout_{};
  boost::container::small_vector<unsigned, 8> types_;
  boost::container::small_vector<int, 8> lengths_, formats_;
  boost::container::small_vector<std::ptrdiff_t, 8> offsets_;  // -1: NULL
  mutable boost::container::small_vector<const char*, 8> values_;
};

}  // namespace ry::db
