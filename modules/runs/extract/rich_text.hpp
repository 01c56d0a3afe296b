// The text of Rich Text Format (RTF 1.9). Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace extract {

// Until it has `most` bytes, or a little more. `complete`: false when the file ends within a group.
struct rich_text {
  std::string text;  // UTF-8
  bool complete = true;
};
rich_text read_rich_text(std::string_view rtf, std::size_t most);

}  // namespace extract
