// Reads OpenDocument texts, spreadsheets and presentations.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

// False: the package is not an OpenDocument document.
bool read_open_document(package& in, std::size_t max_bytes, office_text& out);

}  // namespace extract
