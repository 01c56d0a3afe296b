// Checks the form of workflow ids. Pure function.
#pragma once

#include <string_view>

namespace notifications {

// [a-z0-9][a-z0-9_-]{0,63}
bool is_workflow_id(std::string_view text) noexcept;

}  // namespace notifications
