// The HTML layout of all e-mails. Callers write the content of a message; this component adds the page layout
// (common/brand_page.hpp), the styles and the footer when the message is sent.
//
// body_html of mail.enqueue() is a fragment: paragraphs, headings, lists, links, <blockquote>, <small>, and
//   <a class="button" href="...">     the main action for the reader
//   <a class="optional" href="...">   a link that is removed with its text if its address is empty
//   <preheader>...</preheader>        plain text that inboxes show next to the subject
//   <footer>...</footer>              why the reader receives this, and links to settings
// A complete document (it begins with <!doctype or <html) is sent unchanged. If there is no visible HTML, the layout
// shows the text part.
#pragma once

#include <string>
#include <string_view>

#include "common/brand_page.hpp"

namespace mail {

using ry_brand_page::brand;
using ry_brand_page::dark_palette;
using ry_brand_page::light_palette;
using ry_brand_page::page;

struct rendered_email {
  std::string text, html;
};

// subject: the title of the document. unsubscribe_url: empty: none; otherwise each part shows it once.
rendered_email apply_layout(const brand& b, std::string_view subject, std::string_view text, std::string_view html,
                            std::string_view unsubscribe_url);

}  // namespace mail
