#include "cell_format.hpp"

#include <gtest/gtest.h>

using namespace extract;

namespace {

std::string shown(const char* stored, const char* code, date_system system = date_system::from_1900) {
  return show_number(stored, parse_number_format(code), system);
}

TEST(cell_format_test, conditional_sections_without_a_kind_are_skipped) {
  EXPECT_EQ(shown("0.9983", "[<0]\"\";0%"), "99.83%");
  EXPECT_EQ(shown("0.0625", "[=0]?;[<4.16666666666667][hh]:mm:ss;[hh]:mm"), "1:30:00");
  EXPECT_EQ(shown("5551234", "[<=9999999]###-####;(###) ###-####"), "5551234");
  EXPECT_EQ(shown("0.5", "[Red]0;0%"), "0.5") << "a color is not a condition";
  EXPECT_EQ(shown("7", "[<1];[<1];[<1];[<1];[<1];0%"), "7") << "Excel has at most four sections";
}

TEST(cell_format_test, dates_and_times_are_recognized) {
  EXPECT_EQ(shown("46024", "dd/mm/yyyy"), "2026-01-02");
  EXPECT_EQ(shown("46024", "yyyy\\-mm\\-dd"), "2026-01-02");
  EXPECT_EQ(shown("46024", "[$-409]mmmm\\ d\\,\\ yyyy;@"), "2026-01-02");
  EXPECT_EQ(shown("46024", "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy"), "2026-01-02");
  EXPECT_EQ(shown("46024", "ggge\"年\"m\"月\"d\"日\""), "2026-01-02");
  EXPECT_EQ(shown("46024.5", "dd/mm/yyyy hh:mm"), "2026-01-02 12:00");
  EXPECT_EQ(shown("46024.5", "h:mm AM/PM"), "12:00");
  EXPECT_EQ(shown("0.75", "h:mm:ss"), "18:00:00");
  EXPECT_EQ(shown("0.5208449074", "mm:ss.0"), "12:30:01");
  EXPECT_EQ(shown("46024.999999999", "yyyy-mm-dd hh:mm:ss"), "2026-01-03 00:00:00") << "inexact fraction of a double";
  EXPECT_EQ(shown("1.25", "[h]:mm"), "30:00");
  EXPECT_EQ(shown("0.0625", "[mm]:ss"), "90:00");
  EXPECT_EQ(shown("0.001", "[s]"), "86");
  EXPECT_EQ(shown("44562", "yyyy-mm-dd", date_system::from_1904), "2026-01-02");
  EXPECT_EQ(shown("59", "d-m-y"), "1900-02-28");
  EXPECT_EQ(shown("60", "d-m-y"), "1900-02-29") << "Excel treats 1900 as a leap year";
  EXPECT_EQ(shown("61", "d-m-y"), "1900-03-01");
  EXPECT_EQ(shown("-1", "yyyy-mm-dd"), "-1");
  EXPECT_EQ(shown("1e300", "yyyy-mm-dd"), "1e+300");
}

TEST(cell_format_test, built_in_formats_are_applied) {
  const auto builtin = [](const char* stored, unsigned id) {
    return show_number(stored, builtin_number_format(id), date_system::from_1900);
  };
  EXPECT_EQ(builtin("46024", 14), "2026-01-02");
  EXPECT_EQ(builtin("46024.25", 22), "2026-01-02 06:00");
  EXPECT_EQ(builtin("0.25", 20), "06:00");
  EXPECT_EQ(builtin("1.5", 46), "36:00:00");
  EXPECT_EQ(builtin("0.25", 9), "25%");
  EXPECT_EQ(builtin("0.125", 10), "12.5%");
  EXPECT_EQ(builtin("46024", 57), "2026-01-02");
  EXPECT_EQ(builtin("46024", 0), "46024");
  EXPECT_EQ(builtin("46024", 49), "46024");
}

TEST(cell_format_test, numbers_have_15_significant_digits) {
  EXPECT_EQ(shown("0.55000000000000004", "General"), "0.55");
  EXPECT_EQ(shown("0.30000000000000004", "GENERAL"), "0.3");
  EXPECT_EQ(shown("46024", "#,##0.00 \"days\""), "46024");
  EXPECT_EQ(shown("7.0000000000000007E-2", "0%"), "7%");
  EXPECT_EQ(shown("46024", "0\"%\""), "46024") << "a percent sign in quoted text";
  EXPECT_EQ(shown("46024", "[Red]0.00;[Blue]-0.00"), "46024");
  EXPECT_EQ(shown("12345", "0.00E+00"), "12345");
  EXPECT_EQ(shown("46024", "0;yyyy"), "46024") << "the first section applies";
  EXPECT_EQ(shown("46024", "\";\"yyyy"), "2026-01-02");
  EXPECT_EQ(shown("12345678901234567", "0"), "12345678901234567") << "long integers are not rounded";
  EXPECT_EQ(shown("1E+20", "0"), "100000000000000000000");
  EXPECT_EQ(shown("-0", "0.0"), "-0");
  EXPECT_EQ(shown("text", "yyyy"), "text");
  EXPECT_EQ(shown("", "yyyy"), "");
}

TEST(cell_format_test, dates_of_strict_workbooks) {
  EXPECT_EQ(show_iso_date("2026-01-02T00:00:00"), "2026-01-02");
  EXPECT_EQ(show_iso_date("2026-01-02T06:30:00.000Z"), "2026-01-02 06:30:00");
  EXPECT_EQ(show_iso_date("2026-01-02"), "2026-01-02");
}

}  // namespace
