#include "word_binary.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "binary_fixture.hpp"

using namespace extract;

namespace {

struct text_piece {
  std::string bytes;
  bool wide = false;
  std::size_t characters() const { return wide ? bytes.size() / 2 : bytes.size(); }
};
text_piece narrow(std::string bytes) {
  return {std::move(bytes), false};
}
text_piece wide(std::u16string_view text) {
  return {utf16(text), true};
}

constexpr std::size_t text_at = 2048;

// A Word 97 document with these pieces. `stories`: the lengths of its stories in characters.
struct document {
  std::string main, table;
  explicit document(const std::vector<text_piece>& pieces, const std::vector<std::uint32_t>& stories = {}) {
    put(main, 0, u16(0xA5EC) + u16(0xC1));
    put(main, text_at, "");
    std::string positions = u32(0), places;
    std::uint32_t position = 0;
    for (const text_piece& p : pieces) {
      places += u16(0) + u32(p.wide ? main.size() : main.size() * 2 | 0x40000000) + u16(0);
      positions += u32(position += static_cast<std::uint32_t>(p.characters()));
      main += p.bytes;
    }
    table = std::string(1, 2) + u32(positions.size() + places.size()) + positions + places;
    put(main, 0x1A2, u32(0) + u32(table.size()));
    put(main, 0x4C, u32(position));
    for (std::size_t i = 0; i < stories.size(); ++i) put(main, 0x4C + i * 4, u32(stories[i]));
  }
  // Adds a page of runs. `runs`: the end of each run as a byte position, and its property changes.
  void add_runs(std::size_t index, std::size_t description_bytes, std::uint32_t begin,
                const std::vector<std::pair<std::uint32_t, std::string>>& runs) {
    main.resize((main.size() + 511) / 512 * 512, '\0');
    std::string page(512, '\0');
    page[511] = static_cast<char>(runs.size());
    put(page, 0, u32(begin));
    std::size_t at = 256;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      put(page, (i + 1) * 4, u32(runs[i].first));
      page[(runs.size() + 1) * 4 + i * description_bytes] = static_cast<char>(at / 2);
      put(page, at, runs[i].second);
      at += 32;
    }
    put(main, index, u32(table.size()) + u32(12));
    table += u32(begin) + u32(runs.back().first) + u32(main.size() / 512);
    main += page;
  }
  std::string text(std::size_t max_bytes = 100000) const {
    office_text out;
    read_word_binary(main, table, {}, max_bytes, out);
    return out.problem.empty() ? out.text : "(" + out.problem + ")";
  }
};

// The property changes of a paragraph: half their size, the style, the changes.
std::string paragraph(std::string changes) {
  changes = u16(0) + changes;
  if (changes.size() % 2 == 0) changes += '\0';
  return std::string(1, static_cast<char>((changes.size() + 1) / 2)) + changes;
}
const std::string in_table = u16(0x2416) + '\1', row_end = u16(0x2417) + '\1';

TEST(word_binary_test, narrow_and_wide_pieces_are_joined) {
  EXPECT_EQ(document({narrow("Caf\xE9 \x93quoted\x94 \x80\r"), wide(u"\u8B70\u4E8B\u9332\r"), narrow("end\r")}).text(),
            "Café “quoted” €\n議事録\nend\n");
}

TEST(word_binary_test, special_characters_are_converted_or_removed) {
  EXPECT_EQ(document({narrow("one\x0Btwo\x0Cthree\x0E"
                             "a\x1E"
                             "b op\x1Ftional pic\x01ture\x08 note\x02.\r")})
                .text(),
            "one\ntwo\nthree\na-b optional picture note.\n");
}

TEST(word_binary_test, fields_show_their_result) {
  EXPECT_EQ(
      document({narrow("see \x13 HYPERLINK \"http://x\" \x14the \x13 REF a \x14page\x15\x15 and \x13 PAGE \x15more\r")})
          .text(),
      "see the page and more\n");
}

TEST(word_binary_test, table_cells_are_separated_by_tabs) {
  const std::string text =
      "a\rb\x07"
      "c\x07\x07"
      "\x07"
      "d\x07\x07"
      "after\r";
  document d({narrow(text)});
  const auto end = [&](std::size_t characters) { return static_cast<std::uint32_t>(text_at + characters); };
  d.add_runs(0x102, 13, text_at,
             {{end(2), paragraph(in_table)},
              {end(4), paragraph(in_table)},
              {end(6), paragraph(in_table)},
              {end(7), paragraph(in_table + row_end)},
              {end(8), paragraph(in_table)},
              {end(10), paragraph(in_table)},
              {end(11), paragraph(in_table + row_end)},
              {end(17), paragraph("")}});
  EXPECT_EQ(d.text(), "a b\tc\n\td\nafter\n") << "an empty cell keeps its column";
}

TEST(word_binary_test, deleted_text_is_omitted) {
  document d({narrow("kept gone kept\r")});
  const std::string deleted = u16(0x0800) + '\1';
  d.add_runs(0xFA, 1, text_at, {{text_at + 5, {}}, {text_at + 10, std::string(1, 3) + deleted}, {text_at + 15, {}}});
  EXPECT_EQ(d.text(), "kept kept\n");
}

TEST(word_binary_test, stories_are_ordered_and_repeated_headers_appear_once) {
  // Main text, footnotes, headers (twice the same), macros, comments, endnotes, text boxes.
  const document d({narrow("main\rnote\rhead\rhead\rsaid\rlast\rboxed\r")}, {5, 5, 10, 0, 5, 5, 6});
  EXPECT_EQ(d.text(), "head\nmain\nboxed\nnote\nlast\nsaid\n");
}

TEST(word_binary_test, before_word_97_text_uses_the_code_page_of_the_language) {
  std::string main;
  put(main, 0, u16(0xA5DC) + u16(0x68));
  put(main, 6, u16(0x0419));  // Russian
  put(main, 0x18, u32(1024) + u32(1024 + 11));
  put(main, 0x34, u32(11));
  put(main, 1024, "\xCF\xF0\xE8\xE2\xE5\xF2, 1995");
  office_text out;
  read_word_binary(main, {}, {}, 1000, out);
  EXPECT_EQ(out.text, "Привет, 199");
}

TEST(word_binary_test, encryption_is_reported) {
  document d({narrow("secret\r")});
  put(d.main, 10, u16(0x0100));
  EXPECT_EQ(d.text(), "(it is encrypted and needs a password)");
}

TEST(word_binary_test, damaged_documents_are_handled) {
  document d({narrow("some text\r")});
  for (std::size_t n = 0; n < d.main.size(); n += 7) {
    document cut = d;
    cut.main.resize(n);
    EXPECT_LE(cut.text().size(), 100u);
  }
  put(d.main, 0x1A2, u32(0xFFFFFFF0) + u32(0xFFFFFFFF));
  EXPECT_EQ(d.text(), "(it is damaged)");
  // A thousand pieces with the same text.
  std::string positions, places;
  for (std::uint32_t i = 0; i <= 1000; ++i) positions += u32(i * 2000);
  for (std::uint32_t i = 0; i < 1000; ++i) places += u16(0) + u32(0x40000000) + u16(0);
  d.table = std::string(1, 2) + u32(positions.size() + places.size()) + positions + places;
  put(d.main, 0x1A2, u32(0) + u32(d.table.size()));
  put(d.main, 0x4C, u32(2'000'000));
  EXPECT_LE(d.text().size(), 3 * d.main.size());
}

TEST(word_binary_test, a_single_piece_is_limited_to_the_maximum) {
  EXPECT_LE(document({narrow(std::string(1u << 22, 'x'))}).text(1000).size(), 1001u);
}

TEST(word_binary_test, work_does_not_grow_with_nested_fields_or_repeated_pages) {
  const auto begin = std::chrono::steady_clock::now();
  std::string nested;
  for (int i = 0; i < 999; ++i) nested += "\x13\x14";
  document d({narrow(nested + std::string(16u << 20, 'x'))});
  d.add_runs(0xFA, 1, text_at,
             std::vector<std::pair<std::uint32_t, std::string>>(
                 8, {static_cast<std::uint32_t>(text_at + 1), std::string(1, '\xF0')}));
  const std::uint32_t page = static_cast<std::uint32_t>(d.main.size() / 512 - 1);
  constexpr std::size_t many = 1000000;
  put(d.main, 0xFA, u32(d.table.size()) + u32((many + 1) * 4 + many * 4));
  d.table += std::string((many + 1) * 4, '\0');
  for (std::size_t i = 0; i < many; ++i) d.table += u32(page);
  EXPECT_GE(d.text(32u << 20).size(), 16u << 20);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

}  // namespace
