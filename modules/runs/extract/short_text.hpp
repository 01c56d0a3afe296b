// The encoding of a text with few characters outside ASCII, where a statistical detector only guesses. Pure.
#pragma once
#include <string>
#include <string_view>

namespace extract {

// Whether a text has so few bytes outside ASCII that `encoding_of_short_text` decides.
bool is_short_text(std::string_view bytes);

// The encoding in which a text is clearly more plausible than in each other one, as iconv names it; empty: none is.
std::string encoding_of_short_text(std::string_view bytes);

}  // namespace extract
