// Text, bytes, UUIDs, errors and results: the value types of the C++ wrapper. Views own nothing: they are valid as long
// as their source. `error` and `result` own their content. Nothing here is bound to a thread.
#pragma once

#include <ry/abi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ry {

// ---- views ------------------------------------------------------------------------------------

inline ry_str str(std::string_view s) noexcept {
  return {s.data(), s.size()};
}
inline ry_bytes raw(std::string_view s) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}
inline std::string_view view(ry_str s) noexcept {
  return s.len == 0 ? std::string_view() : std::string_view(s.ptr, s.len);
}
inline std::string_view view(ry_bytes b) noexcept {
  return b.len == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(b.ptr), b.len);
}
inline std::string text(ry_str s) {
  return std::string(view(s));
}
inline std::string text(ry_bytes b) {
  return std::string(view(b));
}

// Bytes as a parameter of a statement or a message, distinct from text by type.
struct bytes_view {
  explicit bytes_view(std::string_view s) noexcept : data(raw(s)) {}
  explicit bytes_view(ry_bytes b) noexcept : data(b) {}
  ry_bytes data;
};

// Compares ASCII text without case, like header names.
inline bool iequals(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// ---- UUID -------------------------------------------------------------------------------------

struct uuid : ry_uuid {
  uuid() noexcept : ry_uuid{} {}
  uuid(const ry_uuid& u) noexcept : ry_uuid(u) {}

  // The form 8-4-4-4-12 in hex digits of either case, nothing else.
  static std::optional<uuid> parse(std::string_view s) noexcept {
    if (s.size() != 36) return std::nullopt;
    uuid out;
    std::size_t at = 0;
    for (auto& byte : out.bytes) {
      if (at == 8 || at == 13 || at == 18 || at == 23) {
        if (s[at++] != '-') return std::nullopt;
      }
      const int high = hex_value(s[at]), low = hex_value(s[at + 1]);
      if (high < 0 || low < 0) return std::nullopt;
      byte = static_cast<std::uint8_t>(high * 16 + low);
      at += 2;
    }
    return out;
  }

  std::string to_string() const {
    static constexpr char hex[] = "0123456789abcdef";
    std::string out(36, '-');
    char* to = out.data();
    for (std::size_t i = 0; i < 16; ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) ++to;
      *to++ = hex[bytes[i] >> 4];
      *to++ = hex[bytes[i] & 15];
    }
    return out;
  }

  bool is_nil() const noexcept { return *this == uuid(); }
  friend bool operator==(const uuid& a, const uuid& b) noexcept { return std::memcmp(a.bytes, b.bytes, 16) == 0; }
  friend bool operator<(const uuid& a, const uuid& b) noexcept { return std::memcmp(a.bytes, b.bytes, 16) < 0; }
};

// ---- errors -----------------------------------------------------------------------------------

inline const char* status_name(ry_status st) noexcept {
  static constexpr const char* names[] = {"ok",
                                          "cancelled",
                                          "unknown",
                                          "invalid",
                                          "deadline_exceeded",
                                          "not_found",
                                          "exists",
                                          "permission_denied",
                                          "resource_exhausted",
                                          "precondition",
                                          "aborted",
                                          "out_of_range",
                                          "unimplemented",
                                          "internal",
                                          "unavailable",
                                          "data_loss",
                                          "unauthenticated"};
  return st >= 0 && st <= RY_UNAUTHENTICATED ? names[st] : "unknown";
}

// An error: a value that may be thrown. Copying never throws.
class error : public std::exception {
 public:
  explicit error(ry_status st = RY_UNKNOWN) noexcept : status_(st) {}
  error(ry_status st, std::string reason, std::string message, std::string detail_json = {})
      : status_(st),
        texts_(std::make_shared<texts>(texts{std::move(reason), std::move(message), std::move(detail_json)})) {}

  // The error of a completion. If memory is exhausted, only the status remains.
  static error from(ry_status st, const ry_error_view* v) noexcept {
    error e(st);
    if (v == nullptr) return e;
    try {
      e.texts_ = std::make_shared<texts>(texts{text(v->reason), text(v->message), text(v->detail_json)});
    } catch (...) {
      e.texts_ = nullptr;
    }
    e.http_status_ = v->http_status;
    e.retry_after_s_ = v->retry_after_s;
    return e;
  }

  ry_status status() const noexcept { return status_; }
  std::string_view reason() const noexcept { return texts_ ? std::string_view(texts_->reason) : std::string_view(); }
  std::string_view message() const noexcept {
    return texts_ ? std::string_view(texts_->message) : std::string_view(status_name(status_));
  }
  std::string_view detail_json() const noexcept {
    return texts_ ? std::string_view(texts_->detail_json) : std::string_view();
  }
  std::uint32_t http_status() const noexcept { return http_status_; }
  std::uint32_t retry_after_s() const noexcept { return retry_after_s_; }
  bool is(std::string_view reason_code) const noexcept { return reason() == reason_code; }
  const char* what() const noexcept override { return texts_ ? texts_->message.c_str() : status_name(status_); }

  error with_http(std::uint32_t http_status) const {
    error e = *this;
    e.http_status_ = http_status;
    return e;
  }
  error with_retry_after(std::uint32_t seconds) const {
    error e = *this;
    e.retry_after_s_ = seconds;
    return e;
  }
  // `json` becomes the value of "detail" in the response.
  error with_detail(std::string json) const {
    error e(status_, std::string(reason()), std::string(message()), std::move(json));
    e.http_status_ = http_status_;
    e.retry_after_s_ = retry_after_s_;
    return e;
  }

  // Valid as long as this error or a copy of it.
  ry_error_view view() const noexcept {
    ry_error_view v{};
    v.struct_size = sizeof v;
    v.status = status_;
    v.reason = str(reason());
    v.message = str(message());
    v.detail_json = str(detail_json());
    v.http_status = http_status_;
    v.retry_after_s = retry_after_s_;
    return v;
  }

 private:
  struct texts {
    std::string reason, message, detail_json;
  };
  ry_status status_;
  std::uint32_t http_status_ = 0;
  std::uint32_t retry_after_s_ = 0;
  std::shared_ptr<const texts> texts_;
};

inline error bad_request(std::string reason, std::string message, std::string detail_json = {}) {
  return error(RY_INVALID_ARGUMENT, std::move(reason), std::move(message), std::move(detail_json));
}
inline error unauthenticated(std::string reason, std::string message) {
  return error(RY_UNAUTHENTICATED, std::move(reason), std::move(message));
}
inline error forbidden(std::string reason, std::string message) {
  return error(RY_PERMISSION_DENIED, std::move(reason), std::move(message));
}
inline error not_found(std::string reason, std::string message) {
  return error(RY_NOT_FOUND, std::move(reason), std::move(message));
}
inline error conflict(std::string reason, std::string message) {
  return error(RY_ALREADY_EXISTS, std::move(reason), std::move(message));
}
inline error exhausted(std::string reason, std::string message, std::string detail_json = {}) {
  return error(RY_RESOURCE_EXHAUSTED, std::move(reason), std::move(message), std::move(detail_json));
}
inline error precondition(std::string reason, std::string message) {
  return error(RY_FAILED_PRECONDITION, std::move(reason), std::move(message));
}
inline error unavailable(std::string reason, std::string message) {
  return error(RY_UNAVAILABLE, std::move(reason), std::move(message));
}
inline error internal(std::string reason, std::string message) {
  return error(RY_INTERNAL, std::move(reason), std::move(message));
}
// Any status with the HTTP status of the response: http_error(402, ...).
inline error http_error(std::uint32_t http_status, ry_status st, std::string reason, std::string message,
                        std::string detail_json = {}) {
  return error(st, std::move(reason), std::move(message), std::move(detail_json)).with_http(http_status);
}

// The current exception as an error. Call it only inside a catch block.
inline error current_error() noexcept {
  try {
    throw;
  } catch (const error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return error(RY_RESOURCE_EXHAUSTED);
  } catch (const std::exception& e) {
    try {
      return error(RY_INTERNAL, "internal", e.what());
    } catch (...) {
      return error(RY_INTERNAL);
    }
  } catch (...) {
    return error(RY_INTERNAL);
  }
}

// ---- result -----------------------------------------------------------------------------------

// A value or an error. value() throws the error.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;
  template <class U = T>
  requires(std::is_convertible_v<U&&, T> && !std::is_base_of_v<::ry::error, std::decay_t<U>> &&
           !std::is_same_v<std::decay_t<U>, result>) result(U&& v)
      : value_(std::forward<U>(v)), error_(RY_OK) {}
  result(::ry::error e) noexcept : error_(std::move(e)) {}

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  ry_status status() const noexcept { return error_.status(); }
  const ::ry::error& error() const noexcept { return error_; }  // only when !ok()

  T& value() & {
    check();
    return *value_;
  }
  const T& value() const& {
    check();
    return *value_;
  }
  T value() && {
    check();
    return std::move(*value_);
  }
  T value_or(T other) && { return ok() ? std::move(*value_) : std::move(other); }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  void check() const {
    if (!value_) throw error_;
  }
  std::optional<T> value_;
  ::ry::error error_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;
  result() noexcept : error_(RY_OK) {}
  result(::ry::error e) noexcept : error_(std::move(e)) {}

  bool ok() const noexcept { return error_.status() == RY_OK; }
  explicit operator bool() const noexcept { return ok(); }
  ry_status status() const noexcept { return error_.status(); }
  const ::ry::error& error() const noexcept { return error_; }
  void value() const {
    if (!ok()) throw error_;
  }

 private:
  ::ry::error error_;
};

// Throws unless the call succeeded; for calls without a completion.
inline void check(ry_status st, const char* what) {
  if (st != RY_OK) throw error(st, "", std::string(what) + ": " + status_name(st));
}

// ---- small text helpers -----------------------------------------------------------------------

// Appends text as a JSON string with its quotes. Each invalid UTF-8 byte becomes U+FFFD, so the result is valid JSON.
inline void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t n = utf8_length(text.substr(i));
      out += n != 0 ? text.substr(i, n) : std::string_view("\xEF\xBF\xBD");
      i += n != 0 ? n : 1;
      continue;
    }
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20) {
      append_hex(out += "\\u00", static_cast<std::uint8_t>(c));
    } else {
      out += c;
    }
    ++i;
  }
  out += '"';
}
inline std::string json_string(std::string_view s) {
  std::string out;
  append_json_string(out, s);
  return out;
}

// Percent-decodes one component of a query; '+' is a space. nullopt: an invalid escape.
inline std::optional<std::string> percent_decode(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '+') {
      out += ' ';
    } else if (s[i] != '%') {
      out += s[i];
    } else {
      if (i + 2 >= s.size()) return std::nullopt;
      const int high = hex_value(s[i + 1]), low = hex_value(s[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

// Names and values to be sent, in order.
using headers = std::vector<std::pair<std::string, std::string>>;

namespace detail {
inline std::vector<ry_header> c_headers(const headers& from) {
  std::vector<ry_header> out;
  out.reserve(from.size());
  for (const auto& [name, value] : from) out.push_back({str(name), str(value)});
  return out;
}
inline headers own_headers(const ry_header* from, std::size_t n) {
  headers out;
  out.reserve(n);
  for (std::size_t i = 0; i < n; ++i) out.emplace_back(text(from[i].name), text(from[i].value));
  return out;
}
inline void put_error(ry_errbuf* err, std::string_view s) noexcept {
  if (err == nullptr || err->ptr == nullptr) return;
  err->len = s.size() < err->cap ? s.size() : err->cap;
  if (err->len != 0) std::memcpy(err->ptr, s.data(), err->len);
}
}  // namespace detail

// ---- exception firewall -----------------------------------------------------------------------

// Runs f and converts any exception to a status. Every function that the host calls ends in one of these: the typedefs
// of the ABI are noexcept, so a function without it does not compile.
template <class F>
ry_status guard(F&& f, ry_errbuf* err = nullptr) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      std::forward<F>(f)();
      return RY_OK;
    } else {
      return std::forward<F>(f)();
    }
  } catch (...) {
    const error e = current_error();
    detail::put_error(err, e.message());
    return e.status() == RY_OK ? RY_INTERNAL : e.status();
  }
}

}  // namespace ry
