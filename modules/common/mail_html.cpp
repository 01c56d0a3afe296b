#include "mail_html.hpp"

#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>

namespace ry_mail_html {

namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

// The position after the ">" that ends the tag at `at`; quoted values may contain a ">". npos if the tag does not end.
std::size_t end_of_tag(std::string_view html, std::size_t at) {
  char quote = 0;
  for (; at < html.size(); ++at) {
    const char c = html[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return html.npos;
}

bool is_dead_link(std::string_view text) {
  const auto href = find_attribute(text, "href");
  return href.found && text.substr(href.begin, href.end - href.begin).find_first_not_of(" \t") == text.npos;
}

bool has_class(std::string_view text, std::string_view name) {
  const auto found = find_attribute(text, "class");
  if (!found.found) return false;
  const auto all = " " + std::string(text.substr(found.begin, found.end - found.begin)) + " ";
  return all.find(" " + std::string(name) + " ") != all.npos;
}

std::string without_comments(std::string_view html) {
  std::string out;
  for (;;) {
    const auto begin = html.find("<!--");
    out += html.substr(0, begin);
    const auto end = begin == html.npos ? begin : html.find("-->", begin + 4);
    if (end == html.npos) return out;
    html.remove_prefix(end + 3);
  }
}

std::string without_empty_blocks(std::string_view html) {
  std::string out;
  std::size_t at = 0;
  for (auto t = next_tag(html, 0); !t.name.empty(); t = next_tag(html, t.end)) {
    if (t.closes || (t.name != "p" && t.name != "li")) continue;
    const auto close = next_tag(html, t.end);
    if (!close.closes || close.name != t.name || has_visible_text(html.substr(t.end, close.begin - t.end))) continue;
    out += html.substr(at, t.begin - at);
    at = close.end;
  }
  return out.append(html.substr(at));
}

}  // namespace

tag next_tag(std::string_view html, std::size_t from) {
  for (;;) {
    tag t;
    t.begin = html.find('<', from);
    if (t.begin == html.npos || t.begin + 1 >= html.size()) return {};
    if (html.substr(t.begin, 4) == "<!--") {
      const auto end = html.find("-->", t.begin + 4);
      if (end == html.npos) return {};
      from = end + 3;
      continue;
    }
    auto at = t.begin + 1;
    t.closes = html[at] == '/';
    if (t.closes) ++at;
    if (at >= html.size() || !is_letter(html[at])) {
      from = t.begin + 1;
      continue;
    }
    for (; at < html.size() && (is_letter(html[at]) || is_digit(html[at]) || html[at] == '-'); ++at)
      t.name += ry::lower_ascii(html[at]);
    t.end = end_of_tag(html, at);
    if (t.end == html.npos) return {};
    return t;
  }
}

attribute find_attribute(std::string_view text, std::string_view name) {
  std::size_t at = 1;
  while (at < text.size() && !is_blank(text[at]) && text[at] != '>') ++at;  // the element's name
  for (;;) {
    while (at < text.size() && (is_blank(text[at]) || text[at] == '/')) ++at;
    if (at >= text.size() || text[at] == '>') return {};
    const auto begin = at;
    while (at < text.size() && !is_blank(text[at]) && text[at] != '=' && text[at] != '>' && text[at] != '/') ++at;
    if (at == begin) ++at;  // a stray character
    const auto found = text.substr(begin, at - begin);
    while (at < text.size() && is_blank(text[at])) ++at;
    attribute out;
    out.found = ry::iequals(found, name);
    out.begin = out.end = at;
    if (at < text.size() && text[at] == '=') {
      ++at;
      while (at < text.size() && is_blank(text[at])) ++at;
      const char quote = at < text.size() && (text[at] == '"' || text[at] == '\'') ? text[at] : '\0';
      if (quote != 0) ++at;
      out.begin = at;
      while (at < text.size() && (quote != 0 ? text[at] != quote : !is_blank(text[at]) && text[at] != '>')) ++at;
      out.end = at;
      if (quote != 0 && at < text.size()) ++at;
    }
    if (out.found) return out;
  }
}

std::string without_dead_links(std::string_view html) {
  std::string out;
  std::size_t at = 0;
  bool changed = false;
  for (auto t = next_tag(html, 0); !t.name.empty(); t = next_tag(html, t.end)) {
    const auto text = html.substr(t.begin, t.end - t.begin);
    if (t.closes || t.name != "a" || !is_dead_link(text)) continue;
    auto close = t;
    do close = next_tag(html, close.end);
    while (!close.name.empty() && !(close.closes && close.name == "a"));
    if (close.name.empty()) break;
    changed = true;
    out += html.substr(at, t.begin - at);
    if (!has_class(text, "button") && !has_class(text, "optional")) out += html.substr(t.end, close.begin - t.end);
    at = close.end;
    t = close;
  }
  out += html.substr(at);
  return changed ? without_empty_blocks(out) : out;
}

bool has_visible_text(std::string_view fragment) {
  const std::string text = without_comments(fragment);
  const std::string_view html = text;
  std::size_t at = 0;
  for (;;) {
    const auto t = next_tag(html, at);
    auto between = html.substr(at, (t.name.empty() ? html.size() : t.begin) - at);
    while (!between.empty()) {
      if (between.substr(0, 6) == "&nbsp;") {
        between.remove_prefix(6);
      } else if (between.substr(0, 2) == "\xc2\xa0") {
        between.remove_prefix(2);
      } else if (is_blank(between.front())) {
        between.remove_prefix(1);
      } else {
        return true;
      }
    }
    if (t.name.empty()) return false;
    if (t.name == "img") return true;
    at = t.end;
  }
}

}  // namespace ry_mail_html
