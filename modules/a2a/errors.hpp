// Errors of the A2A protocol: JSON-RPC codes, HTTP statuses and error details. Pure.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <exception>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>

namespace a2a {

// An error response. `reason` is the value of google.rpc.ErrorInfo.reason; empty for errors of JSON-RPC itself.
class protocol_error : public std::exception {
 public:
  protocol_error(std::int32_t code, std::uint32_t http_status, std::string reason, std::string message)
      : code_(code), http_status_(http_status), reason_(std::move(reason)), message_(std::move(message)) {}

  protocol_error with_field(std::string field) const;
  protocol_error with_task(std::string_view task_id) const;
  protocol_error with_retry_after(std::uint32_t seconds) const;
  // The error is not defined by the protocol but by this server, so its ErrorInfo has another domain. A JSON-RPC response
  // has the HTTP status of the error, because proxies and retry logic of clients read only the status. Exception: errors
  // of invalid parameters.
  protocol_error of_server() const;

  std::int32_t code() const { return code_; }
  std::uint32_t http_status() const { return http_status_; }
  // The HTTP status of a JSON-RPC response.
  std::uint32_t rpc_http_status() const { return of_server_ && code_ != -32602 ? http_status_ : 200; }
  std::uint32_t retry_after() const { return retry_after_; }
  const std::string& reason() const { return reason_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

  // The member `error` of a JSON-RPC response.
  boost::json::object rpc_error() const;
  // The body of an HTTP+JSON response.
  boost::json::object status_body() const;

 private:
  boost::json::array details() const;

  std::int32_t code_;
  std::uint32_t http_status_;
  std::string reason_, message_, field_, task_id_;
  std::uint32_t retry_after_ = 0;
  bool of_server_ = false;
};

protocol_error parse_error();
protocol_error invalid_request(std::string message);
protocol_error method_not_found(std::string_view method);
// The message is "<field> <problem>".
protocol_error invalid_params(std::string_view field, std::string_view problem);
protocol_error internal_error();
protocol_error task_not_found(std::string_view task_id);
protocol_error task_not_cancelable(std::string_view task_id, std::string_view state);
protocol_error push_notifications_not_supported();
protocol_error unsupported_operation(std::string message);
protocol_error content_type_not_supported(std::string_view field, std::string_view problem);
protocol_error version_not_supported(std::string_view version);
protocol_error agent_not_found();

// The error of another service, such as runs/1. Messages of internal errors are not passed on.
protocol_error from_service(const ry::error& e);
// The current exception. Call it only inside a catch block.
protocol_error current_protocol_error();

}  // namespace a2a
