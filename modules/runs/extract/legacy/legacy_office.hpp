// The text of documents in the binary formats of Office: doc, xls and ppt.
#pragma once
#include <cstddef>
#include <string>

#include "office.hpp"

namespace extract {

// `path`: a compound file.
office_text read_legacy_office(const std::string& path, std::size_t max_bytes);

}  // namespace extract
