#include "letters.hpp"

#include <algorithm>
#include <iterator>
#include <ry/cpp/html.hpp>

namespace accounts {
namespace {

struct action {
  std::string_view label, link;
};

letter written(std::string subject, std::string_view first, action a, std::string_view last,
               std::string_view before_list = {}, const std::vector<std::string>& list = {}) {
  letter out;
  out.subject = std::move(subject);
  out.text = std::string(first) + "\n\n";
  out.html =
      "<!doctype html><html lang=\"en\"><body style=\"font:16px/1.5 system-ui,sans-serif;"
      "color:#1c2024;background:#ffffff;max-width:34em;margin:2em auto;padding:0 1em\"><p>" +
      ry::escaped_html(first) + "</p>";
  if (!a.link.empty()) {
    out.text += std::string(a.link) + "\n\n";
    out.html += "<p><a href=\"" + ry::escaped_html(a.link) +
                "\" style=\"display:inline-block;padding:10px 18px;border-radius:6px;background:#1d5fd1;"
                "color:#ffffff;text-decoration:none\">" +
                ry::escaped_html(a.label) + "</a></p>";
  }
  if (!list.empty()) {
    out.text += std::string(before_list) + "\n";
    out.html += "<p>" + ry::escaped_html(before_list) + "</p><ul>";
    for (const auto& line : list) {
      out.text += "- " + line + "\n";
      out.html += "<li>" + ry::escaped_html(line) + "</li>";
    }
    out.text += "\n";
    out.html += "</ul>";
  }
  out.text += std::string(last) + "\n";
  out.html += "<p style=\"color:#60646c;font-size:14px\">" + ry::escaped_html(last) + "</p></body></html>";
  return out;
}

// The name is what the account chose, the rest is ours.
std::vector<std::string> lines_of(const std::vector<listed_key>& keys) {
  std::vector<std::string> out;
  for (const auto& k : keys) {
    out.push_back("\"" + k.name + "\" (ry_" + k.id + "), " +
                  (k.last_used.empty() ? "never used" : "last used " + k.last_used));
  }
  return out;
}

std::string count(std::int64_t n, std::string_view unit) {
  return std::to_string(n) + " " + std::string(unit) + (n == 1 ? "" : "s");
}

}  // namespace

letter confirm_letter(std::string_view link, std::int64_t hours) {
  return written(
      "Confirm your e-mail address",
      "Open this link to confirm your e-mail address and complete the sign-up:", {"Confirm address", link},
      "The link is valid for " + count(hours, "hour") +
          " and for one use. If you did not sign up, ignore this e-mail: no account is created.");
}

letter known_letter(std::string_view log_in_link) {
  return written(
      "You already have an account",
      "You, or someone else, tried to sign up with this e-mail address, but it already has an account. "
      "Log in, or request a new password on the same page:",
      {"Log in", log_in_link}, "If that was not you, ignore this e-mail: nothing has changed.");
}

letter reset_letter(std::string_view link, std::int64_t minutes) {
  return written(
      "Choose a new password",
      "Open this link to choose a new password:", {"Choose a password", link},
      "The link is valid for " + count(minutes, "minute") +
          " and for one use. If you did not request it, ignore this e-mail: your password does not change.");
}

letter changed_letter(std::string_view log_in_link, const listed_keys& keys) {
  return written("Your password was changed",
                 "The password of your account was changed, and all its sessions were ended. If this was not you, "
                 "request a new password immediately:",
                 {"Log in", log_in_link}, "You received this e-mail because it concerns the security of your account.",
                 keys.kept ? "These API keys still work. Revoke those that you do not recognize:"
                           : "These API keys were revoked. Programs that use them need new keys:",
                 lines_of(keys.keys));
}

letter ended_letter(std::string_view log_in_link, const listed_keys& keys) {
  return written("You were logged out everywhere",
                 "All sessions of your account were ended. If this was not you, request a new password immediately:",
                 {"Log in", log_in_link}, "You received this e-mail because it concerns the security of your account.",
                 keys.kept ? "These API keys still work. Revoke those that you do not recognize:"
                           : "These API keys were revoked. Programs that use them need new keys:",
                 lines_of(keys.keys));
}

letter new_key_letter(std::string_view link, const listed_key& made) {
  return written("A new API key was created",
                 "The API key \"" + made.name + "\" (ry_" + made.id +
                     ") was created for your account. If this was not you, revoke the key and change your password immediately.",
                 {"Open your account", link}, "You received this e-mail because it concerns the security of your account.");
}

letter provider_letter(std::string_view action_name, std::string_view link, std::string_view code) {
  struct wording {
    std::string_view action, subject, first, label;
  };
  constexpr wording known[] = {
      {"signup", "Confirm your e-mail address", "Confirm your e-mail address to complete the sign-up.", "Confirm address"},
      {"invite", "You have been invited", "You have been invited to create an account.", "Accept the invitation"},
      {"magiclink", "Your log-in link", "Use this link to log in.", "Log in"},
      {"recovery", "Choose a new password", "Use this link to choose a new password.", "Choose a password"},
      {"email_change", "Confirm your new e-mail address", "Confirm that the e-mail address of your account changes.",
       "Confirm the change"},
      {"reauthentication", "Confirm that it is you", "Enter this code to confirm that it is you.", ""}};
  constexpr wording other{"", "Confirm your request", "Confirm your request.", "Confirm"};
  const auto* found = std::find_if(std::begin(known), std::end(known), [&](const wording& w) { return w.action == action_name; });
  const wording& w = found == std::end(known) ? other : *found;
  std::vector<std::string> codes;
  if (!code.empty()) codes.emplace_back(code);
  return written(std::string(w.subject), w.first, {w.label, link},
                 "If you did not request this e-mail, ignore it: nothing changes.",
                 link.empty() ? "Your code:" : "Or enter this code:", codes);
}

}  // namespace accounts
