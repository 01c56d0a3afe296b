#include "types/extraction_result.hpp"

#include <algorithm>
#include <charconv>

#include "text.hpp"

namespace runs {
namespace {

constexpr std::size_t max_note_bytes = 200;

std::string_view word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return out;
}

std::uint32_t number(std::string_view text) {
  std::uint32_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

extraction_result read_extraction_result(std::string_view line) {
  extraction_result out;
  out.found = word(line);
  if (out.found == "text") {
    out.detail = word(line);
    out.truncated = line == "cut" || line.starts_with("cut ");
    if (out.truncated) word(line);
    out.note = std::string(line.substr(0, max_note_bytes));
  } else if (out.found == "image") {
    out.detail = word(line);
    out.width = number(word(line));
    out.height = number(word(line));
  } else if (out.found == "none") {
    out.detail = std::string(line.substr(0, 200));
  } else {
    out.found = "none";
    out.detail = "reading it failed";
  }
  return out;
}

std::string prompt_line(const extraction_result& f) {
  if (f.found == "image") {
    std::string format = f.detail;
    for (char& c : format)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    return "[Image " + f.name + ": " + format + ", " + std::to_string(f.width) + " x " + std::to_string(f.height) +
           " pixels" + (f.size > max_scalable_bytes ? ", too large to be shown]" : "]");
  }
  if (f.found == "none") return "[No text of " + f.name + ": " + f.detail + "]";
  // A UTF-8 text does not need a separate text file.
  if (f.detail == "plain" && f.note.empty()) return {};
  return "[Text of " + f.name + (f.note.empty() ? "" : ", " + f.note) + (f.truncated ? ", its beginning" : "") + " (" +
         size_text(f.text_bytes) + ") -> uploads/.text/" + f.name + ".txt]";
}

}  // namespace runs
