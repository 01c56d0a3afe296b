// Converts text in the code pages of Windows and Mac OS, numbered as in Rich Text and the binary Office formats. Pure.
#pragma once
#include <string>
#include <string_view>

namespace extract {

// Returns UTF-8. A byte that the code page does not define becomes U+FFFD; an unknown code page is treated as
// Windows-1252.
std::string from_code_page(std::string_view bytes, unsigned code_page);

// The code page of a Windows language identifier (LCID).
unsigned code_page_of_language(unsigned language);

// Converts UTF-16LE to UTF-8; unpaired surrogates become U+FFFD.
std::string from_utf16(std::string_view bytes);

// Removes the control characters that do not occur in text.
void remove_controls(std::string& text);

}  // namespace extract
