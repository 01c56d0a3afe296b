#include "invitation_email.hpp"

#include <ry/cpp/html.hpp>

namespace referrals {
namespace {

// Removes what mail programs would turn into a link, and control characters.
std::string sanitized_name(std::string_view name) {
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

email write_invitation(std::string_view inviter, std::string_view link, std::int64_t bonus, bool both,
                       std::string_view product) {
  const std::string name = sanitized_name(inviter);
  const std::string first = name + " invited you to " + std::string(product) + ", where AI agents work on your tasks.";
  const std::string offer = bonus > 0 ? std::string(both ? "Join and you both get " : "Join and you get ") +
                                            std::to_string(bonus) + " credits."
                                      : "Sign up to try it.";
  const std::string reason = "You received this e-mail because " + name + " entered your address.";
  email out;
  out.subject = name + " invites you to " + std::string(product);
  out.text = first + " " + offer + "\n\n" + std::string(link) + "\n\n" + reason + "\n" +
             "No more invitations: {{unsubscribe_url}}\n";
  const std::string href = ry::escaped_html(link);
  // The module mail adds the page layout.
  out.html = "<preheader>" + offer + "</preheader><h1>" + ry::escaped_html(out.subject) + "</h1><p>" +
             ry::escaped_html(first) + " " + offer + "</p><p><a class=\"button\" href=\"" + href +
             "\">Accept the invitation</a></p><p><small>If the button does not work, open this address:<br><a href=\"" +
             href + "\">" + href + "</a></small></p><footer>" + ry::escaped_html(reason) +
             "<br>\n<a class=\"optional\" href=\"{{unsubscribe_url}}\">No more invitations</a></footer>\n";
  return out;
}

}  // namespace referrals
