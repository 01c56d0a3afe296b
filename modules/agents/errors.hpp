// Errors shared by several routes.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <string_view>

namespace agents {

// 422 for a field of a request.
inline ry::error invalid(std::string_view field, const std::string& what) {
  return ry::http_error(422, RY_INVALID_ARGUMENT, "agents.invalid_value", std::string(field) + " " + what);
}

}  // namespace agents
