#include "error_response.hpp"

#include <utility>

#include "text.hpp"

namespace runs {

ry::error refusal(std::uint32_t http_status, std::string message, std::string json) {
  ry_status status = RY_INVALID_ARGUMENT;
  switch (http_status) {
    case 401:
      status = RY_UNAUTHENTICATED;
      break;
    case 402:
    case 413:
      status = RY_RESOURCE_EXHAUSTED;
      break;
    case 404:
      status = RY_NOT_FOUND;
      break;
    case 409:
      status = RY_ALREADY_EXISTS;
      break;
    case 500:
      status = RY_INTERNAL;
      break;
    case 503:
      status = RY_UNAVAILABLE;
      break;
    default:
      break;
  }
  return ry::http_error(http_status, status, "", std::move(message), std::move(json));
}

std::string uuid_param(std::string_view text) {
  auto id = canonical_uuid(text);
  if (!id) throw refusal(400, "Invalid UUID format");
  return std::move(*id);
}

}  // namespace runs
