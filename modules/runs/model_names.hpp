// Which model a name that is none was meant for. Pure.
#pragma once
#include <string>
#include <string_view>

#include "settings.hpp"

namespace runs {

// A known name that resembles `name`: an alias, or "<provider>/<model>" of a configured provider. Empty: none does.
std::string nearest_model(const settings& s, std::string_view name);
// "; did you mean \"x\"?", or nothing.
std::string did_you_mean(const settings& s, std::string_view name);

}  // namespace runs
