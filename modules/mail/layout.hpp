// The one layout of all e-mails. Callers write what a message says; the frame around it, the styles and the footer are made here,
// when the message is sent.
//
// body_html of mail.enqueue() is a fragment: paragraphs, headings, lists, links, <blockquote>, <small>, and
//   <a class="button" href="...">     the one thing that the reader shall do
//   <a class="optional" href="...">   a link that vanishes with its words if its address is empty
//   <preheader>...</preheader>        plain text that inboxes show beside the subject
//   <footer>...</footer>              why the reader receives this, and links to settings
// A whole document (it begins with <!doctype or <html) is sent as it is. Without HTML, or when nothing of it can be seen, the
// layout shows the text part.
#pragma once

#include <string>
#include <string_view>

namespace mail {

struct brand {
  std::string name = "Runyard";
  std::string color = "#1d5fd1";  // a valid colour
  std::string logo_url;  // empty: the name is shown as text
};

// Colours derived from the brand's, for one scheme.
struct palette {
  std::string page, card, line, text, soft, quote;
  std::string link;  // contrast of at least 4.5 with card and page
  std::string button, button_text;  // 3 with card; 4.5 with each other
};
palette light_palette(const brand& b);
palette dark_palette(const brand& b);

struct framed {
  std::string text, html;
};

// subject: for the document's title. unsubscribe_url: empty: none; otherwise both parts show it once.
framed lay_out(const brand& b, std::string_view subject, std::string_view text, std::string_view html,
               std::string_view unsubscribe_url);

// A page in the same style for recipients who follow a link in an e-mail. body: a fragment.
std::string page(const brand& b, std::string_view title, std::string_view body);

}  // namespace mail
