// Error responses of the routes, and path parameters.
#pragma once
#include <cstdint>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

namespace runs {

// An error response with {"detail": "<message>"} or, with json, {"detail": <json>}.
ry::error refusal(std::uint32_t http_status, std::string message, std::string json = {});
// Converts a path parameter that must be a UUID to lower case. Throws a 400.
std::string uuid_param(std::string_view text);

}  // namespace runs
