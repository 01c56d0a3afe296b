// What looking at an uploaded file gave. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace runs {

// What one file turned out to be.
struct upload_finding {
  std::string name;
  std::uint64_t size = 0;
  std::string found;        // "text", "image", "none"
  std::string detail;       // of text: its kind; of an image: its format; of none: why
  std::uint32_t width = 0, height = 0;
  std::uint64_t text_bytes = 0;
  bool cut = false;         // the text is only the file's beginning
  std::string note;         // about the text: what it was converted from, why it is incomplete
};
// The first line of runyard-extract's output; "none" for what is no such line.
upload_finding read_finding(std::string_view first_line);
// The line of the prompt about a file; empty when there is nothing to tell.
std::string finding_line(const upload_finding& f);

}  // namespace runs
