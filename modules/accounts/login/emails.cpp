#include "login/emails.hpp"

#include <algorithm>
#include <iterator>
#include <ry/cpp/html.hpp>

namespace accounts {
namespace {

struct button_spec {
  std::string_view label, link;
};

struct email_content {
  std::string_view first;
  button_spec button;
  std::string_view last;  // text below the button
  std::string_view before_list;
  std::vector<std::string> list;
  std::string_view reason;  // why the reader receives this
};

constexpr std::string_view security_reason =
    "You received this e-mail because it concerns the security of your account.";

std::string paragraph(std::string_view text) {
  return "<p>" + ry::escaped_html(text) + "</p>";
}

// The module mail adds the page layout to the HTML.
email compose(std::string subject, const email_content& c) {
  email out;
  out.text = std::string(c.first) + "\n\n";
  out.html = "<h1>" + ry::escaped_html(subject) + "</h1>" + paragraph(c.first);
  if (!c.button.link.empty()) {
    const auto link = ry::escaped_html(c.button.link);
    out.text += std::string(c.button.link) + "\n\n";
    out.html += "<p><a class=\"button\" href=\"" + link + "\">" + ry::escaped_html(c.button.label) +
                "</a></p><p><small>If the button does not work, open this address:<br><a href=\"" + link + "\">" +
                link + "</a></small></p>";
  }
  if (!c.list.empty()) {
    out.text += std::string(c.before_list) + "\n";
    out.html += paragraph(c.before_list) + "<ul>";
    for (const auto& line : c.list) {
      out.text += "- " + line + "\n";
      out.html += "<li>" + ry::escaped_html(line) + "</li>";
    }
    out.text += "\n";
    out.html += "</ul>";
  }
  if (!c.last.empty()) {
    out.text += std::string(c.last) + "\n\n";
    out.html += paragraph(c.last);
  }
  out.text += std::string(c.reason) + "\n";
  out.html += "<footer>" + ry::escaped_html(c.reason) + "</footer>";
  out.subject = std::move(subject);
  return out;
}

// Only the name of a key comes from the user.
std::vector<std::string> lines_of(const std::vector<listed_key>& keys) {
  std::vector<std::string> out;
  out.reserve(keys.size());
  for (const auto& k : keys) {
    out.push_back("\"" + k.name + "\" (ry_" + k.id + "), " +
                  (k.last_used.empty() ? "never used" : "last used " + k.last_used));
  }
  return out;
}

std::string_view about_keys(const key_list& keys) {
  return keys.kept ? "These API keys still work. Revoke those that you do not recognize:"
                   : "These API keys were revoked. Programs that use them need new keys:";
}

std::string count(std::int64_t n, std::string_view unit) {
  return std::to_string(n) + " " + std::string(unit) + (n == 1 ? "" : "s");
}

}  // namespace

email confirm_email(std::string_view link, std::int64_t hours) {
  const auto last = "The link is valid for " + count(hours, "hour") +
                    " and can be used once. If you did not sign up, ignore this e-mail: no account is created.";
  return compose("Confirm your e-mail address",
                 {.first = "Confirm your e-mail address to complete the sign-up:",
                  .button = {"Confirm address", link},
                  .last = last,
                  .before_list = {},
                  .list = {},
                  .reason = "You received this e-mail because someone signed up with your address."});
}

email already_registered_email(std::string_view log_in_link) {
  return compose(
      "You already have an account",
      {.first =
           "Someone, probably you, tried to sign up with this e-mail address, but you already have an account. Log in, or "
           "request a new password on the same page:",
       .button = {"Log in", log_in_link},
       .last = "If that was not you, ignore this e-mail: nothing has changed.",
       .before_list = {},
       .list = {},
       .reason = security_reason});
}

email reset_email(std::string_view link, std::int64_t minutes) {
  const auto last =
      "The link is valid for " + count(minutes, "minute") +
      " and can be used once. If you did not request it, ignore this e-mail: your password stays the same.";
  return compose("Choose a new password", {.first = "You asked for a new password. Choose one here:",
                                           .button = {"Choose a password", link},
                                           .last = last,
                                           .before_list = {},
                                           .list = {},
                                           .reason = security_reason});
}

email password_changed_email(std::string_view log_in_link, const key_list& keys) {
  return compose(
      "Your password was changed",
      {.first = "Your password was changed, and all your sessions were ended. If this was not you, request a new "
                "password immediately:",
       .button = {"Log in", log_in_link},
       .last = {},
       .before_list = about_keys(keys),
       .list = lines_of(keys.keys),
       .reason = security_reason});
}

email sessions_ended_email(std::string_view log_in_link, const key_list& keys) {
  return compose(
      "You were logged out everywhere",
      {.first = "All sessions of your account were ended. If this was not you, request a new password immediately:",
       .button = {"Log in", log_in_link},
       .last = {},
       .before_list = about_keys(keys),
       .list = lines_of(keys.keys),
       .reason = security_reason});
}

email new_key_email(std::string_view link, const listed_key& key) {
  const auto first =
      "The API key \"" + key.name + "\" (ry_" + key.id +
      ") was created for your account. If this was not you, revoke the key and change your password immediately.";
  return compose("A new API key was created", {.first = first,
                                               .button = {"Open your account", link},
                                               .last = {},
                                               .before_list = {},
                                               .list = {},
                                               .reason = security_reason});
}

email provider_email(std::string_view action_name, std::string_view link, std::string_view code) {
  struct wording {
    std::string_view action, subject, first, label;
  };
  constexpr wording wordings[] = {
      {"signup", "Confirm your e-mail address", "Confirm your e-mail address to complete the sign-up.",
       "Confirm address"},
      {"invite", "You have been invited", "You have been invited to create an account.", "Accept the invitation"},
      {"magiclink", "Your log-in link", "Use this link to log in.", "Log in"},
      {"recovery", "Choose a new password", "Use this link to choose a new password.", "Choose a password"},
      {"email_change", "Confirm your new e-mail address", "Confirm the new e-mail address of your account.",
       "Confirm the change"},
      {"reauthentication", "Confirm that it is you", "Enter this code to confirm that it is you.", ""}};
  constexpr wording default_wording{"", "Confirm your request", "Confirm your request.", "Confirm"};
  const auto* match =
      std::find_if(std::begin(wordings), std::end(wordings), [&](const wording& w) { return w.action == action_name; });
  const wording& w = match == std::end(wordings) ? default_wording : *match;
  std::vector<std::string> codes;
  if (!code.empty()) codes.emplace_back(code);
  return compose(std::string(w.subject),
                 {.first = w.first,
                  .button = {w.label, link},
                  .last = "If you did not request this e-mail, ignore it: nothing changes.",
                  .before_list = link.empty() ? "Your code:" : "Or enter this code:",
                  .list = std::move(codes),
                  .reason = "You received this e-mail because someone requested it for your address."});
}

}  // namespace accounts
