// OpenDocument texts, spreadsheets and presentations.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

// False: the package is none.
bool read_open_document(package& in, std::size_t most, office_text& out);

}  // namespace extract
