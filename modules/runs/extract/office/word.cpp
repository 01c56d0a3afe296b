#include "word.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "ooxml_text.hpp"
#include "plain_text.hpp"
#include "rich_text.hpp"

namespace extract {
namespace {

constexpr std::array<std::string_view, 6> text_types{"header", "", "footnotes", "endnotes", "comments", "footer"};

// Content in another format, which Word converts when it opens the document. Some programs that convert HTML write only
// such content.
constexpr std::string_view alternative_format = "afchunk";

bool is_wanted(const relationship& r) {
  for (std::string_view type : text_types)
    if (r.type == type) return true;
  return r.type == alternative_format || is_drawing_type(r.type);
}

// Decodes web archives (MHTML), which are encoded for mail. HTML keeps its markup, as in HTML files.
std::string without_quoted_printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned byte = 0;
    if (text[at] != '=') {
      out += text[at];
    } else if (text.substr(at + 1).starts_with("\r\n") || text.substr(at + 1).starts_with('\n')) {
      at += text[at + 1] == '\r' ? 2 : 1;
    } else if (at + 2 < text.size() &&
               std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16).ptr == text.data() + at + 3) {
      out += static_cast<char>(byte);
      at += 2;
    } else {
      out += '=';
    }
  }
  return out;
}

std::string alternative_text(const std::string& content, std::size_t max_bytes) {
  if (content.starts_with("{\\rtf")) return read_rich_text(content, max_bytes).text;
  if (content.starts_with("PK")) return {};  // an embedded document
  constexpr std::string_view encoded = "Content-Transfer-Encoding: quoted-printable";
  return read_text(content.find(encoded) == content.npos ? content : without_quoted_printable(content), part::whole)
      .text;
}

}  // namespace

void read_word(package& in, const std::string& main, std::size_t max_bytes, office_text& out) {
  const std::vector<relationship> relations = relationships_or_siblings(in, main);
  std::set<std::string> wanted{main};
  for (const relationship& r : relations)
    if (is_wanted(r)) wanted.insert(r.part);
  in.load(wanted);
  note_numbers numbers;
  // Sections often have their own headers with the same text.
  std::set<std::string> seen;
  const auto read = [&](const std::string& part) {
    std::string text;
    ooxml_text handler(text, max_bytes - std::min(max_bytes, out.text.size()), &numbers);
    read_part(in, part, handler, out);
    if (seen.insert(text).second) out.text += text;
  };
  for (const std::string_view type : text_types) {
    if (type.empty()) {
      read(main);
      read_drawings(in, relations, max_bytes, out);
      for (const relationship& r : relations)
        if (const std::string* content = r.type == alternative_format ? in.part(r.part) : nullptr;
            content != nullptr && out.text.size() < max_bytes)
          if (const std::string text = alternative_text(*content, max_bytes); !text.empty()) out.text += text + "\n";
      continue;
    }
    std::set<std::string> parts;
    for (const relationship& r : relations)
      if (r.type == type && parts.insert(r.part).second) read(r.part);
  }
}

}  // namespace extract
