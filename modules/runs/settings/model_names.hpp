// Suggests a model for an unknown name. Pure.
#pragma once
#include <string>
#include <string_view>

#include "settings/settings.hpp"

namespace runs {

// The known name closest to `name`: an alias, or "<provider>/<model>" of a configured provider. Empty: none is close
// enough.
std::string nearest_model(const settings& s, std::string_view name);
// "; did you mean \"x\"?", or nothing.
std::string did_you_mean(const settings& s, std::string_view name);

}  // namespace runs
