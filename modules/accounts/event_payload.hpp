// The events that an administrator may publish with POST /admin/events, and the required members of their payloads.
#pragma once

#include <string_view>

#include "repository.hpp"

namespace accounts {

// Reads {kind, key, payload}. Throws ry::error: 400 if the body is not a JSON object, 422 with the name of the invalid
// member.
published_event read_published_event(std::string_view body);

}  // namespace accounts
