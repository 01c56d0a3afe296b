// Reads documents of Word 6 to 2003 ([MS-DOC]). Pure.
#pragma once
#include <cstddef>
#include <string_view>

#include "office.hpp"

namespace extract {

// `document`: the stream "WordDocument"; `table0`, `table1`: the streams "0Table" and "1Table", of which the document
// uses one (none before Word 97).
void read_word_binary(std::string_view document, std::string_view table0, std::string_view table1,
                      std::size_t max_bytes, office_text& out);

}  // namespace extract
