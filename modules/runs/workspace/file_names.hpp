// Matches file names as people and models type them: the same name in another Unicode normalisation, or with ordinary
// spaces instead of special ones. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace runs {

// Equal for names that look the same: NFC and NFD, compatibility forms, all kinds of spaces, dashes and quotation
// marks, invisible characters. A name that is not valid UTF-8 is its own key.
std::string name_key(std::string_view name);

// The names that look like `typed`; only the exact match if there is one.
std::vector<std::string> names_like(std::string_view typed, const std::vector<std::string>& names);

}  // namespace runs
