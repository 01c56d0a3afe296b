// Extracts the text of documents in the binary Office formats: doc, xls and ppt.
#pragma once
#include <cstddef>
#include <string>

#include "office.hpp"

namespace extract {

// `path`: a compound file.
office_text read_legacy_office(const std::string& path, std::size_t max_bytes);

}  // namespace extract
