#include "word.hpp"

#include <array>
#include <set>

#include "ooxml_text.hpp"

namespace extract {
namespace {

constexpr std::array<std::string_view, 6> text_types{"header", "", "footnotes", "endnotes", "comments", "footer"};

bool is_wanted(const relationship& r) {
  for (std::string_view type : text_types)
    if (r.type == type) return true;
  return is_drawing_type(r.type);
}

}  // namespace

void read_word(package& in, const std::string& main, std::size_t most, office_text& out) {
  const std::vector<relationship> relations = relationships_or_neighbours(in, main);
  std::set<std::string> wanted{main};
  for (const relationship& r : relations)
    if (is_wanted(r)) wanted.insert(r.part);
  in.load(wanted);
  note_marks marks;
  // Sections often have headers of their own with the same words.
  std::set<std::string> seen;
  const auto read = [&](const std::string& part) {
    std::string text;
    ooxml_text handler(text, most - std::min(most, out.text.size()), &marks);
    read_part(in, part, handler, out);
    if (seen.insert(text).second) out.text += text;
  };
  for (const std::string_view type : text_types) {
    if (type.empty()) {
      read(main);
      read_drawings(in, relations, most, out);
      continue;
    }
    std::set<std::string> parts;
    for (const relationship& r : relations)
      if (r.type == type && parts.insert(r.part).second) read(r.part);
  }
}

}  // namespace extract
