// Finds the name that a mistyped one probably means. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ry::app::config {

// The candidate that `name` probably means; empty if none is similar.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace ry::app::config
