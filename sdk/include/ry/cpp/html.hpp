// Text in HTML pages and e-mails.
#pragma once

#include <string>
#include <string_view>

namespace ry {

// Escapes text for use between tags and in a quoted attribute. Does not make a URL safe: the caller must check the
// scheme of a link.
inline std::string escaped_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace ry
