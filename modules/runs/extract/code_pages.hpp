// Texts in the code pages of Windows and Mac OS, as Rich Text and the binary formats of Office number them. Pure.
#pragma once
#include <string>
#include <string_view>

namespace extract {

// UTF-8. A byte that the code page does not have becomes U+FFFD, and an unknown code page is read as Windows-1252.
std::string from_code_page(std::string_view bytes, unsigned code_page);

// The code page of a language of Windows (LCID).
unsigned code_page_of_language(unsigned language);

// UTF-8 of UTF-16LE; lone surrogates become U+FFFD.
std::string from_utf16(std::string_view bytes);

// Leaves out the control characters that texts do not have.
void remove_controls(std::string& text);

}  // namespace extract
