// Names of files as people and models type them: the same name in another Unicode normalisation or with an ordinary blank for a special
// one. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace runs {

// Equal for names that look the same: NFC and NFD, compatibility forms, blanks and dashes and quotation marks of all kinds, invisible
// characters. What is not valid UTF-8 is its own key.
std::string name_key(std::string_view name);

// Of `names` those that look like `typed`; only the exact one if it is there.
std::vector<std::string> names_like(std::string_view typed, const std::vector<std::string>& names);

}  // namespace runs
