// HTML pages and e-mails in the style of the deployment's brand: one centred column with a card, in light and dark mode.
// Pure functions.
#pragma once

#include <ry/cpp/context.hpp>
#include <ry/cpp/http.hpp>

#include <string>
#include <string_view>

namespace ry_brand_page {

struct brand {
  std::string name = "Runyard";
  std::string color = "#1d5fd1";  // a valid colour
  std::string logo_url;  // empty: the name is shown as text
};
// The brand in the host's settings.
brand brand_of(const ry::context& ctx);

// Colours for one colour scheme (light or dark), derived from the colour of the brand.
struct palette {
  std::string page, card, line, text, soft, quote;
  std::string link;  // contrast of at least 4.5 with card and page
  std::string button, button_text;  // contrast of button with card: 3, with button_text: 4.5
};
palette light_palette(const brand& b);
palette dark_palette(const brand& b);

// The fragment with the layout's styles in its tags, and the classes that dark mode overrides. Keeps styles that the
// caller set.
std::string styled(std::string_view html, const palette& p);
// The document up to its body. css: more rules.
std::string head_of(const brand& b, std::string_view title, std::string_view css);
// The rest of the document: the name, a card with `content`, and the footer. Built from tables, because Outlook supports
// no other layout. Not escaped: preheader, content, footer.
std::string page_body(const brand& b, const palette& p, std::string_view preheader, std::string_view content,
                      std::string_view footer);

// A page for recipients who follow a link in an e-mail. body: a fragment, which may contain forms with <button>,
// <button class="secondary"> and <textarea>.
std::string page(const brand& b, std::string_view title, std::string_view body);
// The response with such a page: it loads and runs nothing, and no cache, search engine or other site gets its URL.
ry::response page_response(std::uint32_t status, std::string html);

}  // namespace ry_brand_page
