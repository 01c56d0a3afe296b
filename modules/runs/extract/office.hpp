// Extracts the text of documents that are zip archives of XML: docx, xlsx, pptx, and OpenDocument texts, spreadsheets
// and presentations.
#pragma once
#include <cstddef>
#include <string>

#include "office/office_text.hpp"

namespace extract {

office_text read_office(const std::string& path, std::size_t max_bytes);

}  // namespace extract
