// Reads the settings of the module from JSON.
#pragma once
#include <ry/cpp/settings_check.hpp>
#include <string_view>

#include "settings/settings.hpp"

namespace runs {

// Reports invalid values in `faults` and otherwise ignores them. Throws if the text is not a JSON object.
settings parse_settings(std::string_view json, ry::settings_faults& faults);
// Whether the schema of a provider defines this key; all other keys in a provider's config_json come from its
// `options`.
bool is_provider_key(std::string_view key);

}  // namespace runs
