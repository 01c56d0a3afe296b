// Tests which document a compound file contains.
#include "legacy_office.hpp"

#include "binary_fixture.hpp"
#include "office_fixture.hpp"

using namespace extract;

namespace {

class legacy_office_test : public office_fixture {
 protected:
  std::string read_streams(const streams& all) {
    write_compound(path, all);
    const office_text out = read_legacy_office(path, 100000);
    return out.kind + (out.problem.empty() ? "" : "(" + out.problem + ")") + ":" + out.text;
  }
};

std::string old_document() {
  std::string out;
  put(out, 0, u16(0xA5DC) + u16(0x68));
  put(out, 0x18, u32(1024) + u32(1028));
  put(out, 0x34, u32(4));
  put(out, 5000, "x");
  put(out, 1024, "plan");
  return out;
}
// A sheet with one text.
std::string sheet(const std::string& text) {
  const std::string begin = u16(0x809) + u16(4) + u16(0x0500) + u16(0x10), end = u16(0x0A) + u16(0);
  return begin + u16(0x204) + u16(8 + text.size()) + u16(0) + u16(0) + u16(0) + u16(text.size()) + text + end +
         std::string(5000, '\0');
}
std::string presentation(const std::string& text) {
  return u16(0) + u16(0x0FA8) + u32(text.size()) + text;
}

TEST_F(legacy_office_test, the_streams_identify_the_program) {
  EXPECT_EQ(read_streams({{"WordDocument", old_document()}}), "doc:plan");
  EXPECT_EQ(read_streams({{"WORDDOCUMENT", old_document()}}), "doc:plan")
      << "some programs write the name in upper case";
  EXPECT_EQ(read_streams({{"Book", sheet("total")}}), "xls:--- Sheet: Sheet1 ---\ntotal\n");
  EXPECT_EQ(read_streams({{"Workbook", sheet("97")}, {"Book", sheet("95")}}), "xls:--- Sheet: Sheet1 ---\n97\n");
  EXPECT_EQ(read_streams({{"PowerPoint Document", presentation("slide")}, {"Current User", "x"}}), "ppt:slide\n");
}

TEST_F(legacy_office_test, a_presentation_for_two_versions_is_read_in_the_newer_format) {
  EXPECT_EQ(read_streams({{"PowerPoint Document", "of PowerPoint 95"},
                          {"PP97_DUALSTORAGE/PowerPoint Document", presentation("slide")}}),
            "ppt:slide\n");
}

TEST_F(legacy_office_test, unreadable_documents_have_a_reason) {
  EXPECT_EQ(read_streams({{"EncryptedPackage", "x"}, {"EncryptionInfo", "x"}}),
            "(it is encrypted and needs a password):");
  EXPECT_EQ(read_streams({{"EncryptedSummary", "x"}, {"PowerPoint Document", "x"}}),
            "(it is encrypted and needs a password):");
  EXPECT_EQ(read_streams({{"PP40", "x"}}),
            "(it is a presentation of PowerPoint 95 or earlier, which cannot be read; save it as pptx):");
  EXPECT_EQ(read_streams({{"__properties_version1.0", "x"}}),
            "(it is a message of Outlook (msg), which cannot be read; save it as text):");
  EXPECT_EQ(read_streams({{"Contents", "x"}}),
            "(it is a compound file (OLE) that contains no document of Word, Excel or PowerPoint):");
}

TEST_F(legacy_office_test, damaged_files_are_reported) {
  std::ofstream(path) << "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" << std::string(2000, '\0');
  EXPECT_EQ(read_legacy_office(path, 100).problem,
            "it is in the binary format of old office programs (doc, xls, ppt) and damaged");
  EXPECT_EQ(read_legacy_office("/nowhere", 100).problem,
            "it is in the binary format of old office programs (doc, xls, ppt) and damaged");
  write_compound(path, {{"WordDocument", old_document()}});
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t n = 0; n < size; n += 64) {
    std::filesystem::resize_file(path, size - n);
    const office_text out = read_legacy_office(path, 100);
    EXPECT_TRUE(out.text == "plan" || out.text.empty()) << n;
  }
}

}  // namespace
