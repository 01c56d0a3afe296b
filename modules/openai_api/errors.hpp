// Error responses in the format of the API: {"error": {"message", "type", "param", "code"}}.
#pragma once
#include <boost/json/object.hpp>
#include <cstdint>
#include <exception>
#include <ry/cpp/http.hpp>
#include <string>

namespace openai_api {

struct api_error : std::exception {
  api_error(std::uint32_t status, std::string type, std::string code, std::string param, std::string message)
      : status(status),
        type(std::move(type)),
        code(std::move(code)),
        param(std::move(param)),
        message(std::move(message)) {}
  const char* what() const noexcept override { return message.c_str(); }

  std::uint32_t status;
  std::string type;
  std::string code, param;  // empty: null
  std::string message;
  std::uint32_t retry_after_s = 0;
  bool retry = true;  // false: the response tells the client not to retry
};

// 400 for the member `param` of the request.
api_error invalid(std::string param, const std::string& message, std::string code = "invalid_value");
// 404 for a response that does not exist, or belongs to another account.
api_error unknown_response(const std::string& id);
// 403 for a request whose run waits for an approval that the API cannot ask for.
api_error approval_required();
api_error unknown_model(const std::string& name);

bool is_not_found(const ry::error& e);
// An error of a service, such as runs/1. The text of internal errors is dropped.
api_error from_error(const ry::error& e);
// The exception that is being handled. Call it only inside a catch block.
api_error current_api_error();

// The value of "error".
boost::json::object error_object(const api_error& e);
ry::response response_of(const api_error& e);

// Converts the exceptions of a handler to error responses; internal ones go to the log.
ry::task<ry::response> with_errors(const ry::context& ctx, ry::task<ry::response> work);

}  // namespace openai_api
