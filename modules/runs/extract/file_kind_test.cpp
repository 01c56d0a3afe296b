#include "file_kind.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace extract;
using namespace std::string_literals;

namespace {

file_kind kind(const std::string& file) {
  return kind_of(file, file.substr(file.size() - std::min<std::size_t>(file.size(), 4096)));
}
const std::string document = "%PDF-1.4\n1 0 obj\n<<>>\nendobj\nstartxref\n9\n%%EOF\n";

TEST(file_kind_test, pdf_files_are_recognized) {
  EXPECT_EQ(kind(document), file_kind::pdf);
  EXPECT_EQ(kind("\xEF\xBB\xBF\r\n" + document), file_kind::pdf);
  EXPECT_EQ(kind(document + std::string(600, '\0')), file_kind::pdf);
  EXPECT_EQ(kind("%PDF-1.7 cut"), file_kind::pdf) << "damaged PDF";
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n" + document), file_kind::pdf);
  EXPECT_EQ(kind("junk\n%PDF-1.5\n%\xE2\xE3\xCF\xD3\n cut off"), file_kind::pdf);
}

TEST(file_kind_test, a_text_about_pdf_files_is_not_a_pdf) {
  EXPECT_EQ(kind("#!/bin/sh\n# finds files that begin with %PDF-1.4\ngrep -l \"^%PDF-\" \"$@\"\n"), file_kind::other);
  EXPECT_EQ(kind("# How PDF files begin\n\nThe first line is `%PDF-1.7`.\n"), file_kind::other);
  EXPECT_EQ(kind("# Example\n\n```\n" + document + "```\n"), file_kind::other);
  EXPECT_EQ(kind("#!/bin/sh\ncat > a.pdf <<END\n" + document), file_kind::other);
  EXPECT_EQ(kind("It says\n%PDF-next\n"), file_kind::other);
}

TEST(file_kind_test, pdf_objects_are_found) {
  EXPECT_TRUE(has_pdf_objects(document));
  EXPECT_TRUE(has_pdf_objects("%PDF-1.7\n12 0 obj"));
  EXPECT_FALSE(has_pdf_objects("%PDF-1.7 is how PDF files begin; an obj follows, 0 obj at first."));
  EXPECT_FALSE(has_pdf_objects(" obj"));
}

TEST(file_kind_test, archives_are_recognized_by_their_first_bytes) {
  EXPECT_EQ(kind("PK\x03\x04\x14\0\n%PDF-1.4\n\xFF%%EOF"s), file_kind::zip);
  EXPECT_EQ(kind("PK\x05\x06"), file_kind::zip);
  EXPECT_EQ(kind("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\n%PDF-1.4\n%%EOF"s), file_kind::compound_file);
  EXPECT_EQ(kind(""), file_kind::other);
}

TEST(file_kind_test, an_encrypted_package_is_recognized_by_its_directory_entry) {
  const auto entry = [](std::string_view name) {
    std::string out;
    for (char c : name) out += std::string{c, '\0'};
    out.resize(128);
    return out;
  };
  EXPECT_TRUE(names_encrypted_package(entry("Root Entry") + entry("EncryptedPackage")));
  EXPECT_TRUE(names_encrypted_package(entry("EncryptionInfo")));
  EXPECT_FALSE(names_encrypted_package(entry("Root Entry") + entry("WordDocument")));
  EXPECT_FALSE(names_encrypted_package("x" + entry("EncryptedPackage"))) << "not at a directory entry";
  EXPECT_FALSE(names_encrypted_package(""));
}

}  // namespace
