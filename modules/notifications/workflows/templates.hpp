// The texts of notifications: templates, built in or in files of the operator, and the insertion of fields.
//
// A file is named after its workflow, for example "task-completed.txt". It begins with lines "name: text" (title, body, url,
// digest_title, digest_body, digest_line, digest_html_line). Blocks follow, each after a line that is only "mail:", "html:",
// "digest_mail:" or "digest_html:". {{name}} stands for a field of the payload, or for
//   first_name, name, email, phone, avatar   of the recipient
//   app_url, settings_url, product_name      of the deployment
//   task_title, result, stats                of a task: its quoted name, first lines of its result, duration and cost
//   task_line, arguments, timeout_line       of an approval: its task, the arguments of the call, the end of its time
//   decision_url                             of an approval: the page on which the recipient decides, without logging in
//   price, credits_left, action_label        of payments, low credits and offers
// and, in texts of a digest, also for count and items. Inserted text is not expanded again; a missing field is empty. A line
// of a block is omitted if all its fields are empty; in HTML, URLs (fields that end in _url) are ignored. In text, a
// line that ends with a colon and a URL is omitted if the URL is empty.
//
// An HTML block is a fragment, to which the module mail adds its layout; see modules/mail/layout.hpp for <preheader>,
// <footer> and buttons.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workflows/person.hpp"

namespace notifications {

using fields = std::map<std::string, std::string, std::less<>>;

fields fields_of(const person& recipient);
// Scalar members of the payload as text; they take precedence over the fields of the recipient.
fields fields_of(const boost::json::object& payload, const person& recipient);

// Replaces every {{name}}; unknown names become empty.
std::string fill(std::string_view pattern, const fields& values);
// Replaces only the names in `values`; other placeholders are kept.
std::string fill_known(std::string_view pattern, const fields& values);
// Like fill(), with values escaped for HTML, in text and in attributes. A value at the beginning of a link attribute
// (href="{{x}}") must be an http(s) URL, otherwise it becomes empty; app_url, which the operator sets, is used
// unchanged.
std::string fill_html(std::string_view pattern, const fields& values);

struct text_set {
  std::string title, body, url, mail, html;
  std::string digest_title, digest_body, digest_line, digest_html_line, digest_mail, digest_html;
};

// Data about the deployment for texts.
struct site {
  std::string app_url;  // empty: unknown
  std::string settings_url, product_name = "Runyard";
  site() = default;
  site(std::string_view app) : app_url(app) {}
  site(const char* app) : app_url(app) {}
};

// Throws ry::error that names the line.
text_set parse_texts(std::string_view file);

// The filled texts of a notification.
struct rendered_texts {
  std::string title, body, url, mail, html;
};

class templates {
 public:
  // Reads the templates in `dir`; missing ones are built in. dir empty: only built-in templates. Throws ry::error that
  // names the file.
  static templates load(const std::string& dir);

  rendered_texts write(std::string_view workflow, const boost::json::object& payload, const person& recipient,
                       const site& deployment) const;
  // Combines several notifications of one workflow in one e-mail, in order.
  rendered_texts write_digest(std::string_view workflow, const std::vector<boost::json::object>& payloads,
                              const person& recipient, const site& deployment) const;

 private:
  const text_set& of(std::string_view workflow) const;
  std::map<std::string, text_set, std::less<>> all_;
};

}  // namespace notifications
