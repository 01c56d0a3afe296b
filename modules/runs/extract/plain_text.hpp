// Text files in the encodings that people have, as UTF-8. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace extract {

// UTF-8 with or without a mark, UTF-16 with a mark, else Windows-1252 (which is Latin-1 where that has
// letters). nullopt: not a text. `whole`: false for the beginning of a longer file.
enum class part { whole, beginning };
std::optional<std::string> read_text(std::string_view bytes, part of);

// Cuts UTF-8 to at most `most` bytes and leaves no half character at the end. False: it fits.
bool cut_text(std::string& text, std::size_t most);

void append_utf8(std::string& out, char32_t c);

}  // namespace extract
