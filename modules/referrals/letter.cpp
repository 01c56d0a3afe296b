#include "letter.hpp"

#include <ry/cpp/html.hpp>

namespace referrals {
namespace {

// A name is no place for addresses: mail programs make links of what looks like one.
std::string harmless(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 || u == 0x7f) {
      out += ' ';
    } else if (c != '/' && c != ':' && c != '@' && c != '<' && c != '>' && c != '{' && c != '}') {
      out += c;
    }
  }
  for (auto at = out.find('.'); at != out.npos; at = out.find('.', at + 1)) {
    if (at + 1 < out.size() && out[at + 1] != ' ') out.insert(at + 1, 1, ' ');
  }
  if (out.size() > 80) {
    out.resize(80);
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
  }
  return out.find_first_not_of(' ') == out.npos ? std::string("A friend") : out;
}

}  // namespace

letter write_invitation(std::string_view inviter, std::string_view link, std::int64_t bonus, bool both) {
  const std::string name = harmless(inviter);
  const std::string promise = bonus > 0 ? std::string(both ? ", and both of you receive " : ", and you receive ") +
                                              std::to_string(bonus) + " credits"
                                        : std::string();
  letter l;
  l.subject = name + " invites you to Runyard";
  l.text = name + " invites you to Runyard, where agents work for you.\n\n" +
           "Sign up with this link" + promise + ":\n\n" +
           std::string(link) + "\n\n" +
           "You get this mail because " + name + " entered your address. No more invitations:\n" +
           "{{unsubscribe_url}}\n";
  const std::string shown = ry::escaped_html(name), href = ry::escaped_html(link);
  l.html =
      "<!doctype html><html lang=\"en\"><body style=\"font-family:sans-serif;line-height:1.5;"
      "max-width:34em;margin:2em auto;padding:0 1em\"><p>" + shown +
      " invites you to Runyard, where agents work for you.</p><p>Sign up" +
      promise + ".</p><p><a href=\"" + href +
      "\" style=\"display:inline-block;padding:.7em 1.4em;background:#14532d;color:#fff;"
      "text-decoration:none;border-radius:.4em\">Accept the invitation</a></p><p>" + href +
      "</p><p style=\"color:#555;font-size:.85em\">You get this mail because " + shown +
      " entered your address. <a href=\"{{unsubscribe_url}}\">No more invitations</a></p></body></html>\n";
  return l;
}

}  // namespace referrals
