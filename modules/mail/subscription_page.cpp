#include "subscription_page.hpp"

#include <algorithm>
#include <ry/cpp/html.hpp>

namespace mail {
namespace {

constexpr std::pair<std::string_view, std::string_view> labels[] = {
    {"invitation", "invitations from other people"},
    {"promotional", "news and offers"},
    {"newsletter", "the newsletter"},
    {"task_completed", "completed tasks"},
    {"task_failed", "failed tasks"},
    {"credits_low", "low credits"},
    {"payment_failed", "failed payments"},
    {"payment_succeeded", "payments"},
    {"welcome_email", "your new account"},
    {"referral_successful", "successful referrals"},
    {"approval_requested", "calls that need your approval"},
    {"account", "the security of your account"}};

std::string paragraph(std::string_view before, const subscription& s, std::string_view after) {
  return "<p>" + std::string(before) + " <strong>" + ry::escaped_html(category_label(s.category)) + "</strong> " +
         std::string(after) + " <strong>" + ry::escaped_html(s.address) + "</strong>.</p>";
}

std::string form(std::string_view field, std::string_view label) {
  return "<form method=\"post\"><input type=\"hidden\" name=\"" + std::string(field) + "\" value=\"1\"><button>" +
         std::string(label) + "</button></form>";
}

}  // namespace

std::string category_label(std::string_view category) {
  for (const auto& [name, label] : labels)
    if (name == category) return std::string(label);
  std::string out(category);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string confirm_page(const brand& b, const subscription& s) {
  if (s.suppressed) return done_page(b, s);
  return page(b, "Unsubscribe",
              "<h1>Unsubscribe?</h1>" + paragraph("You will no longer get e-mails about", s, "at") +
                  form("unsubscribe", "Unsubscribe"));
}

std::string done_page(const brand& b, const subscription& s) {
  if (!s.suppressed) {
    return page(b, "Subscribed",
                "<h1>You are subscribed again</h1>" + paragraph("You will get e-mails about", s, "at") +
                    form("unsubscribe", "Unsubscribe"));
  }
  return page(b, "Unsubscribed",
              "<h1>You are unsubscribed</h1>" + paragraph("You will no longer get e-mails about", s, "at") +
                  "<p>Was this a mistake?</p>" + form("undo", "Subscribe again"));
}

std::string unknown_link_page(const brand& b) {
  return page(
      b, "Unknown link",
      "<h1>This link does not work</h1><p>It may be incomplete. Open the link from the e-mail again, or copy "
      "the complete URL "
      "into the browser. If you still get e-mails that you do not want, mark them as spam in your mail program.</p>");
}

}  // namespace mail
