#include "errors.hpp"

#include <boost/json/parse.hpp>
#include <ry/cpp/utf8.hpp>
#include <utility>

#include "json/members.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::size_t max_echo = 100;

// A piece of the request for an error message.
std::string echo(std::string_view given) {
  const std::string text = ry::to_valid_utf8(given);
  if (text.size() <= max_echo) return text;
  return text.substr(0, ry::whole_characters(std::string_view(text).substr(0, max_echo))) + "...";
}

// The name of an HTTP status in google.rpc.Code.
std::string_view status_name(std::uint32_t http_status, std::int32_t code) {
  if (code == -32602 || code == -32005 || code == -32600 || code == -32700) return "INVALID_ARGUMENT";
  switch (http_status) {
    case 400:
      return "FAILED_PRECONDITION";
    case 401:
      return "UNAUTHENTICATED";
    case 403:
      return "PERMISSION_DENIED";
    case 404:
      return "NOT_FOUND";
    case 409:
      return "ABORTED";
    case 402:
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 501:
      return "UNIMPLEMENTED";
    case 503:
      return "UNAVAILABLE";
    default:
      return "INTERNAL";
  }
}

std::uint32_t http_status_of(const ry::error& e) {
  if (e.http_status() != 0) return e.http_status();
  switch (e.status()) {
    case RY_INVALID_ARGUMENT:
    case RY_OUT_OF_RANGE:
    case RY_FAILED_PRECONDITION:
      return 400;
    case RY_UNAUTHENTICATED:
      return 401;
    case RY_PERMISSION_DENIED:
      return 403;
    case RY_NOT_FOUND:
      return 404;
    case RY_ALREADY_EXISTS:
    case RY_ABORTED:
      return 409;
    case RY_RESOURCE_EXHAUSTED:
      return 429;
    case RY_UNAVAILABLE:
    case RY_CANCELLED:
    case RY_DEADLINE_EXCEEDED:
      return 503;
    default:
      return 500;
  }
}

// The message and the error code of the HTTP API in the error's detail, for example {"message", "error_code"}.
std::pair<std::string, std::string> texts_of(const ry::error& e) {
  std::pair<std::string, std::string> out{std::string(e.message()), {}};
  json::error_code bad;
  const json::value detail = json::parse(e.detail_json(), bad);
  if (bad || !detail.is_object()) return out;
  out.first = module_json::text_of(detail.get_object(), "message", out.first);
  out.second = module_json::text_of(detail.get_object(), "error_code");
  return out;
}

}  // namespace

protocol_error protocol_error::with_field(std::string field) const {
  protocol_error out = *this;
  out.field_ = std::move(field);
  return out;
}

protocol_error protocol_error::with_task(std::string_view task_id) const {
  protocol_error out = *this;
  out.task_id_ = echo(task_id);
  return out;
}

protocol_error protocol_error::with_retry_after(std::uint32_t seconds) const {
  protocol_error out = *this;
  out.retry_after_ = seconds;
  return out;
}

protocol_error protocol_error::of_server() const {
  protocol_error out = *this;
  out.of_server_ = true;
  return out;
}

json::array protocol_error::details() const {
  json::array out;
  if (!reason_.empty()) {
    json::object info{{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
                      {"reason", reason_},
                      {"domain", of_server_ ? "runyard" : "a2a-protocol.org"}};
    if (!task_id_.empty()) info["metadata"] = json::object{{"taskId", task_id_}};
    out.push_back(std::move(info));
  }
  if (!field_.empty())
    out.push_back(
        json::object{{"@type", "type.googleapis.com/google.rpc.BadRequest"},
                     {"fieldViolations", json::array{json::object{{"field", field_}, {"description", message_}}}}});
  if (retry_after_ != 0)
    out.push_back(json::object{{"@type", "type.googleapis.com/google.rpc.RetryInfo"},
                               {"retryDelay", std::to_string(retry_after_) + "s"}});
  return out;
}

json::object protocol_error::rpc_error() const {
  json::object out{{"code", code_}, {"message", message_}};
  json::array data = details();
  if (!data.empty()) out["data"] = std::move(data);
  return out;
}

json::object protocol_error::status_body() const {
  return {{"error", json::object{{"code", http_status_},
                                 {"status", status_name(http_status_, code_)},
                                 {"message", message_},
                                 {"details", details()}}}};
}

protocol_error parse_error() {
  return {-32700, 400, "", "Invalid JSON payload"};
}

protocol_error invalid_request(std::string message) {
  return {-32600, 400, "", std::move(message)};
}

protocol_error method_not_found(std::string_view method) {
  return {-32601, 404, "", "Method not found: " + echo(method)};
}

protocol_error invalid_params(std::string_view field, std::string_view problem) {
  return protocol_error(-32602, 400, "", std::string(field) + " " + std::string(problem))
      .with_field(std::string(field));
}

protocol_error internal_error() {
  return {-32603, 500, "", "Internal error"};
}

protocol_error task_not_found(std::string_view task_id) {
  return protocol_error(-32001, 404, "TASK_NOT_FOUND", "Task not found").with_task(task_id);
}

protocol_error task_not_cancelable(std::string_view task_id, std::string_view state) {
  return protocol_error(-32002, 400, "TASK_NOT_CANCELABLE",
                        "The task cannot be canceled: its state is " + std::string(state))
      .with_task(task_id);
}

protocol_error push_notifications_not_supported() {
  return {-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED", "This agent does not support push notifications"};
}

protocol_error unsupported_operation(std::string message) {
  return {-32004, 400, "UNSUPPORTED_OPERATION", std::move(message)};
}

protocol_error content_type_not_supported(std::string_view field, std::string_view problem) {
  return protocol_error(-32005, 400, "CONTENT_TYPE_NOT_SUPPORTED", std::string(field) + " " + std::string(problem))
      .with_field(std::string(field));
}

protocol_error version_not_supported(std::string_view version) {
  return {-32009, 400, "VERSION_NOT_SUPPORTED",
          "A2A protocol version " + (version.empty() ? "0.3 (no A2A-Version header)" : echo(version)) +
              " is not supported; send the header A2A-Version: 1.0"};
}

protocol_error agent_not_found() {
  return protocol_error(-32000, 404, "AGENT_NOT_FOUND", "Agent not found").of_server();
}

protocol_error from_service(const ry::error& e) {
  const std::uint32_t status = http_status_of(e);
  auto [message, error_code] = texts_of(e);
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return protocol_error(-32602, 400, error_code, std::move(message)).of_server();
    case 404:
      return task_not_found("");
    case 401:
    case 402:
    case 403:
    case 409:
    case 429:
    case 507:
      return protocol_error(-32000, status, error_code.empty() ? std::string(status_name(status, 0)) : error_code,
                            std::move(message))
          .with_retry_after(e.retry_after_s())
          .of_server();
    case 503:
      return protocol_error(-32603, 503, error_code.empty() ? "UNAVAILABLE" : error_code,
                            e.status() == RY_CANCELLED ? "The server is stopping; try again" : message)
          .with_retry_after(e.retry_after_s() != 0 ? e.retry_after_s() : 1)
          .of_server();
    default:
      return internal_error().of_server();
  }
}

protocol_error current_protocol_error() {
  try {
    throw;
  } catch (const protocol_error& e) {
    return e;
  } catch (...) {
    return from_service(ry::current_error());
  }
}

}  // namespace a2a
