// Workbooks (xlsx, xlsm): sheets in their order, each row as a line of cells between tabs.
#pragma once
#include "package.hpp"
#include "reading.hpp"

namespace extract {

// `main` is loaded.
void read_workbook(package& in, const std::string& main, std::size_t most, office_text& out);

}  // namespace extract
