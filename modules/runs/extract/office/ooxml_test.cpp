// Documents of Word, Excel and PowerPoint as various programs write them.
#include "office_fixture.hpp"
#include "package.hpp"

using namespace extract;

namespace {

class ooxml_test : public office_fixture {
 protected:
  void pack_word(const std::string& body, parts more = {}) {
    more.insert(more.begin(),
                {{"_rels/.rels", relationships({{"r1", "officeDocument", "word/document.xml"}})},
                 {"word/document.xml", "<w:document xmlns:w=\"w\" xmlns:mc=\"mc\" xmlns:r=\"r\"><w:body>" + body +
                                           "</w:body></w:document>"}});
    pack(more);
  }
  // A workbook with one sheet, whose relationships name styles and strings.
  void pack_sheet(const std::string& rows, const std::string& strings = "<sst/>",
                  const std::string& styles = "<styleSheet/>", const std::string& properties = "") {
    pack({{"_rels/.rels", relationships({{"r1", "officeDocument", "xl/workbook.xml"}})},
          {"xl/workbook.xml", "<workbook xmlns:r=\"r\">" + properties +
                                  "<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"},
          {"xl/_rels/workbook.xml.rels", relationships({{"r1", "worksheet", "worksheets/sheet1.xml"},
                                                        {"r2", "sharedStrings", "strings7.xml"},
                                                        {"r3", "styles", "/xl/styles.xml"}})},
          {"xl/Strings7.xml", strings},
          {"xl/styles.xml", styles},
          {"xl/worksheets/sheet1.xml", "<worksheet><sheetData>" + rows + "</sheetData></worksheet>"}});
  }
  std::string rows() {
    const std::string text = read().text;
    EXPECT_TRUE(text.starts_with("--- Sheet: S ---\n")) << text;
    return text.substr(std::min<std::size_t>(text.size(), 17));
  }
};

std::string p(const std::string& text) {
  return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>";
}

TEST_F(ooxml_test, part_names_are_normalized) {
  EXPECT_EQ(normal_part_name("\\Word\\Document.xml"), "word/document.xml");
  EXPECT_EQ(resolve_part("word/document.xml", "../xl/a%20b.xml#frag"), "xl/a b.xml");
  EXPECT_EQ(resolve_part("word/document.xml", "/Media/./x.xml"), "media/x.xml");
  EXPECT_EQ(resolve_part("", "word/document.xml"), "word/document.xml");
  EXPECT_EQ(resolve_part("a/b.xml", "../../../etc"), "etc");
  EXPECT_EQ(normal_part_name("100%"), "100%");
}

TEST_F(ooxml_test, the_main_part_is_found_by_relationship_or_content_type) {
  const std::string document = "<w:document xmlns:w=\"w\"><w:body>" + p("Quarterly plan") + "</w:body></w:document>";
  for (const auto& [target, member] : {std::pair{"word/document2.xml", "word/document2.xml"},
                                       {"/word/document.xml", "word/document.xml"},
                                       {"content/main.xml", "content/main.xml"},
                                       {"word/document.xml", "Word/Document.XML"},
                                       {"word/document.xml", "word\\document.xml"},
                                       {"./word/my%20text.xml", "word/my text.xml"}}) {
    pack({{"_rels/.rels",
           relationships({{"r0", "metadata/thumbnail", "docProps/thumbnail.jpeg"}, {"r1", "officeDocument", target}})},
          {member, document}});
    EXPECT_EQ(read().text, "Quarterly plan\n") << member;
    EXPECT_EQ(read().kind, "docx") << member;
  }
  // Strict documents use other namespaces and relationship types.
  pack(
      {{"_rels/.rels",
        R"(<Relationships><Relationship Id="r1" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="d.xml"/></Relationships>)"},
       {"d.xml", document}});
  EXPECT_EQ(read().text, "Quarterly plan\n");
  // Without a relationship to it, by its content type.
  pack(
      {{"[Content_Types].xml",
        R"(<Types><Override PartName="/x/y.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>)"},
       {"x/y.xml", document}});
  EXPECT_EQ(read().text, "Quarterly plan\n");
  pack({{"_rels/.rels", relationships({{"r1", "officeDocument", "xl/workbook.bin"}})}, {"xl/workbook.bin", "x"}});
  EXPECT_EQ(read().kind, "");
  EXPECT_NE(read().problem.find("binary workbook"), std::string::npos);
}

TEST_F(ooxml_test, declared_encodings_of_parts_are_supported) {
  pack({{"word/document.xml", "<?xml version=\"1.0\" encoding=\"windows-1251\"?><w:document xmlns:w=\"w\">" +
                                  p("\xC4\xE0") + "</w:document>"}});
  EXPECT_EQ(read().text, "Да\n");
}

TEST_F(ooxml_test, repeated_content_is_read_once) {
  const std::string box = "<w:txbxContent>" + p("boxed") + "</w:txbxContent>";
  pack_word(
      "<w:p><w:r><w:t>before </w:t><mc:AlternateContent><mc:Choice>" + box + "</mc:Choice><mc:Fallback>" + box +
      "</mc:Fallback></mc:AlternateContent><w:t>after</w:t></w:r></w:p>"
      "<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>"
      "<w:p><w:ruby><w:rt><w:r><w:t>kana</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>kanji</w:t></w:r></w:rubyBase></w:ruby></w:p>");
  EXPECT_EQ(read().text, "before after\nboxed\nmoved\nkanji\n");
  // If the first alternative has no text, the other one is used.
  pack_word(
      "<w:p><w:r><mc:AlternateContent><mc:Choice><x/></mc:Choice><mc:Fallback><w:t>only here</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>");
  EXPECT_EQ(read().text, "only here\n");
  const std::string header = "<w:hdr xmlns:w=\"w\">" + p("Confidential") + "</w:hdr>";
  pack_word(p("text"),
            {{"word/_rels/document.xml.rels",
              relationships({{"h1", "header", "top.xml"}, {"h2", "header", "top2.xml"}, {"f1", "footer", "end.xml"}})},
             {"word/top.xml", header},
             {"word/top2.xml", header},
             {"word/end.xml", "<w:ftr xmlns:w=\"w\">" + p("page") + "</w:ftr>"}});
  EXPECT_EQ(read().text, "Confidential\ntext\npage\n");
}

TEST_F(ooxml_test, notes_are_numbered_and_merged_cells_keep_their_columns) {
  pack_word(
      "<w:p><w:r><w:t>claim</w:t><w:footnoteReference w:id=\"7\"/><w:t xml:space=\"preserve\"> and</w:t><w:endnoteReference w:id=\"2\"/></w:r></w:p>"
      "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr>" +
          p("wide") + "</w:tc><w:tc>" + p("c") +
          "</w:tc></w:tr>"
          "<w:tr><w:tc>" +
          p("a") + "</w:tc><w:tc>" + p("b") + "</w:tc><w:tc>" + p("c") + "</w:tc></w:tr></w:tbl>",
      {{"word/footnotes.xml",
        "<w:footnotes xmlns:w=\"w\"><w:footnote w:id=\"7\">" + p("source") + "</w:footnote></w:footnotes>"},
       {"word/endnotes.xml",
        "<w:endnotes xmlns:w=\"w\"><w:endnote w:id=\"2\">" + p("end") + "</w:endnote></w:endnotes>"}});
  EXPECT_EQ(read().text, "claim[1] and[endnote 1]\nwide\t\tc\na\tb\tc\n[1] source\n[endnote 1] end\n");
}

TEST_F(ooxml_test, cells_are_formatted_by_their_number_format) {
  const std::string styles =
      "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\"/></numFmts><cellStyleXfs><xf numFmtId=\"9\"/></cellStyleXfs>"
      "<cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"9\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>";
  const std::string row =
      R"(<row r="1"><c r="A1" s="1"><v>46024</v></c><c r="B1" s="2"><v>0.25</v></c><c r="C1" s="3"><v>46024</v></c><c r="D1"><v>46024</v></c><c r="E1" t="d"><v>2026-01-02T00:00:00</v></c></row>)";
  pack_sheet(row, "<sst/>", styles);
  EXPECT_EQ(rows(), "2026-01-02\t25%\t2026-01-02\t46024\t2026-01-02\n");
  pack_sheet(R"(<row r="1"><c r="A1" s="1"><v>44562</v></c></row>)", "<sst/>", styles, "<workbookPr date1904=\"1\"/>");
  EXPECT_EQ(rows(), "2026-01-02\n");
}

TEST_F(ooxml_test, formulas_texts_and_merged_cells_are_shown) {
  pack_sheet(
      R"(<row r="1"><c r="A1"><f>B1+1</f></c><c r="B1"><f>_xlfn.CONCAT(C1)</f><v></v></c><c r="C1"><f>A1*3</f><v>6</v></c><c r="D1" t="str"><f>""</f><v></v></c><c r="E1"><f t="shared" si="0"/></c></row>)"
      R"(<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="inlineStr"><is><r><t>in</t></r><r><t> line</t></r><rPh><t>kana</t></rPh></is></c><c r="D2" t="e"><v>#DIV/0!</v></c><c r="E2" t="b"><v>0</v></c></row>)"
      R"(<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3"/><c r="C3"/><c r="D3"><v>9</v></c></row>)",
      "<sst><si><t xml:space=\"preserve\">first_x000D_\nsecond</t></si><si><r><t>rich</t></r><r><t> text</t></r></si><si><t>over _x005F_x000D_ three columns</t></si></sst>");
  EXPECT_EQ(
      rows(),
      "=B1+1\t=CONCAT(C1)\t6\t\t(formula without a value)\nfirst  second\trich text\tin line\t#DIV/0!\tFALSE\nover _x000D_ three columns\t\t\t9\n");
}

TEST_F(ooxml_test, comments_drawings_and_charts_follow_their_sheet) {
  pack(
      {{"xl/workbook.xml",
        "<workbook xmlns:r=\"r\"><sheets><sheet name=\"A\" sheetId=\"1\" state=\"hidden\" r:id=\"r1\"/></sheets></workbook>"},
       {"xl/_rels/workbook.xml.rels", relationships({{"r1", "worksheet", "worksheets/sheet1.xml"}})},
       {"xl/worksheets/sheet1.xml", "<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>"},
       {"xl/worksheets/_rels/sheet1.xml.rels",
        relationships({{"r1", "comments", "../comments1.xml"}, {"r2", "drawing", "../drawings/drawing1.xml"}})},
       {"xl/comments1.xml",
        "<comments><commentList><comment ref=\"B2\"><text><r><t>check</t></r><r><t> this</t></r></text></comment></commentList></comments>"},
       {"xl/drawings/drawing1.xml", "<d><a:p xmlns:a=\"a\"><a:r><a:t>in a box</a:t></a:r></a:p></d>"},
       {"xl/drawings/_rels/drawing1.xml.rels", relationships({{"r1", "chart", "../charts/chart1.xml"}})},
       {"xl/charts/chart1.xml",
        "<c:chart xmlns:c=\"c\" xmlns:a=\"a\"><a:p><a:r><a:t>Growth</a:t></a:r></a:p><c:ser><c:tx><c:strRef><c:strCache><c:pt><c:v>Sales</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        "<c:cat><c:strRef><c:strCache><c:pt><c:v>Q1</c:v></c:pt><c:pt><c:v>Q2</c:v></c:pt></c:strCache></c:strRef></c:cat>"
        "<c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt><c:v>0.042999999999999997</c:v></c:pt><c:pt><c:v>0.05</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart>"}});
  EXPECT_EQ(read().text, "--- Sheet: A (hidden) ---\n1\nB2: check this\nin a box\nGrowth\n\tQ1\tQ2\nSales\t4.3%\t5%\n");
}

TEST_F(ooxml_test, slides_are_in_presentation_order_with_their_notes) {
  const auto slide = [](const std::string& text, const std::string& with = "") {
    return "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"" + with + "><a:p><a:r><a:t>" + text + "</a:t></a:r></a:p></p:sld>";
  };
  pack(
      {{"_rels/.rels", relationships({{"r1", "officeDocument", "ppt/presentation.xml"}})},
       {"ppt/presentation.xml",
        R"(<p:presentation xmlns:p="p" xmlns:rel="r"><p:sldIdLst><p:sldId id="256" rel:id="r2"/><p:sldId rel:id="r1" id="257"/></p:sldIdLst></p:presentation>)"},
       {"ppt/_rels/presentation.xml.rels",
        relationships({{"r1", "slide", "slides/slide1.xml"}, {"r2", "slide", "slides/slide2.xml"}})},
       {"ppt/slides/slide1.xml", slide("shown second", " show=\"0\"")},
       {"ppt/slides/slide2.xml", slide("shown first")},
       {"ppt/slides/slide3.xml", slide("left over")},
       {"ppt/slides/_rels/slide1.xml.rels", relationships({{"r1", "notesSlide", "../notesSlides/notesSlide2.xml"}})},
       {"ppt/notesSlides/notesSlide1.xml", slide("notes of nothing")},
       {"ppt/notesSlides/notesSlide2.xml", slide("say this")}});
  EXPECT_EQ(read().text, "--- Slide 1 ---\nshown first\n--- Slide 2 (hidden) ---\nshown second\nNotes:\nsay this\n");
}

TEST_F(ooxml_test, content_in_another_format_is_read) {
  const auto with = [&](const std::string& name, const std::string& content) {
    pack_word(p("before") + "<w:altChunk r:id=\"r1\"/>",
              {{"word/_rels/document.xml.rels", relationships({{"r1", "aFChunk", "/word/" + name}})},
               {"word/" + name, content}});
    return read().text;
  };
  EXPECT_EQ(with("afchunk.html", "<p>caf\u00E9</p>"), "before\n<p>caf\u00E9</p>\n");
  EXPECT_EQ(with("afchunk.rtf", "{\\rtf1 {\\b plan}}"), "before\nplan\n");
  EXPECT_EQ(
      with(
          "afchunk.mht",
          "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p class=3D\"a\">a long li=\nne caf=C3=A9 =X</p>"),
      "before\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p class=\"a\">a long line caf\u00E9 =X</p>\n");
  EXPECT_EQ(with("afchunk.docx", "PK\x03\x04"), "before\n");
}

TEST_F(ooxml_test, comments_on_slides_have_their_authors) {
  const auto with_comments = [&](const std::string& comments, const std::string& authors_type,
                                 const std::string& authors) {
    pack(
        {{"_rels/.rels", relationships({{"r1", "officeDocument", "ppt/presentation.xml"}})},
         {"ppt/presentation.xml",
          R"(<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>)"},
         {"ppt/_rels/presentation.xml.rels",
          relationships({{"r1", "slide", "slides/slide1.xml"}, {"r2", authors_type, "people.xml"}})},
         {"ppt/slides/slide1.xml", "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><a:p><a:r><a:t>Plan</a:t></a:r></a:p></p:sld>"},
         {"ppt/slides/_rels/slide1.xml.rels", relationships({{"r1", "comments", "../comments/comment1.xml"}})},
         {"ppt/comments/comment1.xml", comments},
         {"ppt/people.xml", authors}});
    return read().text;
  };
  EXPECT_EQ(
      with_comments(
          R"(<p:cmLst xmlns:p="p"><p:cm authorId="1" idx="1"><p:pos x="1" y="2"/><p:text>too
long</p:text></p:cm><p:cm authorId="7" idx="1"><p:text>who?</p:text></p:cm><p:cm authorId="0"><p:text/></p:cm></p:cmLst>)",
          "commentAuthors",
          R"(<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Bo"/><p:cmAuthor id="1" name="Ann Lee" initials="AL"/></p:cmAuthorLst>)"),
      "--- Slide 1 ---\nPlan\nComments:\nAnn Lee: too long\nwho?\n");
  EXPECT_EQ(
      with_comments(
          R"(<p188:cmLst xmlns:p188="p188" xmlns:a="a"><p188:cm id="{1}" authorId="{A}"><p188:replyLst><p188:reply id="{2}" authorId="{B}"><p188:txBody><a:p><a:r><a:t>done</a:t></a:r></a:p></p188:txBody></p188:reply></p188:replyLst>)"
          R"(<p188:txBody><a:p><a:r><a:t>shorten </a:t></a:r><a:r><a:t>this</a:t></a:r></a:p><a:p><a:r><a:t>please</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>)",
          "authors",
          R"(<p188:authorLst xmlns:p188="p188"><p188:author id="{A}" name="Ann"/><p188:author id="{B}" name="Bo"/></p188:authorLst>)"),
      "--- Slide 1 ---\nPlan\nComments:\nAnn: shorten this please\nBo: done\n");
}

TEST_F(ooxml_test, a_damaged_part_does_not_hide_the_others) {
  pack_sheet("<row><c><v>1</v></c></row>", "<sst><si>");
  EXPECT_EQ(rows(), "1\n");
  EXPECT_EQ(read().problem, "a part of it is damaged");
}

TEST_F(ooxml_test, sheets_are_found_without_relationships) {
  pack(
      {{"_rels/.rels", relationships({{"r1", "officeDocument", "xl/workbook.xml"}})},
       {"xl/workbook.xml",
        "<workbook xmlns:r=\"r\"><sheets><sheet name=\"A\" r:id=\"r1\"/><sheet name=\"B\" r:id=\"r2\"/></sheets></workbook>"},
       {"xl/_rels/workbook.xml.rels", "<Relationships"},
       {"xl/worksheets/sheet1.xml", "<worksheet><sheetData><row><c t=\"s\"><v>0</v></c></row></sheetData></worksheet>"},
       {"xl/worksheets/sheet2.xml", "<worksheet><sheetData><row><c><v>2</v></c></row></sheetData></worksheet>"},
       {"xl/sharedStrings.xml", "<sst><sstItem><t>one</t></sstItem></sst>"}});
  EXPECT_EQ(read().text, "--- Sheet: A ---\none\n--- Sheet: B ---\n2\n");
}

TEST_F(ooxml_test, hostile_workbooks_and_relationships_are_bounded) {
  std::string cells;
  for (int i = 0; i < 200; ++i) cells += R"(<row><c r="XFD1" t="s"><v>0</v></c></row>)";
  pack_sheet(cells, "<sst><si><t>" + std::string(5000, 'x') + "</t></si></sst>");
  EXPECT_LE(read(20000).text.size(), 30000u);
  // Relationships that refer to their own part and to missing parts.
  pack({{"_rels/.rels", relationships({{"r1", "officeDocument", "word/document.xml"}})},
        {"word/_rels/document.xml.rels",
         relationships({{"r1", "header", "document.xml"}, {"r2", "footnotes", "none.xml"}})},
        {"word/document.xml", "<w:document xmlns:w=\"w\">" + p("once") + "</w:document>"}});
  EXPECT_EQ(read().text, "once\n");
}

}  // namespace
