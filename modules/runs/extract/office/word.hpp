// Reads Word documents (docx, docm): headers, text, notes, comments, footers.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

void read_word(package& in, const std::string& main, std::size_t max_bytes, office_text& out);

}  // namespace extract
