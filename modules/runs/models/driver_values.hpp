// Values that a model provider's driver reports at the end of an answer. Pure.
#pragma once
#include <string>

#include "ry/ext/llm_provider.h"
#include "settings/settings.hpp"

namespace runs {

// Converts the token counts that a driver reports.
token_usage read_usage(const ry_llm_usage& u);
// The message of the provider or the network that caused a driver's error, for the log and operators; empty: none.
std::string cause_of(const ry_error_view& err);

}  // namespace runs
