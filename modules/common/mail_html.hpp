// Processes the HTML fragments of e-mails, which modules and operators' templates write, before they are put into the
// page layout.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry_mail_html {

// One tag of a fragment.
struct tag {
  std::size_t begin = 0, end = 0;  // positions of "<" and after ">"
  std::string name;  // in lower case
  bool closes = false;  // </name>
};

// The next tag at or after `from`. Skips comments and a "<" that does not start a tag. name is empty if there is none.
tag next_tag(std::string_view html, std::size_t from);

// The position of an attribute's value as written. `text`: the tag with its brackets.
struct attribute {
  bool found = false;
  std::size_t begin = 0, end = 0;  // of the value, within `text`
};
attribute find_attribute(std::string_view text, std::string_view name);

// Removes the tags of links without an address; for links of the class "button" or "optional", also their text. Then
// removes paragraphs and list items that have become empty.
std::string without_dead_links(std::string_view html);

// Whether the fragment shows anything: a character other than white space, or an image.
bool has_visible_text(std::string_view html);

}  // namespace ry_mail_html
