// The result of reading an office document.
#pragma once
#include <string>

namespace extract {

struct office_text {
  std::string kind;  // "docx", "xlsx", "pptx", "opendocument"; empty: not an office document
  std::string text;  // UTF-8, may slightly exceed max_bytes
  std::string problem;  // a sentence without a period; empty: everything was read
};

}  // namespace extract
