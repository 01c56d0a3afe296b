#include "errors.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "json/members.hpp"
#include "run_event.hpp"

namespace openai_api {
namespace {

namespace json = boost::json;

constexpr const char *invalid_request = "invalid_request_error", *server_error = "server_error";

std::uint32_t http_status(const ry::error& e) {
  if (e.http_status() != 0) return e.http_status();
  switch (e.status()) {
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
    case RY_ABORTED:
    case RY_FAILED_PRECONDITION:
      return 409;
    case RY_RESOURCE_EXHAUSTED:
      return 429;
    case RY_CANCELLED:
    case RY_UNAVAILABLE:
      return 503;
    case RY_DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

struct service_detail {
  std::string message, code;
};

// The member "detail" of a module's error is a sentence, or an object with message and error_code.
service_detail detail_of(const ry::error& e) {
  service_detail out{std::string(e.message()), {}};
  boost::system::error_code bad;
  const json::value v = json::parse(e.detail_json(), bad);
  if (bad) return out;
  if (v.is_string()) out.message = std::string(v.as_string());
  if (!v.is_object()) return out;
  out.message = module_json::text_of(v.as_object(), "message", out.message);
  out.code = module_json::text_of(v.as_object(), "error_code");
  return out;
}

// Maps a 402 of a service to 429, the status that clients of the API expect for a used-up quota.
api_error quota_error(const service_detail& d) {
  if (d.code == "MODEL_ACCESS_DENIED") return api_error(404, invalid_request, "model_not_found", "model", d.message);
  if (d.code == "AGENT_RUN_LIMIT_EXCEEDED") return api_error(429, "requests", "rate_limit_exceeded", "", d.message);
  api_error out(429, "insufficient_quota", "insufficient_quota", "", d.message);
  out.retry = false;
  return out;
}

api_error conflict_error(const service_detail& d) {
  // A result without a call: the request itself is wrong, so a retry cannot succeed.
  if (d.message.rfind("tool_results", 0) == 0)
    return invalid("input", "A function_call_output has no function call of the previous response that waits for it");
  if (d.code == "THREAD_BUSY") return api_error(409, invalid_request, "conversation_locked", "", d.message);
  api_error out(409, invalid_request, "conflict", "", d.message);
  out.retry = false;
  return out;
}

}  // namespace

api_error invalid(std::string param, const std::string& message, std::string code) {
  return api_error(400, invalid_request, std::move(code), std::move(param), message);
}

api_error unknown_response(const std::string& id) {
  return api_error(404, invalid_request, "", "", "Response with id '" + id + "' not found.");
}

api_error unknown_model(const std::string& name) {
  return api_error(404, invalid_request, "model_not_found", "model",
                   "The model '" + name + "' does not exist or you do not have access to it.");
}

api_error approval_required() {
  api_error out(403, invalid_request, std::string(approval_required_code), "", std::string(approval_required_text));
  out.retry = false;
  return out;
}

bool is_not_found(const ry::error& e) {
  return e.status() == RY_NOT_FOUND || e.http_status() == 404;
}

api_error from_error(const ry::error& e) {
  const std::uint32_t status = http_status(e);
  const service_detail d = detail_of(e);
  api_error out(status, invalid_request, "", "", d.message);
  if (status == 402) out = quota_error(d);
  if (status == 401) out = api_error(401, invalid_request, "invalid_api_key", "", d.message);
  if (status == 403) out = api_error(403, invalid_request, "permission_denied", "", d.message);
  if (status == 409) out = conflict_error(d);
  if (status == 422) out.status = 400;
  if (status == 429) out = api_error(429, "requests", "rate_limit_exceeded", "", d.message);
  if (status == 503) out = api_error(503, server_error, "service_unavailable", "", d.message);
  if (e.status() == RY_CANCELLED) out.message = "The server is shutting down. Try again.";
  if (status >= 500 && status != 503)
    out = api_error(status, server_error, "server_error", "", "The server had an error while processing the request.");
  out.retry_after_s = e.retry_after_s();
  return out;
}

api_error current_api_error() {
  try {
    throw;
  } catch (const api_error& e) {
    return e;
  } catch (...) {
    return from_error(ry::current_error());
  }
}

json::object error_object(const api_error& e) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
  };
  json::object out;
  out["message"] = e.message;
  out["type"] = e.type;
  out["param"] = text_or_null(e.param);
  out["code"] = text_or_null(e.code);
  return out;
}

ry::response response_of(const api_error& e) {
  json::object body;
  body["error"] = error_object(e);
  ry::response out = ry::response::json(e.status, json::serialize(body));
  std::uint32_t wait = e.retry_after_s;
  if (wait == 0 && (e.status == 503 || (e.status == 429 && e.retry))) wait = 1;
  if (wait != 0) out.header("Retry-After", std::to_string(wait));
  if (!e.retry) out.header("x-should-retry", "false");
  return out;
}

ry::task<ry::response> with_errors(const ry::context& ctx, ry::task<ry::response> work) {
  std::optional<api_error> failure;
  try {
    co_return co_await std::move(work);
  } catch (const api_error& e) {
    failure = e;
  } catch (...) {
    const ry::error e = ry::current_error();
    if (e.status() == RY_INTERNAL || e.status() == RY_UNKNOWN) ctx.log_error("a request handler failed", e);
    failure = from_error(e);
  }
  co_return response_of(*failure);
}

}  // namespace openai_api
