#include "office_fixture.hpp"

using namespace extract;

namespace {

class open_document_test : public office_fixture {
 protected:
  void pack_body(const std::string& kind, const std::string& body, parts more = {}) {
    more.insert(
        more.begin(),
        {{"mimetype", "application/vnd.oasis.opendocument." + kind},
         {"content.xml",
          "<o:document-content xmlns:o=\"o\" xmlns:t=\"t\" xmlns:b=\"b\" xmlns:d=\"d\" xmlns:dc=\"dc\"><o:body>" +
              body + "</o:body></o:document-content>"}});
    pack(more);
  }
};

std::string cell(const std::string& text, int repeated = 1) {
  return "<b:table-cell b:number-columns-repeated=\"" + std::to_string(repeated) + "\">" +
         (text.empty() ? "" : "<t:p>" + text + "</t:p>") + "</b:table-cell>";
}
std::string row(const std::string& cells, int repeated = 1) {
  return "<b:table-row b:number-rows-repeated=\"" + std::to_string(repeated) + "\">" + cells + "</b:table-row>";
}

TEST_F(open_document_test, repeated_cells_and_rows_are_expanded) {
  pack_body("spreadsheet", "<b:table b:name=\"T\">" + row(cell("", 9), 4) +
                               row(cell("Q1") + cell("Q2") + cell("Q3") + cell("Q4")) + row(cell("0", 3) + cell("5")) +
                               row(cell("a") + cell("b"), 3) + row(cell("", 16384), 7) + row(cell("", 2) + cell("c")) +
                               row(cell("", 1000), 1000000) + "</b:table>");
  EXPECT_EQ(read().text, "--- Table: T ---\nQ1\tQ2\tQ3\tQ4\n0\t0\t0\t5\na\tb\na\tb\na\tb\n\n\t\tc\n");
}

TEST_F(open_document_test, repetitions_are_bounded) {
  pack_body("spreadsheet", "<b:table b:name=\"T\">" + row(cell("x", 2000000000), 2000000000) + "</b:table>");
  EXPECT_LE(read(5000).text.size(), 10000u);
  pack_body("spreadsheet", "<b:table b:name=\"T\">" + row(cell("x"), 1048576) + "</b:table>");
  const std::string text = read(10u << 20).text;
  EXPECT_LE(text.size(), 100000u);
  EXPECT_TRUE(text.ends_with("[1038576 more rows are the same]\n"));
}

TEST_F(open_document_test, cells_without_text_show_their_value) {
  const auto valued = [](const std::string& with) { return "<b:table-cell " + with + "/>"; };
  pack_body("spreadsheet",
            "<b:table b:name=\"T\">" +
                row(valued(R"(o:value-type="float" o:value="0.55000000000000004")") +
                    valued(R"(o:value-type="percentage" o:value="0.25")") +
                    valued(R"(o:value-type="date" o:date-value="2026-01-02T00:00:00")") +
                    valued(R"(o:value-type="string" o:string-value="words")") + valued(R"(b:formula="of:=[.A1]+1")")) +
                row("<b:table-cell o:value-type=\"date\" o:date-value=\"1975-05-07\"><t:p>7/5/75</t:p></b:table-cell>" +
                    cell("shown")) +
                "</b:table>");
  EXPECT_EQ(read().text, "--- Table: T ---\n0.55\t25%\t2026-01-02\twords\t=[.A1]+1\n1975-05-07\tshown\n");
}

TEST_F(open_document_test, merged_cells_keep_their_columns) {
  pack_body(
      "spreadsheet",
      "<b:table b:name=\"T\">" +
          row("<b:table-cell b:number-columns-spanned=\"3\"><t:p>wide</t:p></b:table-cell><b:covered-table-cell b:number-columns-repeated=\"2\"/>" +
              cell("next")) +
          "</b:table>");
  EXPECT_EQ(read().text, "--- Table: T ---\nwide\t\t\tnext\n");
}

TEST_F(open_document_test, notes_comments_and_text_boxes_follow_their_paragraph) {
  pack_body(
      "text",
      "<t:p>claim<t:note><t:note-citation>*</t:note-citation><t:note-body><t:p>source</t:p></t:note-body></t:note> stands"
      "<o:annotation><dc:creator>Ann</dc:creator><dc:date>2026-01-01T00:00:00</dc:date><t:p>really?</t:p></o:annotation>"
      "<d:frame><d:text-box><t:p>boxed</t:p></d:text-box><d:desc>a chair</d:desc></d:frame>.</t:p><t:p>next</t:p>");
  EXPECT_EQ(read().text, "claim[1] stands.\n[1] source\nAnn: really?\nboxed\na chair\nnext\n");
}

TEST_F(open_document_test, headers_and_embedded_objects_are_read) {
  pack_body(
      "text", "<t:p>body</t:p>",
      {{"Object 1/content.xml", "<o:c xmlns:o=\"o\" xmlns:t=\"t\"><t:p>axis</t:p></o:c>"},
       {"styles.xml",
        "<o:s xmlns:o=\"o\" xmlns:s=\"s\" xmlns:t=\"t\"><t:p>sample</t:p><s:header><t:p>Confidential</t:p></s:header><s:footer><t:p>page</t:p></s:footer></o:s>"}});
  EXPECT_EQ(read().text, "body\naxis\nConfidential\npage\n");
  pack_body("spreadsheet", "", {{"styles.xml", "<s xmlns:t=\"t\"><header><t:p>Page 1/99</t:p></header></s>"}});
  EXPECT_EQ(read().text, "");
}

TEST_F(open_document_test, encrypted_documents_are_reported) {
  const std::string manifest =
      R"(<!DOCTYPE m PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd"><m:manifest xmlns:m="m"><m:file-entry m:full-path="%"><m:encryption-data/></m:file-entry></m:manifest>)";
  const auto of = [&](const std::string& part) {
    std::string out = manifest;
    return out.replace(out.find('%'), 1, part);
  };
  pack({{"mimetype", "application/vnd.oasis.opendocument.text"},
        {"content.xml", "\x8F\x02\xFF"},
        {"META-INF/manifest.xml", of("content.xml")}});
  EXPECT_EQ(read().kind, "opendocument");
  EXPECT_EQ(read().problem, "it is encrypted");
  pack({{"mimetype", "application/vnd.oasis.opendocument.text"},
        {"encrypted-package", "\x8F\x02\xFF"},
        {"META-INF/manifest.xml", of("encrypted-package")}});
  EXPECT_EQ(read().problem, "it is encrypted");
  pack_body("text", "<t:p>open</t:p>", {{"META-INF/manifest.xml", of("Thumbnails/thumbnail.png")}});
  EXPECT_EQ(read().problem, "");
  EXPECT_EQ(read().text, "open\n");
}

}  // namespace
