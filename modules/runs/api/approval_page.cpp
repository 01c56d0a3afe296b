#include "api/approval_page.hpp"

#include <boost/json.hpp>
#include <ry/cpp/html.hpp>

#include "common/argument_text.hpp"
#include "json/members.hpp"
#include "text.hpp"

namespace runs {
namespace {

namespace json = boost::json;
using ry_brand_page::brand;

constexpr std::size_t max_arguments = 16 << 10, max_title = 200;
constexpr std::string_view pre_style =
    "margin:0;white-space:pre-wrap;font-size:14px;font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace";

std::string paragraph(const std::string& html) {
  return "<p>" + html + "</p>";
}

std::string row(std::string_view name, std::string_view value) {
  return value.empty() ? "" : std::string(name) + ": <strong>" + ry::escaped_html(value) + "</strong><br>";
}

// "2026-11-29 10:00 UTC" of "2026-11-29T10:00:00.000Z".
std::string minute_of(std::string_view iso) {
  return iso.size() < 16 ? std::string(iso)
                         : std::string(iso.substr(0, 10)) + " " + std::string(iso.substr(11, 5)) + " UTC";
}

// The value of the member `arguments` as it is stored. The approval is written by runs.approval_json(), so the text is
// valid JSON, and no string before this member contains its name unescaped.
std::string_view arguments_of(std::string_view approval) {
  constexpr std::string_view name = "\"arguments\" : ";
  const auto at = approval.find(name);
  return at == approval.npos ? std::string_view() : approval.substr(at + name.size());
}

std::string what_was_called(const approval_link& link, const json::object& approval) {
  return paragraph(row("Agent", link.agent) + row("Task", shorten(link.title, max_title)) +
                   row("Tool", module_json::text_of(approval, "name")));
}

// The arguments may nest as deeply as a parser allows by default, and the approval contains them.
json::value parse_approval(const approval_link& link) {
  json::parse_options options;
  options.max_depth *= 2;
  return json::parse(link.approval, {}, options);
}

approval_page closed_page(const brand& b, const std::string& title, const std::string& text) {
  return {410, ry_brand_page::page(b, title, "<h1>" + title + "</h1>" + paragraph(text))};
}

std::string decision_form(std::string_view decision, std::string_view button, std::string_view label,
                          const std::string& fields) {
  return "<form method=\"post\">" + fields + "<input type=\"hidden\" name=\"decision\" value=\"" +
         std::string(decision) + "\"><button" + std::string(button) + ">" + std::string(label) + "</button></form>";
}

std::string outcome_of(const json::object& approval) {
  const std::string status = module_json::text_of(approval, "status");
  return status == "approved" ? "The call was approved." : status == "denied" ? "The call was denied." : "";
}

}  // namespace

approval_page page_of(const brand& b, const approval_link& link) {
  const json::value v = parse_approval(link);
  const json::object& approval = v.as_object();
  if (link.state == "used")
    return closed_page(b, "This link was already used", outcome_of(approval) + " A link works only once.");
  if (link.state == "decided")
    return closed_page(b, "The decision was already made",
                       outcome_of(approval) + " The decision was made without this link.");
  if (link.state == "expired")
    return closed_page(b, "This approval has expired", "No decision was made in time, so the call was not executed.");
  if (link.state == "cancelled")
    return closed_page(b, "This approval was cancelled",
                       "The run ended before a decision was made. The call was not executed.");
  const auto shown = ry_arguments::show(arguments_of(link.approval), max_arguments);
  const std::string arguments = shown.text.empty()
                                    ? paragraph("The call has no arguments.")
                                    : "<p>Arguments:</p><blockquote><pre style=\"" + std::string(pre_style) + "\">" +
                                          ry::escaped_html(shown.text) + "</pre></blockquote>";
  const std::string incomplete =
      shown.is_complete ? ""
                        : paragraph(
                              "<strong>The arguments are longer than this page shows.</strong> Look at the complete "
                              "call in the task before you approve it.");
  return {200, ry_brand_page::page(
                   b, "Approve the call?",
                   "<h1>Approve this call?</h1>" + paragraph("An agent waits for your decision.") +
                       what_was_called(link, approval) + arguments + incomplete +
                       paragraph("<small>Expires on " +
                                 ry::escaped_html(minute_of(module_json::text_of(approval, "expires_at"))) +
                                 ". This link works once.</small>") +
                       decision_form("approve", "", "Approve", "") +
                       decision_form("deny", " class=\"secondary\"", "Deny",
                                     "<label>Reason for the agent, if you deny the call (optional)"
                                     "<textarea name=\"reason\" rows=\"2\" maxlength=\"500\"></textarea></label>"))};
}

approval_page decided_page(const brand& b, const approval_link& link) {
  const json::value v = parse_approval(link);
  const json::object& approval = v.as_object();
  const bool approved = module_json::text_of(approval, "status") == "approved";
  const std::string title = approved ? "You approved the call" : "You denied the call";
  return {200, ry_brand_page::page(b, title,
                                   "<h1>" + title + "</h1>" + what_was_called(link, approval) +
                                       paragraph(approved ? "The agent executes the call and continues."
                                                          : "The agent continues without the call.") +
                                       paragraph("You can close this page."))};
}

approval_page unknown_approval_page(const brand& b) {
  return {404,
          ry_brand_page::page(
              b, "Unknown link",
              "<h1>This link does not work</h1><p>It may be incomplete, or the task was deleted. Open the link from "
              "the e-mail again, or copy the complete URL into the browser.</p>")};
}

approval_page unclear_decision_page(const brand& b) {
  return {422,
          ry_brand_page::page(b, "No decision",
                              "<h1>No decision was made</h1><p>The request contains no valid decision. Open the link "
                              "from the e-mail again, and choose one of the two buttons.</p>")};
}

approval_page too_many_requests_page(const brand& b) {
  return {429, ry_brand_page::page(b, "Too many requests",
                                   "<h1>Too many requests</h1><p>This network sent too many requests. Try again "
                                   "later.</p>")};
}

}  // namespace runs
