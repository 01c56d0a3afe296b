// Errors as values inside the host, and conversions between C++ text and the ABI's views.
#pragma once

#include <ry/abi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ry::core {

// Text from the other side of the ABI. A null pointer reads as empty text, regardless of its length.
inline std::string_view sv(ry_str s) noexcept {
  return s.ptr ? std::string_view(s.ptr, s.len) : std::string_view("", 0);
}
inline std::string_view sv(ry_bytes b) noexcept {
  return b.ptr ? std::string_view(reinterpret_cast<const char*>(b.ptr), b.len) : std::string_view("", 0);
}
// False if the pointer is null but the length is not: the module passed an invalid view.
inline bool sound(ry_str s) noexcept {
  return s.ptr || s.len == 0;
}
inline bool sound(ry_bytes b) noexcept {
  return b.ptr || b.len == 0;
}
inline std::string str(ry_str s) {
  return std::string(sv(s));
}
inline ry_str view(std::string_view s) noexcept {
  return {s.data(), s.size()};
}
inline ry_bytes bytes(std::string_view s) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}
// Copies a message into a caller-owned buffer and truncates it to the capacity; err may be null.
inline void write_err(ry_errbuf* err, std::string_view message) noexcept {
  if (!err || !err->ptr) return;
  err->len = message.size() < err->cap ? message.size() : err->cap;
  for (std::size_t i = 0; i < err->len; ++i) err->ptr[i] = message[i];
}

// A failure that is returned to the caller. `message` is for people and never contains secrets or paths.
struct error {
  ry_status status = RY_INTERNAL;
  std::string reason;  // "db.23505"
  std::string message;
  std::string detail_json;  // empty: use the message
  std::uint32_t http_status = 0;
  std::uint32_t retry_after_s = 0;

  // The view borrows from this object.
  ry_error_view view() const noexcept {
    return {sizeof(ry_error_view),   status,      core::view(reason), core::view(message),
            core::view(detail_json), http_status, retry_after_s};
  }
  static error from(ry_status st, const ry_error_view* v) {
    if (!v) return {st, {}, {}, {}, 0, 0};
    return {st ? st : v->status, str(v->reason), str(v->message),
            str(v->detail_json), v->http_status, v->retry_after_s};
  }
};

}  // namespace ry::core
