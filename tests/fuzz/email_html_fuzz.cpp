// E-mails: values from users, models and other modules become text, never markup. The only tags are those of the
// templates, links use http(s), and titles and texts obey their limits.
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/notifications/workflows/templates.hpp"
#include "modules/notifications/workflows/workflow.hpp"
#include "modules/referrals/invitation_email.hpp"

namespace {

namespace json = boost::json;
using namespace notifications;

std::string_view next_line(std::string_view& from) {
  const auto line = from.substr(0, from.find('\n'));
  from.remove_prefix(std::min(line.size() + 1, from.size()));
  return line;
}

// Every '<' begins a tag whose values contain no quotes; returns the tags without the values.
std::vector<std::string> tags_of(std::string_view html) {
  std::vector<std::string> out;
  for (auto at = html.find('<'); at != html.npos; at = html.find('<', at)) {
    std::string tag;
    bool quoted = false;
    std::string value;
    for (++at; at < html.size() && (quoted || html[at] != '>'); ++at) {
      const char c = html[at];
      fuzz::check(c != '<' && (!quoted || c != '>'), "no tag begins within a tag");
      if (c == '"') {
        quoted = !quoted;
        if (!quoted) {
          if (tag.ends_with("href=") || tag.ends_with("src="))
            fuzz::check(value.empty() || value.starts_with("https://") || value.starts_with("http://") ||
                            value == "{{unsubscribe_url}}",
                        "a link uses http or https");
          value.clear();
        }
      } else if (quoted) {
        value += c;
      } else {
        tag += c;
      }
    }
    fuzz::check(at < html.size(), "a tag is closed");
    out.push_back(std::move(tag));
  }
  return out;
}

void check_texts(const rendered_texts& l, const rendered_texts& plain) {
  fuzz::check(l.title.size() <= 200 && l.body.size() <= 1000, "title and text obey their limits");
  for (const auto* text : {&l.title, &l.body})
    for (const char c : *text)
      fuzz::check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "title and text have no control characters");
  fuzz::check(l.url.empty() || l.url.starts_with("https://") || l.url.starts_with("http://"),
              "a link uses http or https");
  // Lines whose fields are all empty are omitted, so there may be fewer tags, but never different ones.
  const auto tags = tags_of(l.html), expected = tags_of(plain.html);
  std::size_t at = 0;
  for (const auto& tag : tags) {
    while (at < expected.size() && expected[at] != tag) ++at;
    fuzz::check(at++ < expected.size(), "all tags come from the template");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const templates all = templates::load("");
  static const std::string_view app = "https://app.example";
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  person recipient;
  recipient.name = next_line(input);
  recipient.email = next_line(input);
  recipient.avatar = next_line(input);
  if (choice % 4 == 0) {  // an invitation, with the inviter's name and a generated link
    const auto l = referrals::write_invitation(recipient.name, "https://app.example/i/1", 100);
    fuzz::check(tags_of(l.html) == tags_of(referrals::write_invitation("A", "https://app.example/i/1", 100).html),
                "a name adds no tag");
    fuzz::check(l.subject.size() <= 200 && l.subject.find_first_of("\r\n") == l.subject.npos,
                "a subject is one short line");
    return 0;
  }
  boost::system::error_code bad;
  const auto payload = json::parse(input, bad);
  if (bad || !payload.is_object()) return 0;
  const auto& workflows = known_workflows();
  const auto workflow = choice / 4 % (workflows.size() + 1) < workflows.size()
                            ? workflows[choice / 4 % (workflows.size() + 1)]
                            : std::string_view("custom-workflow");
  const json::object harmless{{"task_name", "T"}, {"task_url", "https://x"},   {"title", "T"},
                              {"message", "M"},   {"action_url", "https://x"}, {"url", "https://x"}};
  person other;
  other.name = "A";
  auto filled = harmless;  // every field of every template has a value, so no line is omitted
  for (const auto* name :
       {"billing_url", "retry_url", "invoice_url", "top_up_url", "upgrade_url", "dashboard_url", "receipt_url"})
    filled[name] = "https://x";
  for (const auto* name : {"amount", "currency", "plan_name", "reason", "failure_reason", "credits_awarded",
                           "remaining_credits", "threshold_percentage"})
    filled[name] = "1";
  if (choice % 4 == 1) {
    check_texts(all.write(workflow, payload.get_object(), recipient, app), all.write(workflow, filled, other, app));
  } else if (choice % 4 == 2) {
    const std::vector<json::object> two{payload.get_object(), payload.get_object()}, same{filled, filled};
    check_texts(all.write_digest(workflow, two, recipient, app), all.write_digest(workflow, same, other, app));
  } else {  // an operator's template with fields in every position
    auto values = fields_of(payload.get_object(), recipient);
    const std::string_view pattern =
        "<p title=\"{{title}}\">{{name}}{{title}}</p>\n<a href=\"{{title}}\">{{title}}</a><img src=\"{{avatar}}\">";
    fuzz::check(tags_of(fill_html(pattern, values)) == tags_of(fill_html(pattern, {})), "a field adds no tag");
    const auto once = fill("{{title}}", values);
    fuzz::check(once == (values.contains("title") ? values.at("title") : ""), "inserted values are not expanded again");
    const auto expanded = fill_template(payload.get_object(), recipient);
    fuzz::check(expanded.size() == payload.get_object().size(), "a template keeps its members");
  }
  return 0;
}
