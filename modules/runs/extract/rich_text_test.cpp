#include "rich_text.hpp"

#include <gtest/gtest.h>

#include "code_pages.hpp"

using namespace extract;

namespace {

std::string text(const std::string& body, std::size_t max_bytes = 100000) {
  return read_rich_text("{\\rtf1\\ansi\\ansicpg1252" + body + "}", max_bytes).text;
}

TEST(rich_text_test, paragraphs_and_characters) {
  EXPECT_EQ(text("\\pard One\\line two\\par Three\\tab four \\{\\}\\\\\\~x\\_y\\-z\\par\r\nlast"),
            "One\ntwo\nThree\tfour {}\\\u00A0x-yz\nlast");
  EXPECT_EQ(text("\\b bold\\b0  plain {\\i it}alic\\rquote s\\emdash\\bullet "), "bold plain italic’s—•");
}

TEST(rich_text_test, bytes_are_in_the_code_page_of_the_font) {
  const std::string fonts =
      "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset238 Arial CE;}{\\f2\\fcharset128 MS Mincho{\\*\\falt x};}{\\f3\\fcharset204 Cyr;}{\\f4\\cpg1253 Greek;}}";
  EXPECT_EQ(
      text(fonts + "\\f0 caf\\'e9 \\f1\\'e8l\\'e1nek \\f2\\'8bc\\'8e\\'96 {\\f3\\'c4\\'e0} \\f4\\'e1\\plain\\'e9"),
      "café článek 議事 Да αé");
  EXPECT_EQ(
      read_rich_text("{\\rtf1\\ansi\\ansicpg1251\\deff0{\\fonttbl{\\f0\\fcharset0 Times;}}\\f0\\'c4\\'e0}", 100).text,
      "Да")
      << "a font with the Western charset uses the code page of the document";
  EXPECT_EQ(read_rich_text("{\\rtf1\\mac\\'8e}", 100).text, "é");
  EXPECT_EQ(read_rich_text("{\\rtf1\\pc\\'82}", 100).text, "é");
  EXPECT_EQ(read_rich_text("{\\rtf1\\ansicpg99999\\'e9}", 100).text, "é")
      << "an unknown code page is read as Windows-1252";
}

TEST(rich_text_test, unicode_replaces_its_fallback) {
  EXPECT_EQ(text("\\u24180?\\u-26624\\'3fx"), "年\u9800x");
  EXPECT_EQ(text("\\uc2\\u24180\\'94\\'4eabc{\\uc0\\u24565 d}"), "年abc念d")
      << "the number of fallback characters applies to the group";
  EXPECT_EQ(text("\\u-10179?\\u-8704?!"), "😀!");
  EXPECT_EQ(text("\\u-8704?"), "\uFFFD");
  EXPECT_EQ(text("{\\upr{ab}{\\*\\ud{\\u24180 ?}}}"), "年");
}

TEST(rich_text_test, control_words_and_pictures_are_removed) {
  EXPECT_EQ(
      text(
          "{\\fonttbl{\\f0 Arial;}}{\\colortbl;\\red0;}{\\stylesheet{\\s1 Normal;}}{\\info{\\title T}}{\\*\\generator G;}{\\pict\\pngblip 89504e}{\\object{\\*\\objdata 01}{\\result shown}}"),
      "shown");
  EXPECT_EQ(
      text("{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt here}}{\\xe{\\v entry}}{\\deleted gone}{\\*\\unknown{\\b x}}"),
      "here");
  EXPECT_EQ(text("a\\bin4 {}\\bc"), "ac") << "four binary bytes are skipped";
  EXPECT_EQ(text("{\\loch\\f2\\*\\cs7 The fox}"), "The fox") << "\\* that is not at the start of a group";
}

TEST(rich_text_test, tables_have_tabs_between_cells) {
  EXPECT_EQ(text("\\trowd\\intbl a\\par b\\cell\\cell c\\cell\\row\\trowd\\intbl\\cell d\\cell\\row\\pard after"),
            "a b\t\tc\n\td\nafter");
}

TEST(rich_text_test, notes_comments_and_text_boxes_follow_their_line) {
  EXPECT_EQ(
      text("supercali{\\*\\atnid A}{\\*\\annotation {\\chatn}a comment\\par}fragilistic{\\footnote a note}\\par next"),
      "supercalifragilistic\na comment\na note\nnext");
  EXPECT_EQ(
      text(
          "box{\\shp{\\*\\shpinst{\\sp{\\sn n}{\\sv v}}{\\shptxt inside\\par}}{\\shprslt{\\*\\do old inside}}}es\\par"),
      "boxes\ninside\n");
}

TEST(rich_text_test, rich_text_that_encapsulates_html_is_read) {
  EXPECT_EQ(text("\\fromhtml1{\\*\\htmltag64 <p>}Hello\\htmlrtf\\line\\htmlrtf0{\\*\\htmltag72 </p>}world"),
            "Hello\nworld");
}

TEST(rich_text_test, damaged_files_end_early) {
  EXPECT_FALSE(read_rich_text("{\\rtf1 text{\\b more", 100).complete);
  EXPECT_EQ(read_rich_text("{\\rtf1 text{\\b more", 100).text, "textmore");
  EXPECT_TRUE(read_rich_text("{\\rtf1 a}", 100).complete);
  EXPECT_EQ(text("}}}\\par x"), "\nx");
  EXPECT_EQ(read_rich_text("{\\rtf1 \\'", 100).text, "");
  EXPECT_EQ(read_rich_text("{\\rtf1 \\", 100).text, "");
  EXPECT_EQ(text("\\bin99999999999 x\\u99999999999?"), "x");
  EXPECT_LT(text(std::string(100000, '{') + "x", 50).size(), 100u);
  EXPECT_LT(text(std::string(100000, 'x'), 50).size(), 100u);
}

TEST(code_pages_test, invalid_characters_are_replaced_individually) {
  EXPECT_EQ(from_code_page("a\x81z", 1252), "a\uFFFDz");
  EXPECT_EQ(from_code_page("\x8B\x63\xFF\x8E\x96", 932), "議\uFFFD事");
  EXPECT_EQ(from_code_page("\x94", 10007), "Ф") << "Mac OS Cyrillic";
}

TEST(code_pages_test, languages_map_to_windows_code_pages) {
  EXPECT_EQ(code_page_of_language(0x0419), 1251u);
  EXPECT_EQ(code_page_of_language(0x0411), 932u);
  EXPECT_EQ(code_page_of_language(0x0804), 936u);
  EXPECT_EQ(code_page_of_language(0x0404), 950u);
  EXPECT_EQ(code_page_of_language(0x0409), 1252u);
}

}  // namespace
