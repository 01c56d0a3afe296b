#include "pdf.hpp"

#include <gtest/gtest.h>

using namespace extract;

namespace {

TEST(pdf_test, a_missing_text_has_a_reason) {
  EXPECT_EQ(judge_pdf(0, "words\n", "").problem, "");
  EXPECT_EQ(judge_pdf(0, "words\n", "").text, "words\n");
  EXPECT_EQ(judge_pdf(0, "\f\f", "").problem, "it has no text layer: it is probably a scan or has images only");
  EXPECT_EQ(judge_pdf(1, "", "Command Line Error: Incorrect password\n").problem,
            "it is encrypted and needs a password");
  EXPECT_EQ(judge_pdf(3, "", "Permission Error: Copying of text from this document is not allowed.\n").problem,
            "its permissions do not allow text extraction");
  EXPECT_EQ(judge_pdf(1, "", "Syntax Error: Couldn't find trailer dictionary\n").problem, "it is damaged");
  EXPECT_TRUE(judge_pdf(1, "", "Syntax Error: Couldn't find trailer dictionary\n").damaged);
  EXPECT_FALSE(judge_pdf(1, "", "Command Line Error: Incorrect password\n").damaged);
  EXPECT_EQ(judge_pdf(127, "", "").problem, "pdftotext is not installed");
  EXPECT_EQ(judge_pdf(-1, "", "").problem, "it is damaged") << "terminated by a signal";
  EXPECT_EQ(judge_pdf(-1, "words", "").text, "words") << "terminated because the text exceeds the maximum";
}

TEST(pdf_test, a_missing_character_map_is_reported) {
  const char* says = "Syntax Error: Missing language pack for 'Adobe-Japan1' mapping\n";
  const pdf_text nothing = judge_pdf(0, "\f", says);
  EXPECT_NE(nothing.problem.find("poppler-data"), nothing.problem.npos);
  const pdf_text some = judge_pdf(0, "Latin only\f", says);
  EXPECT_EQ(some.problem, "");
  EXPECT_EQ(some.text, "Latin only\f");
  EXPECT_NE(some.missing.find("poppler-data"), some.missing.npos);
}

}  // namespace
