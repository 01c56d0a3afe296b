// E-mails: what users, models and other modules say becomes text of a page, never its markup. Tags are those of the
// templates, links lead to the web only, and titles and texts have their limits.
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/notifications/events/workflow.hpp"
#include "modules/notifications/templates.hpp"
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
      fuzz::promise(c != '<' && (!quoted || c != '>'), "no tag begins within a tag");
      if (c == '"') {
        quoted = !quoted;
        if (!quoted) {
          if (tag.ends_with("href=") || tag.ends_with("src="))
            fuzz::promise(value.empty() || value.starts_with("https://") || value.starts_with("http://") ||
                              value == "{{unsubscribe_url}}",
                          "a link leads to the web");
          value.clear();
        }
      } else if (quoted) {
        value += c;
      } else {
        tag += c;
      }
    }
    fuzz::promise(at < html.size(), "a tag has an end");
    out.push_back(std::move(tag));
  }
  return out;
}

void check_texts(const rendered_texts& l, const rendered_texts& plain) {
  fuzz::promise(l.title.size() <= 200 && l.body.size() <= 1000, "title and text obey their limits");
  for (const auto* text : {&l.title, &l.body})
    for (const char c : *text) fuzz::promise(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "they are one line");
  fuzz::promise(l.url.empty() || l.url.starts_with("https://") || l.url.starts_with("http://"),
                "a link leads to the web");
  // Lines whose fields are all empty are left out, so there may be fewer tags, but never others.
  const auto tags = tags_of(l.html), known = tags_of(plain.html);
  std::size_t at = 0;
  for (const auto& tag : tags) {
    while (at < known.size() && known[at] != tag) ++at;
    fuzz::promise(at++ < known.size(), "tags are those of the template");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const templates all = templates::load("");
  static const std::string_view app = "https://app.example";
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  person who;
  who.name = next_line(input);
  who.email = next_line(input);
  who.avatar = next_line(input);
  if (choice % 4 == 0) {  // the inviter's name, and a link that this server makes
    const auto l = referrals::write_invitation(who.name, "https://app.example/i/1", 100);
    fuzz::promise(tags_of(l.html) == tags_of(referrals::write_invitation("A", "https://app.example/i/1", 100).html),
                  "a name adds no tag");
    fuzz::promise(l.subject.size() <= 200 && l.subject.find_first_of("\r\n") == l.subject.npos,
                  "a subject is one short line");
    return 0;
  }
  boost::system::error_code bad;
  const auto payload = json::parse(input, bad);
  if (bad || !payload.is_object()) return 0;
  const auto& workflows = known_workflows();
  const auto workflow = choice / 4 % (workflows.size() + 1) < workflows.size()
                            ? workflows[choice / 4 % (workflows.size() + 1)]
                            : std::string_view("an-own-one");
  const json::object harmless{{"task_name", "T"}, {"task_url", "https://x"},   {"title", "T"},
                              {"message", "M"},   {"action_url", "https://x"}, {"url", "https://x"}};
  person other;
  other.name = "A";
  auto filled = harmless;  // every field of every template has a value, so no line is left out
  for (const auto* name :
       {"billing_url", "retry_url", "invoice_url", "top_up_url", "upgrade_url", "dashboard_url", "receipt_url"})
    filled[name] = "https://x";
  for (const auto* name : {"amount", "currency", "plan_name", "reason", "failure_reason", "credits_awarded",
                           "remaining_credits", "threshold_percentage"})
    filled[name] = "1";
  if (choice % 4 == 1) {
    check_texts(all.write(workflow, payload.get_object(), who, app), all.write(workflow, filled, other, app));
  } else if (choice % 4 == 2) {
    const std::vector<json::object> two{payload.get_object(), payload.get_object()}, same{filled, filled};
    check_texts(all.write_digest(workflow, two, who, app), all.write_digest(workflow, same, other, app));
  } else {  // an operator's template that puts a field everywhere
    auto values = fields_of(payload.get_object(), who);
    const std::string_view pattern =
        "<p title=\"{{title}}\">{{name}}{{title}}</p>\n<a href=\"{{title}}\">{{title}}</a><img src=\"{{avatar}}\">";
    fuzz::promise(tags_of(fill_html(pattern, values)) == tags_of(fill_html(pattern, {})), "a field adds no tag");
    const auto once = fill("{{title}}", values);
    fuzz::promise(once == (values.contains("title") ? values.at("title") : ""),
                  "what is put in is not looked at again");
    const auto shown = fill_template(payload.get_object(), who);
    fuzz::promise(shown.size() == payload.get_object().size(), "a template keeps its members");
  }
  return 0;
}
