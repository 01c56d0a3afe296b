// What a number of a workbook's cell shows: dates and times in the form of ISO 8601, percentages, and numbers with 15 significant
// digits as Excel has them. Pure.
#pragma once
#include <string>
#include <string_view>

namespace extract {

enum class number_kind { number, percent, date, time, date_time, elapsed };
struct number_format {
  number_kind kind = number_kind::number;
  bool seconds = false;  // a time has them
  char largest_elapsed = 'h';  // of "[h]:mm": h, m or s
};
// Of a format code (ECMA-376 part 1, 18.8.31). Its first section counts, or the first one without a condition
// if that has no kind of its own.
number_format parse_number_format(std::string_view code);
// Of a format that every workbook has (18.8.30).
number_format builtin_number_format(unsigned id);

enum class date_system { from_1900, from_1904 };
// `stored`: as in the file. Other text is returned unchanged.
std::string show_number(std::string_view stored, const number_format& format, date_system system);

// "2026-01-02T00:00:00Z" of a cell of type "d" -> "2026-01-02"
std::string show_iso_date(std::string_view stored);

}  // namespace extract
