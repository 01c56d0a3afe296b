// Parameters for SQL statements in C++. A ry_value borrows its data: text, bytes and arrays must live until the call
// that takes the value returns.
#pragma once

#include <ry/if/db.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/error.hpp"

namespace ry::db {

struct value {
  static ry_value null() noexcept { return make(RY_V_NULL); }
  static ry_value boolean(bool b) noexcept {
    auto v = make(RY_V_BOOL);
    v.u.i = b ? 1 : 0;
    return v;
  }
  static ry_value int64(std::int64_t i) noexcept {
    auto v = make(RY_V_INT);
    v.u.i = i;
    return v;
  }
  static ry_value number(double d) noexcept {
    auto v = make(RY_V_DOUBLE);
    v.u.d = d;
    return v;
  }
  static ry_value text(std::string_view s) noexcept {
    auto v = make(RY_V_TEXT);
    v.u.s = core::view(s);
    return v;
  }
  // SQL NULL when empty.
  static ry_value text_or_null(std::string_view s) noexcept { return s.empty() ? null() : text(s); }
  static ry_value bytes(std::string_view s) noexcept {
    auto v = make(RY_V_BYTES);
    v.u.b = core::bytes(s);
    return v;
  }
  static ry_value uuid(const ry_uuid& id) noexcept {
    auto v = make(RY_V_UUID);
    v.u.b = {id.bytes, sizeof id.bytes};
    return v;
  }
  static ry_value ints(std::span<const std::int64_t> items) noexcept {
    auto v = make(RY_V_INT_ARRAY);
    v.u.a = {items.data(), items.size()};
    return v;
  }
  // An element with ptr == nullptr is NULL.
  static ry_value texts(std::span<const ry_str> items) noexcept {
    auto v = make(RY_V_TEXT_ARRAY);
    v.u.a = {items.data(), items.size()};
    return v;
  }

 private:
  static ry_value make(std::int32_t kind) noexcept {
    ry_value v{};
    v.kind = kind;
    return v;
  }
};

// Builds a text[] parameter; borrows the added strings.
class text_array {
 public:
  text_array() = default;
  explicit text_array(std::span<const std::string> items) {
    for (const auto& s : items) add(s);
  }
  void add(std::string_view s) { items_.push_back({s.data() ? s.data() : "", s.size()}); }
  std::size_t size() const noexcept { return items_.size(); }
  ry_value value() const noexcept { return value::texts(items_); }

 private:
  std::vector<ry_str> items_;
};

}  // namespace ry::db
