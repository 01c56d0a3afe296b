// The texts of notifications: templates, built in or in files that an operator edits, and how they are
// filled in.
//
// A file is named after its workflow, "task-completed.txt". Its head has lines "name: text" (title, body,
// url, digest_title, digest_body, digest_line); then blocks follow, each begun by a line that is just
// "mail:", "html:", "digest_mail:" or "digest_html:". {{name}} stands for a field of the payload, or for
// first_name, name, email, phone, avatar, app_url; in texts of a digest also for count and items. What is
// put in is never looked at again; a field that is not there is empty.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workflow.hpp"

namespace notifications {

using fields = std::map<std::string, std::string, std::less<>>;

fields fields_of(const person& who);
// Scalars of a payload as texts, over the person's.
fields fields_of(const boost::json::object& payload, const person& who);

// Every {{name}}; unknown names become empty.
std::string fill(std::string_view pattern, const fields& values);
// Only the names in `values`; others stay as they are.
std::string fill_known(std::string_view pattern, const fields& values);
// The same with values escaped for HTML, in texts and in attributes. A value that begins an attribute with a link
// (href="{{x}}") is a web address, else empty; app_url, which the operator sets, is used as it is.
std::string fill_html(std::string_view pattern, const fields& values);

struct text_set {
  std::string title, body, url, mail, html;
  std::string digest_title, digest_body, digest_line, digest_mail, digest_html;
};

// Throws ry::error naming the line.
text_set parse_texts(std::string_view file);

// A notification's texts, filled in.
struct letter {
  std::string title, body, url, mail, html;
};

class texts {
 public:
  // dir: empty for the built-in ones; what it does not have is built in. Reads the files; throws ry::error
  // naming the file.
  static texts load(const std::string& dir);

  letter write(std::string_view workflow, const boost::json::object& payload, const person& who,
               std::string_view app_url) const;
  // Several notifications of one workflow in one letter, in order.
  letter write_digest(std::string_view workflow, const std::vector<boost::json::object>& payloads,
                      const person& who, std::string_view app_url) const;

 private:
  const text_set& of(std::string_view workflow) const;
  std::map<std::string, text_set, std::less<>> all_;
};

}  // namespace notifications
