// Workbooks of Excel 3 to 2003 ([MS-XLS]: BIFF8; before it BIFF3 to BIFF5). Pure.
#pragma once
#include <cstddef>
#include <string_view>

#include "office.hpp"

namespace extract {

// `stream`: the stream Workbook (Excel 97 to 2003) or Book (Excel 5 and 95), or the file (Excel 3 and 4).
void read_workbook_binary(std::string_view stream, std::size_t most, office_text& out);

}  // namespace extract
