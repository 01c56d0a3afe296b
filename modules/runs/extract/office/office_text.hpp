// The result of reading an office document.
#pragma once
#include <string>

namespace extract {

struct office_text {
  std::string kind;  // "docx", "xlsx", "pptx", "opendocument"; empty: some other archive
  std::string text;  // UTF-8, at most max_bytes or a little more
  std::string problem;  // a sentence without a full stop; empty: all was read
};

}  // namespace extract
