// Formats the numbers in a workbook's cells: dates and times as ISO 8601, percentages, and numbers with 15 significant
// digits as in Excel. Pure.
#pragma once
#include <string>
#include <string_view>

namespace extract {

enum class number_kind { number, percent, date, time, date_time, elapsed };
struct number_format {
  number_kind kind = number_kind::number;
  bool seconds = false;  // whether to show the seconds of a time
  char largest_elapsed = 'h';  // the unit in brackets, such as "[h]:mm": h, m or s
};
// Parses a format code (ECMA-376 part 1, 18.8.31). The first section determines the result; if it has a condition and
// shows a plain number, the next one does.
number_format parse_number_format(std::string_view code);
// The built-in format with this id (18.8.30).
number_format builtin_number_format(unsigned id);

enum class date_system { from_1900, from_1904 };
// `stored`: the value in the file. Text that is not a number is returned unchanged.
std::string show_number(std::string_view stored, const number_format& format, date_system system);

// The value of a cell of type "d": "2026-01-02T00:00:00Z" -> "2026-01-02"
std::string show_iso_date(std::string_view stored);

}  // namespace extract
