#include "types/extraction_result.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

std::string line_of(std::string_view output, std::uint64_t size = 100) {
  extraction_result f = read_extraction_result(output);
  f.name = "a.x";
  f.size = size;
  f.text_bytes = 2048;
  return prompt_line(f);
}

TEST(extraction_result_test, the_prompt_describes_each_file) {
  EXPECT_EQ(line_of("text pdf"), "[Text of a.x (2.0 KB) -> uploads/.text/a.x.txt]");
  EXPECT_EQ(line_of("text docx cut"), "[Text of a.x, its beginning (2.0 KB) -> uploads/.text/a.x.txt]");
  EXPECT_EQ(line_of("text plain"), "");
  EXPECT_EQ(line_of("text plain converted from CP932"),
            "[Text of a.x, converted from CP932 (2.0 KB) -> uploads/.text/a.x.txt]");
  EXPECT_EQ(line_of("text pdf cut incomplete: a package is missing"),
            "[Text of a.x, incomplete: a package is missing, its beginning (2.0 KB) -> uploads/.text/a.x.txt]");
  EXPECT_EQ(line_of("text plain cut"), "");
  EXPECT_EQ(read_extraction_result("text plain " + std::string(5000, 'x')).note.size(), 200u);
  EXPECT_EQ(line_of("image png 640 480"), "[Image a.x: PNG, 640 x 480 pixels]");
  EXPECT_EQ(line_of("image jpeg 1 2", 6u << 20), "[Image a.x: JPEG, 1 x 2 pixels]");
  EXPECT_EQ(line_of("image jpeg 1 2", 65u << 20), "[Image a.x: JPEG, 1 x 2 pixels, too large to be shown]");
  EXPECT_EQ(line_of("none it is damaged"), "[No text of a.x: it is damaged]");
}

TEST(extraction_result_test, malformed_output_is_rejected) {
  for (const char* output : {"", "textual", "\x01\x02", "TEXT plain"}) {
    const extraction_result f = read_extraction_result(output);
    EXPECT_EQ(f.found, "none");
    EXPECT_EQ(f.detail, "reading it failed");
  }
  EXPECT_EQ(read_extraction_result("image png 99999999999 x").height, 0u);
}

}  // namespace
