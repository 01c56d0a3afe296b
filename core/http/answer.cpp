#include "core/http/answer.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <ry/cpp/types.hpp>

#include "core/http/field_text.hpp"
#include "core/http/message.hpp"

namespace ry::http::serving {

std::string_view reason_phrase(std::uint32_t status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 425:
      return "Too Early";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

void append_number(std::string& out, std::uint64_t n) {
  char buf[20];
  const auto r = std::to_chars(buf, buf + sizeof buf, n);
  out.append(buf, r.ptr);
}

void append_status_line(std::string& out, std::uint32_t status) {
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
    return;
  }
  out.append("HTTP/1.1 ");
  append_number(out, status);
  out.push_back(' ');
  out.append(reason_phrase(status)).append("\r\n");
}

std::string http_date(std::int64_t unix_seconds) {
  // strftime would use the names of the locale.
  static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t t = unix_seconds;
  std::tm tm{};
  gmtime_r(&t, &tm);
  std::string out;
  const auto two = [&out](int n) {
    out.push_back(static_cast<char>('0' + n / 10));
    out.push_back(static_cast<char>('0' + n % 10));
  };
  out.append(days[tm.tm_wday]).append(", ");
  two(tm.tm_mday);
  out.append(" ").append(months[tm.tm_mon]).append(" ");
  append_number(out, static_cast<std::uint64_t>(tm.tm_year) + 1900);
  out.push_back(' ');
  two(tm.tm_hour);
  out.push_back(':');
  two(tm.tm_min);
  out.push_back(':');
  two(tm.tm_sec);
  return out.append(" GMT");
}

bool append_module_headers(std::string& out, const ry_header* headers, std::size_t n, std::string* content_length) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto name = core::sv(headers[i].name), value = core::sv(headers[i].value);
    if (!is_token(name) || !core::sound(headers[i].value) || !is_field_value(value)) return false;
    switch (name.size()) {
      case 4:
        if (iequals(name, "date")) continue;
        break;
      case 10:
        if (iequals(name, "connection") || iequals(name, "keep-alive")) continue;
        break;
      case 12:
        if (iequals(name, "x-request-id")) continue;
        break;
      case 14:
        if (iequals(name, "content-length")) {
          if (content_length) {
            if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string_view::npos)
              return false;
            content_length->assign(value);
          }
          continue;
        }
        break;
      case 17:
        if (iequals(name, "transfer-encoding")) continue;
        break;
      default:
        break;
    }
    out.reserve(out.size() + name.size() + value.size() + 4);
    append_header(out, name, value);
  }
  return true;
}

core::error limit_error(std::uint32_t status, const char* reason, const char* code, std::string message,
                        std::uint32_t retry_after_s) {
  std::string detail = "{\"message\":";
  append_json_string(detail, message);
  detail += ",\"error_code\":";
  append_json_string(detail, code);
  detail += '}';
  return {status == 503 ? RY_UNAVAILABLE : RY_RESOURCE_EXHAUSTED,
          reason,
          std::move(message),
          std::move(detail),
          status,
          retry_after_s};
}

core::error too_many_connections() {
  return limit_error(503, "http.too_many_connections", "CONNECTION_LIMIT", "Too many connections", 1);
}

bool has_line(std::string_view lines, std::string_view name) noexcept {
  while (lines.size() > name.size()) {
    if (lines[name.size()] == ':' && iequals(lines.substr(0, name.size()), name)) return true;
    const auto end = lines.find('\n');
    if (end == std::string_view::npos) return false;
    lines.remove_prefix(end + 1);
  }
  return false;
}

void append_exposed_headers(std::string& out, std::string_view lines) {
  // CORS-safelisted headers are always readable, Set-Cookie never; the fixed part below has the other names.
  static constexpr std::string_view known[] = {"cache-control",
                                               "content-language",
                                               "content-length",
                                               "content-type",
                                               "expires",
                                               "last-modified",
                                               "pragma",
                                               "set-cookie",
                                               "x-request-id",
                                               "retry-after",
                                               "server-timing",
                                               "ratelimit-limit",
                                               "ratelimit-remaining",
                                               "ratelimit-reset",
                                               "vary",
                                               "connection",
                                               "transfer-encoding",
                                               "x-content-type-options",
                                               "date"};
  out.append(
      "Access-Control-Expose-Headers: X-Request-Id, Retry-After, Server-Timing, "
      "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset");
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size() - 1);
    const auto name = lines.substr(0, std::min(lines.find(':'), end));
    const bool exposed =
        std::none_of(std::begin(known), std::end(known), [&](auto each) { return iequals(name, each); });
    if (exposed && !name.empty()) out.append(", ").append(name);
    lines.remove_prefix(end + 1);
  }
  out.append("\r\n");
}

std::uint32_t http_status(const core::error& e) noexcept {
  if (e.http_status >= 400 && e.http_status < 600) return e.http_status;
  switch (e.status) {
    case RY_INVALID_ARGUMENT:
    case RY_OUT_OF_RANGE:
      return 400;
    case RY_UNAUTHENTICATED:
      return 401;
    case RY_PERMISSION_DENIED:
      return 403;
    case RY_NOT_FOUND:
      return 404;
    case RY_ALREADY_EXISTS:
    case RY_FAILED_PRECONDITION:
    case RY_ABORTED:
      return 409;
    case RY_RESOURCE_EXHAUSTED:
      return e.reason.compare(0, 10, "http.form_") == 0 ? 413 : 429;
    case RY_UNIMPLEMENTED:
      return 501;
    case RY_CANCELLED:
    case RY_UNAVAILABLE:
      return 503;
    case RY_DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

void append_retry_after(std::string& out, std::uint32_t status, const core::error& e) {
  const std::uint32_t seconds = e.retry_after_s == 0 && status == 503 ? 1 : e.retry_after_s;
  if (seconds == 0) return;
  out += "Retry-After: ";
  append_number(out, seconds);
  out += "\r\n";
}

std::string error_body(const core::error& e) {
  std::string out = "{\"detail\":";
  // Details of database errors go only to the log; those that a module's SQL raised (db.RY...) go to the client.
  const bool database_text = e.reason.starts_with("db.") && !e.reason.starts_with("db.RY");
  if (!e.detail_json.empty() && !database_text) {
    out += e.detail_json;
  } else if (!e.message.empty()) {
    append_json_string(out, e.message);
  } else {
    const auto status = http_status(e);
    append_json_string(out, status == 401   ? std::string_view("Not authenticated")
                            : status == 500 ? std::string_view("Internal server error")
                                            : reason_phrase(status));
  }
  return out += '}';
}

std::string error_body(std::string_view detail) {
  std::string out = "{\"detail\":";
  append_json_string(out, detail);
  return out += '}';
}

}  // namespace ry::http::serving
