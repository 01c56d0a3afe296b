// The result of runyard-extract for an uploaded file. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace runs {

// Maximum size of an image that is scaled; larger images are skipped.
inline constexpr std::uint64_t max_scalable_bytes = 64u << 20;

struct extraction_result {
  std::string name;
  std::uint64_t size = 0;
  std::string found;  // "text", "image", "none"
  std::string detail;  // text: its kind; image: its format; none: the reason
  std::uint32_t width = 0, height = 0;
  std::uint64_t text_bytes = 0;
  bool truncated = false;  // the text is only the beginning of the file
  std::string note;  // about the text: the original format, or why it is incomplete
};
// Parses the first line of runyard-extract's output; "none" for an invalid line.
extraction_result read_extraction_result(std::string_view first_line);
// The line about a file in the user's message; empty if there is nothing to report.
std::string prompt_line(const extraction_result& f);

}  // namespace runs
