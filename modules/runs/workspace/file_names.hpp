// Finds the file names that people and models mean when they type a name that looks the same but differs in Unicode normalization, spaces, dashes, quotation marks or invisible characters. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace runs {

// A key that is equal for names that look the same: it ignores differences between NFC and NFD, compatibility forms,
// kinds of spaces, dashes and quotation marks, and invisible characters. A name that is not valid UTF-8 is its own key.
std::string name_key(std::string_view name);

// The names that look like `typed`, or only the exact match if there is one.
std::vector<std::string> names_like(std::string_view typed, const std::vector<std::string>& names);

}  // namespace runs
