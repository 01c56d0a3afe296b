// Reads workbooks of Excel 3 to 2003 (BIFF3 to BIFF8; [MS-XLS] specifies BIFF8). Pure.
#pragma once
#include <cstddef>
#include <string_view>

#include "office.hpp"

namespace extract {

// `stream`: the stream "Workbook" (Excel 97 to 2003) or "Book" (Excel 5 and 95), or the whole file (Excel 3 and 4).
void read_workbook_binary(std::string_view stream, std::size_t max_bytes, office_text& out);

}  // namespace extract
