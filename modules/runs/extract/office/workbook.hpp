// Reads workbooks (xlsx, xlsm): the sheets in order, each row as a line of cells separated by tabs.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

// `main` must be loaded.
void read_workbook(package& in, const std::string& main, std::size_t max_bytes, office_text& out);

}  // namespace extract
