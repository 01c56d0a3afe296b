// Text in HTML pages and mails.
#pragma once

#include <string>
#include <string_view>

namespace ry {

// Text as it may stand between tags and in a quoted attribute. It makes no address safe: a link's
// scheme is the caller's to check.
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
