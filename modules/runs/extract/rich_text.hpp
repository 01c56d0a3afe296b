// Extracts the text of Rich Text Format (RTF 1.9). Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace extract {

// The text may slightly exceed `max_bytes`. `complete`: false if the file ends within a group.
struct rich_text {
  std::string text;  // UTF-8
  bool complete = true;
};
rich_text read_rich_text(std::string_view rtf, std::size_t max_bytes);

}  // namespace extract
