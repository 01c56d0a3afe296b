#include "office_fixture.hpp"

using namespace extract;

namespace {

class office_test : public office_fixture {};

TEST_F(office_test, docx) {
  pack(
      {{"[Content_Types].xml", "<Types/>"},
       {"word/document.xml",
        R"(<?xml version="1.0"?><w:document xmlns:w="x"><w:body><w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>One</w:t><w:tab/><w:t xml:space="preserve"> two &amp; three</w:t></w:r></w:p>)"
        R"(<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>)"
        R"(<w:p><w:r><w:delText>gone</w:delText><w:br/><w:t>end</w:t></w:r></w:p></w:body></w:document>)"},
       {"word/footnotes.xml", R"(<w:footnotes xmlns:w="x"><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnotes>)"}});
  const office_text t = read();
  EXPECT_EQ(t.kind, "docx");
  EXPECT_EQ(t.text, "One\t two & three\na\tb\n\nend\nnote\n");
  EXPECT_EQ(t.problem, "");
}

TEST_F(office_test, xlsx) {
  pack(
      {{"xl/workbook.xml",
        R"(<workbook xmlns:r="r"><sheets><sheet name="Sales" sheetId="1" r:id="rId1"/></sheets></workbook>)"},
       {"xl/_rels/workbook.xml.rels",
        R"(<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>)"},
       {"xl/sharedStrings.xml", R"(<sst><si><t>name</t></si><si><r><t>rich</t></r><r><t> text</t></r></si></sst>)"},
       {"xl/worksheets/sheet1.xml",
        R"(<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>)"
        R"(<row r="2"><c r="A2"><v>1.5</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="inlineStr"><is><t>in line</t></is></c><c r="D2" t="s"><v>99</v></c></row><row><c><v>7</v></c><c><v>8</v></c></row></sheetData></worksheet>)"}});
  const office_text t = read();
  EXPECT_EQ(t.kind, "xlsx");
  EXPECT_EQ(t.text, "--- Sheet: Sales ---\nname\t\trich text\n1.5\tTRUE\tin line\n7\t8\n");
}

TEST_F(office_test, pptx_slides_are_ordered_by_number) {
  const auto slide = [](const std::string& text) {
    return "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><a:p><a:r><a:t>" + text + "</a:t></a:r></a:p></p:sld>";
  };
  pack({{"ppt/slides/slide10.xml", slide("ten")},
        {"ppt/slides/slide2.xml", slide("two")},
        {"ppt/notesSlides/notesSlide2.xml", slide("say this")}});
  const office_text t = read();
  EXPECT_EQ(t.kind, "pptx");
  EXPECT_EQ(t.text, "--- Slide 1 ---\ntwo\nNotes:\nsay this\n--- Slide 2 ---\nten\n");
}

TEST_F(office_test, open_document) {
  pack(
      {{"mimetype", "application/vnd.oasis.opendocument.text"},
       {"content.xml",
        R"(<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><text:tracked-changes><text:p>old</text:p></text:tracked-changes>)"
        R"(<text:h>Title</text:h><text:p>a<text:s text:c="3"/>b<text:tab/>c</text:p><table:table table:name="T"><table:table-row>)"
        R"(<table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"/><table:table-cell><text:p>2</text:p></table:table-cell>)"
        R"(<table:table-cell table:number-columns-repeated="16000"/></table:table-row></table:table></office:body></office:document-content>)"}});
  const office_text t = read();
  EXPECT_EQ(t.kind, "opendocument");
  EXPECT_EQ(t.text, "Title\na   b\tc\n--- Table: T ---\n1\t\t\t2\n");
}

TEST_F(office_test, hostile_documents_are_bounded) {
  pack({{"word/document.xml",
         "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><w:p><w:t>&b;</w:t></w:p>"}});
  EXPECT_EQ(read().text, "");
  EXPECT_EQ(read().problem, "a part of it is damaged");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  pack({{"word/document.xml", deep}});
  EXPECT_EQ(read().problem, "a part of it is damaged");
  // 70 MiB of spaces compress to a few kilobytes.
  pack({{"word/document.xml", "<w:p><w:t>" + std::string(70u << 20, ' ') + "</w:t></w:p>"}});
  EXPECT_LT(std::filesystem::file_size(path), 1u << 20);
  EXPECT_EQ(read().problem, "it grows too large when it is unpacked");
  EXPECT_EQ(read().text, "");
  pack({{"word/document.xml", "<w:p><w:t>" + std::string(1000000, 'x') + "</w:t></w:p>"}});
  EXPECT_LE(read(5000).text.size(), 1000100u);
  pack({{"../../../etc/cron.d/x", "bad"}, {"a.txt", "no document"}});
  EXPECT_EQ(read().kind, "");
}

TEST_F(office_test, slides_without_numbers_are_ordered_by_name) {
  parts slides;
  for (const char* name : {"b", "d", "a", "c", "f", "e"})
    slides.emplace_back("ppt/slides/slide" + std::string(name) + ".xml",
                        "<s><r><t>" + std::string(name) + "</t></r></s>");
  pack(slides);
  std::string expected;
  for (const char c : std::string("abcdef"))
    expected += "--- Slide " + std::to_string(c - 'a' + 1) + " ---\n" + std::string(1, c);
  EXPECT_EQ(read().text, expected);
}

TEST_F(office_test, reading_stops_at_the_maximum_length) {
  std::string sheets = "<w>";
  for (int i = 0; i < 1000; ++i) sheets += R"(<sheet name="S" id="1"/>)";
  pack({{"xl/workbook.xml", sheets + "</w>"},
        {"xl/_rels/workbook.xml.rels", R"(<R><Relationship Id="1" Target="worksheets/s.xml"/></R>)"},
        {"xl/worksheets/s.xml", R"(<w><row><c t="str"><v>value</v></c></row></w>)"}});
  EXPECT_LE(read(100).text.size(), 140u);
  parts slides;
  for (int i = 0; i < 100; ++i)
    slides.emplace_back("ppt/slides/slide" + std::to_string(i) + ".xml", "<s><p><r><t>text</t></r></p></s>");
  pack(slides);
  EXPECT_LE(read(100).text.size(), 140u);
}

TEST_F(office_test, truncated_and_corrupted_archives_are_handled) {
  pack({{"word/document.xml", "<w:document><w:p><w:t>some text</w:t></w:p></w:document>"}});
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t n = 0; n < whole.size(); n += 3) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, n);
    (void)read();
    std::string other = whole;
    other[n] = static_cast<char>(~other[n]);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << other;
    (void)read();
  }
}

}  // namespace
