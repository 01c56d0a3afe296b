// Sans-io serializer of responses: heads, error bodies, and the mapping of ABI statuses to HTTP.
#pragma once

#include <ry/abi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/exec/error.hpp"

namespace ry::http::serving {

std::string_view reason_phrase(std::uint32_t status) noexcept;
// "HTTP/1.1 200 OK\r\n"
void append_status_line(std::string& out, std::uint32_t status);
void append_number(std::string& out, std::uint64_t n);
inline void append_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}
// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::int64_t unix_seconds);

// Appends the headers of a module as lines. False: a name is not a token, or a value contains a control character. The
// host sets Content-Length, Connection, Transfer-Encoding, Keep-Alive, Date and X-Request-Id itself, so they are
// skipped; *content_length, when given, receives the value of Content-Length.
bool append_module_headers(std::string& out, const ry_header* headers, std::size_t n,
                           std::string* content_length = nullptr);

// The error when a limit of one caller or a global limit is reached: {"message": ..., "error_code": code}.
core::error limit_error(std::uint32_t status, const char* reason, const char* code, std::string message,
                        std::uint32_t retry_after_s);
core::error too_many_connections();
std::uint32_t http_status(const core::error& e) noexcept;
// Whether one of the header lines has this name. `name` is in lower case.
bool has_line(std::string_view lines, std::string_view name) noexcept;
// Appends Access-Control-Expose-Headers: pages of other origins may read the host's headers and those in `lines`.
void append_exposed_headers(std::string& out, std::string_view lines);
// Appends the error's Retry-After. A 503 without one gets one second, so that clients back off predictably.
void append_retry_after(std::string& out, std::uint32_t status, const core::error& e);
// {"detail": ...}
std::string error_body(const core::error& e);
std::string error_body(std::string_view detail);

}  // namespace ry::http::serving
