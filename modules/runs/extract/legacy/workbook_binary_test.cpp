#include "workbook_binary.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "binary_fixture.hpp"

using namespace extract;

namespace {

std::string record(unsigned type, const std::string& body) {
  return u16(type) + u16(body.size()) + body;
}
std::string begin_part(unsigned type, unsigned version = 0x0600) {
  return record(0x809, u16(version) + u16(type) + std::string(12, '\0'));
}
const std::string end_part = record(0x0A, {});
std::string cell(unsigned row, unsigned column, unsigned style = 0) {
  return u16(row) + u16(column) + u16(style);
}
// A Unicode string with a two-byte character count.
std::string short_text(const std::string& ascii) {
  return u16(ascii.size()) + '\0' + ascii;
}

struct test_sheet {
  std::string name, records;
  unsigned state = 0, type = 0x10;
};
std::string workbook(const std::string& globals, const std::vector<test_sheet>& sheets) {
  std::size_t directory = 0;
  const auto head = [&](std::size_t first) {
    std::string out = begin_part(5) + globals;
    std::size_t at = first;
    for (const test_sheet& s : sheets) {
      out +=
          record(0x85, u32(at) + static_cast<char>(s.state) + '\0' + static_cast<char>(s.name.size()) + '\0' + s.name);
      at += begin_part(s.type).size() + s.records.size() + end_part.size();
    }
    return out + end_part;
  };
  directory = head(0).size();
  std::string out = head(directory);
  for (const test_sheet& s : sheets) out += begin_part(s.type) + s.records + end_part;
  return out;
}
std::string text_of(const std::string& stream, std::size_t max_bytes = 100000) {
  office_text out;
  read_workbook_binary(stream, max_bytes, out);
  return out.problem.empty() ? out.text : "(" + out.problem + ")";
}
std::string rows(const std::string& globals, const std::string& records) {
  const std::string text = text_of(workbook(globals, {{"S", records}}));
  EXPECT_TRUE(text.starts_with("--- Sheet: S ---\n")) << text;
  return text.substr(std::min<std::size_t>(text.size(), 17));
}

TEST(workbook_binary_test, numbers_are_formatted_by_their_style) {
  const std::string own = record(0x41E, u16(164) + short_text("yyyy\\-mm\\-dd"));
  const std::string styles = record(0xE0, u16(0) + u16(0)) + record(0xE0, u16(0) + u16(14)) +
                             record(0xE0, u16(0) + u16(9)) + record(0xE0, u16(0) + u16(164));
  const std::string cells =
      record(0x203, cell(0, 0) + f64(0.55000000000000004)) + record(0x203, cell(0, 1, 1) + f64(46024)) +
      record(0x203, cell(0, 2, 2) + f64(0.25)) + record(0x203, cell(0, 3, 3) + f64(46024)) +
      record(0x27E, cell(1, 0) + u32((12345 << 2) | 2)) + record(0x27E, cell(1, 2) + u32((12345 << 2) | 3)) +
      record(0xBD, u16(2) + u16(1) + u16(0) + u32(5 << 2 | 2) + u16(2) + u32(1 << 2 | 2) + u16(2));
  EXPECT_EQ(rows(own + styles, cells), "0.55\t2026-01-02\t25%\t2026-01-02\n12345\t\t123.45\n\t5\t100%\n");
  EXPECT_EQ(rows(record(0x22, u16(1)) + own + styles, record(0x203, cell(0, 0, 3) + f64(44562))), "2026-01-02\n")
      << "1904 date system";
}

TEST(workbook_binary_test, formula_results_and_errors_are_shown) {
  const auto result = [](const std::string& bytes) { return bytes + u16(0xFFFF); };
  const std::string cells = record(0x06, cell(0, 0) + f64(7) + std::string(8, '\0')) +
                            record(0x06, cell(0, 1) + result(std::string(6, '\0'))) + record(0x207, short_text("sum")) +
                            record(0x06, cell(0, 2) + result(std::string("\1\0\1\0\0\0", 6))) +
                            record(0x06, cell(0, 3) + result(std::string("\2\0\x07\0\0\0", 6))) +
                            record(0x205, cell(0, 4) + std::string("\0\0", 2)) +
                            record(0x205, cell(0, 5) + std::string("\x2A\1", 2)) +
                            record(0x406, cell(0, 6) + f64(2) + std::string(8, '\0'));
  EXPECT_EQ(rows({}, cells), "7\tsum\tTRUE\t#DIV/0!\tFALSE\t#N/A\t2\n");
}

TEST(workbook_binary_test, strings_may_continue_in_continuation_records) {
  const auto strings = [](const std::string& first, const std::string& rest) {
    return record(0xFC, u32(3) + u32(3) + first) + record(0x3C, rest);
  };
  const std::string cells =
      record(0xFD, cell(0, 0) + u32(0)) + record(0xFD, cell(0, 1) + u32(1)) + record(0xFD, cell(0, 2) + u32(2));
  // A continuation within a string that changes from narrow to wide, after a string with formatting runs and phonetics.
  const std::string rich = u16(4) + std::string(1, 12) + u16(1) + u32(3) + "rich" + std::string(4, '\0') + "pho";
  EXPECT_EQ(rows(strings(rich + u16(6) + '\0' + "one", '\1' + utf16(u"\u4E00\u4E8C\u4E09") + short_text("two")), cells),
            "rich\tone一二三\ttwo\n");
  // Continuations directly before the characters of a string and between strings.
  EXPECT_EQ(rows(strings(short_text("a") + u16(2) + '\1', '\1' + utf16(u"\u4E00\u4E8C") + short_text("z")), cells),
            "a\t一二\tz\n");
  EXPECT_EQ(rows(strings(short_text("a") + short_text("b"), short_text("c")), cells), "a\tb\tc\n");
}

TEST(workbook_binary_test, comments_shapes_and_charts_are_read) {
  const auto object = [](unsigned id) {
    return record(0x5D, u16(0x15) + u16(18) + u16(0) + u16(id) + std::string(14, '\0'));
  };
  const auto text_object = [](const std::string& text) {
    return record(0x1B6, std::string(10, '\0') + u16(text.size()) + std::string(6, '\0')) + record(0x3C, '\0' + text) +
           record(0x3C, std::string(16, '\0'));
  };
  const std::string chart = begin_part(0x20) + record(0x100D, u16(0) + std::string(1, 5) + '\0' + "Sales") +
                            record(0x203, cell(0, 0) + f64(99)) + end_part;
  const std::string first = record(0x204, cell(1, 1) + short_text("two\nlines")) + object(1) +
                            text_object("checked by Ann") + record(0x1C, u16(1) + u16(1) + u16(0) + u16(1)) +
                            object(2) + text_object("a shape") + chart;
  const std::string series = record(0x1065, u16(1)) + record(0x203, u16(0) + u16(0) + u16(0) + f64(4)) +
                             record(0x203, u16(1) + u16(0) + u16(0) + f64(5)) + record(0x1065, u16(2)) +
                             record(0x204, cell(0, 0) + short_text("May")) +
                             record(0x204, cell(1, 0) + short_text("June"));
  EXPECT_EQ(
      text_of(workbook(
          {}, {{"Data", first}, {"Old", record(0x204, cell(0, 0) + short_text("x")), 1}, {"Chart1", series, 0, 0x20}})),
      "--- Sheet: Data ---\n\ttwo lines\nB2: checked by Ann\na shape\nSales\n--- Sheet: Old (hidden) ---\nx\n--- Sheet: Chart1 ---\n4\t5\nMay\tJune\n");
}

TEST(workbook_binary_test, before_excel_97_texts_use_the_code_page) {
  const std::string globals = begin_part(5, 0x0500) + record(0x42, u16(1251)) +
                              record(0x85, u32(0) + std::string(2, '\0') + '\3' + "\xC4\xE0\xED") + end_part;
  std::string stream = globals + begin_part(0x10, 0x0500) + record(0x204, cell(0, 0) + u16(2) + "\xC6\xF3") +
                       record(0x04, u16(0) + u16(1) + std::string(3, '\0') + '\4' + "Dawn") +
                       record(0x1C, u16(0) + u16(0) + u16(4) + "note") + end_part;
  put(stream, stream.find(u16(0x85) + u16(10)) + 4, u32(globals.size()));
  EXPECT_EQ(text_of(stream), "--- Sheet: Дан ---\nЖу\tDawn\nA1: note\n");
  const std::string excel4 = record(0x409, u16(0) + u16(0x10) + u16(0)) + record(0x41E, u16(0) + '\7' + "General") +
                             record(0x41E, u16(0) + '\2' + "0%") +
                             record(0x443, std::string("\0\1", 2) + std::string(10, '\0')) +
                             record(0x203, cell(0, 0) + f64(0.5)) + record(0x0A, {});
  EXPECT_EQ(text_of(excel4), "--- Sheet: Sheet1 ---\n50%\n");
}

TEST(workbook_binary_test, encryption_is_reported) {
  EXPECT_EQ(text_of(workbook(record(0x2F, u16(1) + std::string(52, 'x')), {{"S", {}}})),
            "(it is encrypted and needs a password)");
}

TEST(workbook_binary_test, the_text_is_bounded) {
  // A string that each cell refers to, and a sheet that each directory entry refers to.
  const std::string big(8000, 'x');
  std::string cells;
  for (unsigned i = 0; i < 200; ++i) cells += record(0xFD, cell(i, 0) + u32(0));
  EXPECT_LT(text_of(workbook(record(0xFC, u32(1) + u32(1) + short_text(big)), {{"S", cells}}), 50000).size(), 70000u);
  std::string globals = begin_part(5);
  for (int i = 0; i < 1000; ++i) globals += record(0x85, u32(0) + std::string(2, '\0') + '\1' + '\0' + "S");
  EXPECT_LT(text_of(globals + end_part).size(), 100u);
  EXPECT_LT(rows({}, record(0x204, cell(0, 60000) + short_text("far"))).size(), 1100u);
}

TEST(workbook_binary_test, truncated_workbooks_are_handled) {
  const std::string whole = workbook(record(0xFC, u32(2) + u32(2) + short_text("one") + short_text("two")),
                                     {{"S", record(0xFD, cell(0, 0) + u32(0)) + record(0xFD, cell(0, 1) + u32(7))}});
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_LE(text_of(whole.substr(0, n)).size(), 60u);
  EXPECT_EQ(text_of(whole), "--- Sheet: S ---\none\n");
}

}  // namespace
