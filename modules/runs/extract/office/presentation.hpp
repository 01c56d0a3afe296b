// Presentations (pptx, pptm): slides in their order, each with its diagrams, comments and notes.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

// `main` may be empty: slides are taken by their names.
void read_presentation(package& in, const std::string& main, std::size_t most, office_text& out);

}  // namespace extract
