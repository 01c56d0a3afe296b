// JSON-RPC 2.0 messages as MCP restricts them: no batches, ids are strings or integers, params are objects. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace mcp_server {

namespace json = boost::json;

namespace rpc_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
// Of revision 2026-07-28.
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
// Outside of the ranges that JSON-RPC and MCP reserve.
inline constexpr int too_many_calls = 429;
inline constexpr int run_waits = 409;
}  // namespace rpc_code

// A JSON-RPC error response and the HTTP status that it is sent with.
class rpc_error : public std::exception {
 public:
  rpc_error(int code, std::string message, std::uint32_t http_status = 200, json::value data = {})
      : code_(code), http_status_(http_status), message_(std::move(message)), data_(std::move(data)) {}
  int code() const noexcept { return code_; }
  std::uint32_t http_status() const noexcept { return http_status_; }
  std::uint32_t retry_after_s() const noexcept { return retry_after_s_; }
  const std::string& message() const noexcept { return message_; }
  const json::value& data() const noexcept { return data_; }
  const char* what() const noexcept override { return message_.c_str(); }
  rpc_error with_retry_after(std::uint32_t seconds) const {
    rpc_error e = *this;
    e.retry_after_s_ = seconds;
    return e;
  }

 private:
  int code_;
  std::uint32_t http_status_;
  std::uint32_t retry_after_s_ = 0;
  std::string message_;
  json::value data_;
};

inline rpc_error invalid_params(std::string message) {
  return rpc_error(rpc_code::invalid_params, std::move(message));
}

// 429: the account has reached the limit of waiting requests.
rpc_error too_many_calls();

enum class message_kind { request, notification, response };

struct message {
  message_kind kind = message_kind::request;
  json::value id{};  // null if it is a notification
  std::string method{};
  json::object params{};  // of a response: its result
  bool failed = false;  // a response with an error
};

// The largest string id in bytes.
inline constexpr std::size_t max_id_bytes = 256;

// Throws rpc_error (400) if the text is not one message. `id`: set as soon as the request's id is known.
message read_message(std::string_view text, json::value& id);

json::object result_message(json::value id, json::object result);
// A null id is omitted: the request's id could not be read.
json::object error_message(json::value id, const rpc_error& e);
json::object notification_message(std::string_view method, json::object params);

json::string_view jv(std::string_view s) noexcept;
// At most `max` bytes of a text from a client or model, for use in messages.
std::string clipped(std::string_view text, std::size_t max);

}  // namespace mcp_server
