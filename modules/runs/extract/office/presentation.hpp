// Reads presentations (pptx, pptm): the slides in order, each with its diagrams, comments and notes.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

// `main`: empty: slides are found by their names.
void read_presentation(package& in, const std::string& main, std::size_t max_bytes, office_text& out);

}  // namespace extract
