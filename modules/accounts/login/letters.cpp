#include "letters.hpp"

#include <initializer_list>

namespace accounts {
namespace {

// Addresses of this server and tokens: nothing in a link comes from a user, yet it stands in an
// attribute.
std::string escaped(std::string_view s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct action {
  std::string_view label, link;
};

letter written(std::string subject, std::string_view first, action a, std::string_view last) {
  letter out;
  out.subject = std::move(subject);
  out.text = std::string(first) + "\n\n" + std::string(a.link) + "\n\n" + std::string(last) + "\n";
  out.html =
      "<!doctype html><html lang=\"en\"><body style=\"font:16px/1.5 system-ui,sans-serif;"
      "color:#1c2024;background:#ffffff;max-width:34em;margin:2em auto;padding:0 1em\"><p>" +
      escaped(first) + "</p><p><a href=\"" + escaped(a.link) +
      "\" style=\"display:inline-block;padding:10px 18px;border-radius:6px;background:#1d5fd1;"
      "color:#ffffff;text-decoration:none\">" +
      escaped(a.label) + "</a></p><p style=\"color:#60646c;font-size:14px\">" + escaped(last) +
      "</p></body></html>";
  return out;
}

std::string count(std::int64_t n, std::string_view unit) {
  return std::to_string(n) + " " + std::string(unit) + (n == 1 ? "" : "s");
}

}  // namespace

letter confirm_letter(std::string_view link, std::int64_t hours) {
  return written(
      "Confirm your e-mail address",
      "Open this link to confirm your address and finish the sign-up:", {"Confirm address", link},
      "The link is good for " + count(hours, "hour") +
          " and for one use. If you did not sign up, do nothing: no account is made.");
}

letter known_letter(std::string_view log_in_link) {
  return written(
      "You have an account already",
      "Somebody, probably you, signed up with this address, which has an account already. "
      "Log in here, or ask for a new password there:",
      {"Log in", log_in_link}, "If that was not you, do nothing: nothing has changed.");
}

letter reset_letter(std::string_view link, std::int64_t minutes) {
  return written(
      "Choose a new password",
      "Open this link to choose a new password:", {"Choose a password", link},
      "The link is good for " + count(minutes, "minute") +
          " and for one use. If you did not ask for it, do nothing: your password stays.");
}

letter changed_letter(std::string_view log_in_link) {
  return written(
      "Your password was changed",
      "The password of your account was changed, and all its sessions have ended. If that "
      "was not you, ask for a new password at once:",
      {"Log in", log_in_link}, "You get this mail because of the security of your account.");
}

}  // namespace accounts
