#include "workflows/templates.hpp"

#include <ry/cpp/html.hpp>
#include <ry/cpp/types.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "builtin_texts.hpp"
#include "common/mail_html.hpp"
#include "workflows/sentences.hpp"
#include "workflows/workflow_id.hpp"

namespace notifications {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_file = 256 * 1024;
constexpr std::size_t max_title = 200;
constexpr std::size_t max_body = 1'000;
// The template of custom workflows without a file.
constexpr std::string_view fallback_workflow = "promotional";

constexpr std::size_t max_digest_items = 50;
// The digest templates of workflows whose file has none.
constexpr std::string_view default_digest_mail =
    "Hello {{first_name}},\n\nYou have {{count}} notifications:\n\n{{items}}\n--\nNotification settings: {{settings_url}}\n"
    "Unsubscribe: {{unsubscribe_url}}\n";
constexpr std::string_view default_digest_html =
    "<h1>{{count}} notifications</h1>\n<p>Hello {{first_name}}, you have {{count}} notifications:</p>\n<ul>{{items}}</ul>\n"
    "<footer>You received this e-mail because several notifications for your account were combined.<br>\n"
    "<a class=\"optional\" href=\"{{settings_url}}\">Notification settings</a>\n"
    "<a class=\"optional\" href=\"{{unsubscribe_url}}\">Unsubscribe</a></footer>\n";

constexpr std::string_view link_attributes[] = {"href", "src", "action", "background", "poster"};

enum class unknown_field { empty, kept };
enum class escape { none, html };

std::string http_url_or_empty(std::string text) {
  const bool is_valid = (text.rfind("https://", 0) == 0 || text.rfind("http://", 0) == 0) &&
                        text.find_first_of(" \t\r\n\"<>") == text.npos;
  return is_valid ? text : std::string();
}

// Whether `html` ends where the value of an attribute with a link begins.
bool opens_link_attribute(std::string_view html) {
  const auto drop_blanks = [&html] {
    while (!html.empty() && (html.back() == ' ' || html.back() == '\t' || html.back() == '\n')) html.remove_suffix(1);
  };
  if (!html.empty() && (html.back() == '"' || html.back() == '\'')) html.remove_suffix(1);
  drop_blanks();
  if (html.empty() || html.back() != '=') return false;
  html.remove_suffix(1);
  drop_blanks();
  return std::any_of(std::begin(link_attributes), std::end(link_attributes), [&](std::string_view name) {
    return html.size() >= name.size() && ry::iequals(html.substr(html.size() - name.size()), name);
  });
}

std::string_view field_name(std::string_view name) {
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

std::string fill_pattern(std::string_view pattern, const fields& values, unknown_field on_unknown, escape as) {
  std::string out;
  while (!pattern.empty()) {
    const auto begin = pattern.find("{{");
    out += pattern.substr(0, begin);
    if (begin == pattern.npos) break;
    const auto end = pattern.find("}}", begin);
    if (end == pattern.npos) {
      out += pattern.substr(begin);
      break;
    }
    const auto name = field_name(pattern.substr(begin + 2, end - begin - 2));
    const auto found = values.find(name);
    if (found != values.end()) {
      if (as == escape::none)
        out += found->second;
      else
        out += ry::escaped_html(name != "app_url" && name != "settings_url" && opens_link_attribute(out)
                                    ? http_url_or_empty(found->second)
                                    : found->second);
    } else if (on_unknown == unknown_field::kept || name == "unsubscribe_url") {
      out += pattern.substr(begin, end + 2 - begin);  // the module mail fills in the latter
    }
    pattern.remove_prefix(end + 2);
  }
  return out;
}

std::string one_line(std::string text, std::size_t max_bytes) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > max_bytes) {
    text.resize(max_bytes);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  }
  return text;
}

std::string* head_of(text_set& t, std::string_view name) {
  if (name == "title") return &t.title;
  if (name == "body") return &t.body;
  if (name == "url") return &t.url;
  if (name == "digest_title") return &t.digest_title;
  if (name == "digest_body") return &t.digest_body;
  if (name == "digest_line") return &t.digest_line;
  if (name == "digest_html_line") return &t.digest_html_line;
  return nullptr;
}

std::string* block_of(text_set& t, std::string_view name) {
  if (name == "mail") return &t.mail;
  if (name == "html") return &t.html;
  if (name == "digest_mail") return &t.digest_mail;
  if (name == "digest_html") return &t.digest_html;
  return nullptr;
}

ry::error line_error(std::size_t n, const std::string& what) {
  return ry::bad_request("notifications.template", "line " + std::to_string(n) + " " + what);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  if (!in || out.str().size() > max_file) {
    throw ry::bad_request("notifications.template", path.string() + " cannot be read or is too long");
  }
  return out.str();
}

bool is_url_field(std::string_view name) {
  return name.size() >= 4 && name.substr(name.size() - 4) == "_url";
}

// Whether the line has fields and all of them are empty. Some fields are ignored, see templates.hpp.
bool all_fields_empty(std::string_view line, const fields& values, escape as) {
  bool any = false;
  for (auto begin = line.find("{{"); begin != line.npos; begin = line.find("{{", begin + 2)) {
    const auto end = line.find("}}", begin);
    if (end == line.npos) break;
    const auto name = field_name(line.substr(begin + 2, end - begin - 2));
    if (name == "unsubscribe_url" && as == escape::none) return false;
    if (as == escape::html && is_url_field(name)) continue;
    const auto found = values.find(name);
    if (found != values.end() && !found->second.empty()) return false;
    any = true;
  }
  return any;
}

std::string_view without_trailing_space(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// Whether a text line ends with a label and an empty URL: "Learn more: {{action_url}}".
bool lacks_its_url(std::string_view line, const fields& values) {
  line = without_trailing_space(line);
  const auto begin = line.rfind("{{");
  if (begin == line.npos || line.find("}}", begin) != line.size() - 2) return false;
  const auto name = field_name(line.substr(begin + 2, line.size() - begin - 4));
  // The module mail fills in unsubscribe_url.
  if (!is_url_field(name) || name == "unsubscribe_url") return false;
  const auto found = values.find(name);
  return (found == values.end() || found->second.empty()) &&
         without_trailing_space(line.substr(0, begin)).ends_with(':');
}

// Keeps at most one blank line between others, and none at either end.
std::string collapse_blank_lines(std::string_view text) {
  std::string out;
  bool gap = false;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) {
      gap = !out.empty();
      continue;
    }
    if (gap) out += '\n';
    gap = false;
    out.append(line).append("\n");
  }
  return out;
}

std::string fill_block(std::string_view block, const fields& values, escape as) {
  std::string kept;
  while (!block.empty()) {
    const auto line = block.substr(0, block.find('\n'));
    block.remove_prefix(std::min(line.size() + 1, block.size()));
    if (as == escape::none && lacks_its_url(line, values)) continue;
    if (!all_fields_empty(line, values, as)) kept.append(line).append("\n");
  }
  if (as == escape::none) kept = collapse_blank_lines(kept);
  auto out = fill_pattern(kept, values, unknown_field::empty, as);
  return as == escape::html ? ry_mail_html::without_dead_links(out) : out;
}

void add_site(fields& values, const site& deployment) {
  values["app_url"] = deployment.app_url;
  values["settings_url"] = deployment.settings_url;
  values["product_name"] = deployment.product_name;
}

rendered_texts finish(rendered_texts out) {
  out.title = one_line(std::move(out.title), max_title);
  out.body = one_line(std::move(out.body), max_body);
  out.url = http_url_or_empty(std::move(out.url));
  return out;
}

}  // namespace

std::string fill(std::string_view pattern, const fields& values) {
  return fill_pattern(pattern, values, unknown_field::empty, escape::none);
}
std::string fill_known(std::string_view pattern, const fields& values) {
  return fill_pattern(pattern, values, unknown_field::kept, escape::none);
}
std::string fill_html(std::string_view pattern, const fields& values) {
  return fill_pattern(pattern, values, unknown_field::empty, escape::html);
}

fields fields_of(const person& recipient) {
  return {{"email", recipient.email},
          {"name", recipient.name},
          {"first_name", recipient.first_name()},
          {"phone", recipient.phone},
          {"avatar", recipient.avatar}};
}

fields fields_of(const json::object& payload, const person& recipient) {
  auto out = fields_of(recipient);
  for (const auto& m : payload) {
    const std::string name(m.key().data(), m.key().size());
    const auto& v = m.value();
    if (v.is_string()) {
      std::string text(v.get_string().data(), v.get_string().size());
      // Values of such fields become links.
      if (name.size() >= 4 && name.compare(name.size() - 4, 4, "_url") == 0) text = http_url_or_empty(std::move(text));
      out[name] = std::move(text);
    } else if (!v.is_structured() && !v.is_null()) {
      out[name] = scalar_text(v);
    }
  }
  const auto* details = payload.if_contains(details_member);
  add_sentences(out, payload, details != nullptr && details->is_object() ? details->get_object() : json::object());
  return out;
}

text_set parse_texts(std::string_view file) {
  text_set out;
  std::string* block = nullptr;
  for (std::size_t n = 1; !file.empty(); ++n) {
    const auto end = file.find('\n');
    auto line = file.substr(0, end);
    file.remove_prefix(end == file.npos ? file.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty() && line.back() == ':') {
      if (auto* next = block_of(out, line.substr(0, line.size() - 1))) {
        if (!next->empty()) throw line_error(n, "repeats a block");
        block = next;
        continue;
      }
    }
    if (block != nullptr) {
      block->append(line).append("\n");
      continue;
    }
    if (line.empty() || line.front() == '#') continue;
    const auto colon = line.find(':');
    auto* to = colon == line.npos ? nullptr : head_of(out, line.substr(0, colon));
    if (to == nullptr) throw line_error(n, "is neither a known \"name: text\" line nor the start of a block");
    auto text = line.substr(colon + 1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    *to = text;
  }
  if (out.title.empty()) throw ry::bad_request("notifications.template", "the title is missing");
  return out;
}

templates templates::load(const std::string& dir) {
  templates out;
  for (const auto& [name, file] : builtin_texts) out.all_[std::string(name)] = parse_texts(file);
  if (dir.empty()) return out;
  std::error_code bad;
  for (const auto& entry : fs::directory_iterator(dir, bad)) {
    const auto& path = entry.path();
    const auto name = path.stem().string();
    if (path.extension() != ".txt") continue;
    if (!is_workflow_id(name)) {
      throw ry::bad_request("notifications.template", path.string() + ": the file name is not a valid workflow id");
    }
    try {
      out.all_[name] = parse_texts(read_file(path));
    } catch (const ry::error& e) {
      throw ry::bad_request("notifications.template", path.string() + ": " + std::string(e.message()));
    }
  }
  if (bad) {
    throw ry::bad_request("notifications.template", dir + " cannot be read: " + bad.message());
  }
  return out;
}

const text_set& templates::of(std::string_view workflow) const {
  const auto found = all_.find(workflow);
  return found != all_.end() ? found->second : all_.find(fallback_workflow)->second;
}

rendered_texts templates::write(std::string_view workflow, const json::object& payload, const person& recipient,
                                const site& deployment) const {
  const auto& t = of(workflow);
  auto values = fields_of(payload, recipient);
  add_site(values, deployment);
  rendered_texts out;
  out.title = fill(t.title, values);
  out.body = fill(t.body, values);
  out.url = fill(t.url, values);
  out.mail = fill_block(t.mail, values, escape::none);
  out.html = fill_block(t.html, values, escape::html);
  return finish(std::move(out));
}

rendered_texts templates::write_digest(std::string_view workflow, const std::vector<json::object>& payloads,
                                       const person& recipient, const site& deployment) const {
  const auto& t = of(workflow);
  auto values = fields_of(recipient);
  add_site(values, deployment);
  values["count"] = std::to_string(payloads.size());
  const std::string_view line = t.digest_line.empty() ? t.title : t.digest_line;
  const std::string_view html_line = t.digest_html_line.empty() ? line : t.digest_html_line;
  std::string plain, list;
  const auto shown = std::min(payloads.size(), max_digest_items);
  for (std::size_t i = 0; i < shown; ++i) {
    auto item = fields_of(payloads[i], recipient);
    add_site(item, deployment);
    plain += "- " + one_line(fill(line, item), max_body) + "\n";
    list += "<li>" + fill_html(html_line, item) + "</li>";
  }
  if (shown < payloads.size()) {
    const auto rest = "and " + std::to_string(payloads.size() - shown) + " more";
    plain += rest + "\n";
    list += "<li>" + rest + "</li>";
  }
  rendered_texts out;
  out.title = fill(t.digest_title.empty() ? std::string_view("{{count}} notifications") : t.digest_title, values);
  out.url = deployment.app_url;
  values["items"] = plain;
  out.body = fill(t.digest_body.empty() ? std::string_view("{{items}}") : t.digest_body, values);
  out.mail = fill_block(t.digest_mail.empty() ? default_digest_mail : t.digest_mail, values, escape::none);
  // The list is already HTML, so it is inserted after the rest was escaped.
  const std::string_view html = t.digest_html.empty() ? default_digest_html : t.digest_html;
  const auto begin = html.find("{{items}}");
  out.html = fill_block(html.substr(0, begin), values, escape::html);
  if (begin != html.npos) {
    while (out.html.ends_with('\n')) out.html.pop_back();
    out.html += ry_mail_html::without_dead_links(list) + fill_block(html.substr(begin + 9), values, escape::html);
  }
  return finish(std::move(out));
}

}  // namespace notifications
