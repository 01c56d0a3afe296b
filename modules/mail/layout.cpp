#include "layout.hpp"

#include <algorithm>
#include <ry/cpp/html.hpp>
#include <ry/cpp/types.hpp>

#include "common/mail_html.hpp"

namespace mail {
namespace {

using ry_brand_page::head_of;
using ry_brand_page::page_body;
using ry_brand_page::styled;
using ry_mail_html::next_tag;

// Mail programs truncate long messages, so a text that exceeds this is sent without an HTML part.
constexpr std::size_t max_text_in_html = 90 * 1024;
constexpr std::size_t max_preheader = 140;

bool begins_ignoring_space(std::string_view text, std::string_view what) {
  const auto at = text.find_first_not_of(" \t\r\n");
  return at != text.npos && text.size() - at >= what.size() && ry::iequals(text.substr(at, what.size()), what);
}

bool is_document(std::string_view html) {
  return begins_ignoring_space(html, "<!doctype") || begins_ignoring_space(html, "<html");
}

// Removes the first element with this name from the fragment and returns its content.
std::string extract_element(std::string& html, std::string_view name) {
  for (auto t = next_tag(html, 0); !t.name.empty(); t = next_tag(html, t.end)) {
    if (t.closes || t.name != name) continue;
    auto close = next_tag(html, t.end);
    while (!close.name.empty() && !(close.closes && close.name == name)) close = next_tag(html, close.end);
    if (close.name.empty()) return {};
    auto inner = html.substr(t.end, close.begin - t.end);
    html.erase(t.begin, close.end - t.begin);
    return inner;
  }
  return {};
}

// Converts a line of text to HTML; URLs become links.
std::string linked(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    const auto at = std::min(line.find("https://"), line.find("http://"));
    out += ry::escaped_html(line.substr(0, at));
    if (at == line.npos) break;
    line.remove_prefix(at);
    auto url = line.substr(0, line.find_first_of(" \t<>\""));
    while (!url.empty() && std::string_view(".,;:!?)'").find(url.back()) != std::string_view::npos)
      url.remove_suffix(1);
    const auto shown = ry::escaped_html(url);
    out += "<a href=\"" + shown + "\">" + shown + "</a>";
    line.remove_prefix(url.size());
  }
  return out;
}

std::string html_of_text(std::string_view text) {
  std::string out;
  bool open = false;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) {
      if (open) out += "</p>\n";
      open = false;
      continue;
    }
    out += open ? "<br>\n" : "<p>";
    out += linked(line);
    open = true;
  }
  return open ? out + "</p>\n" : out;
}

std::string shortened(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  text.resize(max_bytes);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  return text + "\xe2\x80\xa6";
}

// The preview text of the inbox if the caller gives none: the first lines after the greeting.
std::string preview_of(std::string_view text) {
  std::string out;
  while (!text.empty() && out.size() <= max_preheader) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line == "--") break;  // the signature
    const bool greeting = out.empty() && line.ends_with(',') && line.size() < 100;
    if (line.empty() || greeting || line.find("http://") != line.npos || line.find("https://") != line.npos) continue;
    if (!out.empty()) out += ' ';
    out += line;
  }
  return ry::escaped_html(shortened(std::move(out), max_preheader));
}

std::string hidden(std::string_view preheader) {
  if (preheader.empty()) return {};
  // Zero-width characters fill the preview, so that it does not show the following text.
  std::string filler;
  for (int i = 0; i < 60; ++i) filler += "&#847;&zwnj;&nbsp;";
  return "<div style=\"display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all\">" +
         std::string(preheader) + filler + "</div>\n";
}

std::string footer_of(const brand& b, std::string given, std::string_view html, std::string_view unsubscribe_url) {
  if (!ry_mail_html::has_visible_text(given)) given = "You received this e-mail from " + ry::escaped_html(b.name) + ".";
  const auto link = ry::escaped_html(unsubscribe_url);
  const bool shown = link.empty() || html.find(link) != html.npos || given.find(link) != std::string::npos;
  return shown ? given : given + " <a href=\"" + link + "\">Unsubscribe</a>";
}

}  // namespace

rendered_email apply_layout(const brand& b, std::string_view subject, std::string_view text, std::string_view html,
                            std::string_view unsubscribe_url) {
  rendered_email out{std::string(text), {}};
  if (!unsubscribe_url.empty() && text.find(unsubscribe_url) == text.npos) {
    out.text += "\n\n-- \nUnsubscribe: " + std::string(unsubscribe_url) + "\n";
  }
  if (is_document(html)) {
    out.html = html;
    return out;
  }
  auto content = ry_mail_html::without_dead_links(html);
  auto preheader = extract_element(content, "preheader");
  const auto footer = extract_element(content, "footer");
  if (!ry_mail_html::has_visible_text(content)) {
    if (text.size() > max_text_in_html) return out;
    content = html_of_text(text);
  }
  if (!ry_mail_html::has_visible_text(preheader)) preheader = preview_of(text);
  const auto p = light_palette(b);
  const auto footer_html = footer_of(b, footer, content, unsubscribe_url);
  out.html = head_of(b, subject, "") + page_body(b, p, hidden(preheader), styled(content, p), styled(footer_html, p));
  return out;
}

}  // namespace mail
