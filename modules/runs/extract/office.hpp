// The text of documents that are zip archives of XML: docx, xlsx, pptx, and OpenDocument text, spreadsheets and presentations.
#pragma once
#include <cstddef>
#include <string>

namespace extract {

struct office_text {
  std::string kind;  // "docx", "xlsx", "pptx", "opendocument"; empty: some other archive
  std::string text;  // UTF-8, at most max_bytes or a little more
  std::string problem;  // a sentence without a full stop; empty: all was read
};

office_text read_office(const std::string& path, std::size_t max_bytes);

}  // namespace extract
