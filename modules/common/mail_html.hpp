// The HTML part of e-mails before it is framed: fragments that modules and operators' templates write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry_mail_html {

// One tag of a fragment.
struct tag {
  std::size_t begin = 0, end = 0;  // of "<" and behind ">"
  std::string name;                // in small letters
  bool closes = false;             // </name>
};

// The next tag at or behind `from`; comments and a "<" that begins no tag are skipped. name empty: there is none.
tag next_tag(std::string_view html, std::size_t from);

// The value of an attribute as it is written; null if the tag does not have it. `text`: the tag with its brackets.
struct attribute {
  bool found = false;
  std::size_t begin = 0, end = 0;  // of the value, within `text`
};
attribute find_attribute(std::string_view text, std::string_view name);

// Links whose address is empty lose their tags; those of the class "button" or "optional" also lose their text. Paragraphs and list
// items that are empty then are removed.
std::string without_dead_links(std::string_view html);

// Whether a reader sees anything: a character that is no blank, or an image.
bool has_visible_text(std::string_view html);

}  // namespace ry_mail_html
