// The HTML layout of all e-mails. Callers write the content of a message; this component adds the page layout, the
// styles and the footer when the message is sent.
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

namespace mail {

struct brand {
  std::string name = "Runyard";
  std::string color = "#1d5fd1";  // a valid colour
  std::string logo_url;  // empty: the name is shown as text
};

// Colours for one colour scheme (light or dark), derived from the colour of the brand.
struct palette {
  std::string page, card, line, text, soft, quote;
  std::string link;  // contrast of at least 4.5 with card and page
  std::string button, button_text;  // contrast of button with card: 3, with button_text: 4.5
};
palette light_palette(const brand& b);
palette dark_palette(const brand& b);

struct rendered_email {
  std::string text, html;
};

// subject: the title of the document. unsubscribe_url: empty: none; otherwise each part shows it once.
rendered_email apply_layout(const brand& b, std::string_view subject, std::string_view text, std::string_view html,
                            std::string_view unsubscribe_url);

// A page in the same style for recipients who follow a link in an e-mail. body: a fragment.
std::string page(const brand& b, std::string_view title, std::string_view body);

}  // namespace mail
