// The events that an administrator may publish with POST /admin/events, and what their payloads must hold.
#pragma once

#include <string_view>

#include "repository.hpp"

namespace accounts {

// Reads {kind, key, payload}. Throws ry::error: 400 for what is no JSON object, 422 naming the member that is not valid.
published_event read_published_event(std::string_view body);

}  // namespace accounts
