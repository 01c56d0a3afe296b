// Determines the encoding of text with few characters outside ASCII, for which a statistical detector only guesses.
// Pure.
#pragma once
#include <string>
#include <string_view>

namespace extract {

// Whether a text has few enough bytes outside ASCII for `encoding_of_short_text`.
bool is_short_text(std::string_view bytes);

// The iconv name of the encoding in which the text is clearly more plausible than in any other; empty: there is none.
std::string encoding_of_short_text(std::string_view bytes);

}  // namespace extract
