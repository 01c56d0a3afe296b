// The texts of notifications: templates, built in or in files that an operator edits, and how fields are inserted.
//
// A file is named after its workflow, for example "task-completed.txt". It begins with lines "name: text" (title, body, url,
// digest_title, digest_body, digest_line, digest_html_line). Blocks follow, each after a line that is only "mail:", "html:",
// "digest_mail:" or "digest_html:". {{name}} stands for a field of the payload, or for
//   first_name, name, email, phone, avatar   of the recipient
//   app_url, settings_url, product_name      of the deployment
//   task_title, result, stats                of a task: its name in a sentence, the first lines of its result, its duration and cost
//   price, credits_left, action_label        of payments, low credits and offers
// and, in texts of a digest, also for count and items. Inserted text is not expanded again; a missing field is empty. A line
// of a block is left out if all its fields are empty; in HTML, addresses (fields that end in _url) do not count. In text, a line
// that ends with a colon and an address is left out if the address is empty.
//
// An HTML block is a fragment, which the module mail puts into its layout; see modules/mail/layout.hpp for <preheader>, <footer>
// and buttons.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "person.hpp"

namespace notifications {

using fields = std::map<std::string, std::string, std::less<>>;

fields fields_of(const person& who);
// Scalars of a payload as texts; they take precedence over the person's.
fields fields_of(const boost::json::object& payload, const person& who);

// Replaces every {{name}}; unknown names become empty.
std::string fill(std::string_view pattern, const fields& values);
// Replaces only the names in `values`; others stay.
std::string fill_known(std::string_view pattern, const fields& values);
// The same with values escaped for HTML, in texts and in attributes. A value at the beginning of a link attribute
// (href="{{x}}") must be a web address, otherwise it becomes empty; app_url, which the operator sets, is used
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

// Throws ry::error naming the line.
text_set parse_texts(std::string_view file);

// The filled texts of a notification.
struct rendered_texts {
  std::string title, body, url, mail, html;
};

class templates {
 public:
  // dir: empty for the built-in templates; templates that it lacks are built-in. Reads the files; throws ry::error
  // naming the file.
  static templates load(const std::string& dir);

  rendered_texts write(std::string_view workflow, const boost::json::object& payload, const person& who,
                       const site& at) const;
  // Several notifications of one workflow in one e-mail, in order.
  rendered_texts write_digest(std::string_view workflow, const std::vector<boost::json::object>& payloads,
                              const person& who, const site& at) const;

 private:
  const text_set& of(std::string_view workflow) const;
  std::map<std::string, text_set, std::less<>> all_;
};

}  // namespace notifications
