#include "texts.hpp"

#include <ry/cpp/html.hpp>
#include <ry/cpp/types.hpp>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "builtin_texts.hpp"

namespace notifications {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = 256 * 1024;
constexpr std::size_t longest_title = 200;
constexpr std::size_t longest_body = 1'000;
// What an operator's own workflow without a file of its own looks like.
constexpr std::string_view otherwise = "promotional";

constexpr std::string_view link_attributes[] = {"href", "src", "action", "background", "poster"};

enum class unknown { empty, kept };
enum class escape { none, html };

std::string web_address(std::string text) {
  const bool good = (text.rfind("https://", 0) == 0 || text.rfind("http://", 0) == 0) &&
                    text.find_first_of(" \t\r\n\"<>") == text.npos;
  return good ? text : std::string();
}

// Whether the value of an attribute that a mail program follows begins at the end of `html`.
bool begins_link(std::string_view html) {
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

std::string fill_in(std::string_view pattern, const fields& values, unknown how, escape as) {
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
    auto name = pattern.substr(begin + 2, end - begin - 2);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    const auto found = values.find(name);
    if (found != values.end()) {
      if (as == escape::none)
        out += found->second;
      else
        out += ry::escaped_html(name != "app_url" && begins_link(out) ? web_address(found->second) : found->second);
    } else if (how == unknown::kept || name == "unsubscribe_url") {
      out += pattern.substr(begin, end + 2 - begin);  // the latter is filled in by the module mail
    }
    pattern.remove_prefix(end + 2);
  }
  return out;
}

std::string one_line(std::string text, std::size_t most) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > most) {
    text.resize(most);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  }
  return text;
}

// As people write it: 12.5, not 1.25E1.
std::string scalar_text(const json::value& v) {
  if (!v.is_double() || std::abs(v.get_double()) >= 1e15) return json::serialize(v);
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, v.get_double(), std::chars_format::fixed).ptr;
  return std::string(text, end);
}

std::string* head_of(text_set& t, std::string_view name) {
  if (name == "title") return &t.title;
  if (name == "body") return &t.body;
  if (name == "url") return &t.url;
  if (name == "digest_title") return &t.digest_title;
  if (name == "digest_body") return &t.digest_body;
  if (name == "digest_line") return &t.digest_line;
  return nullptr;
}

std::string* block_of(text_set& t, std::string_view name) {
  if (name == "mail") return &t.mail;
  if (name == "html") return &t.html;
  if (name == "digest_mail") return &t.digest_mail;
  if (name == "digest_html") return &t.digest_html;
  return nullptr;
}

ry::error wrong_line(std::size_t n, const std::string& what) {
  return ry::bad_request("notifications.template", "line " + std::to_string(n) + " " + what);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  if (!in || out.str().size() > longest_file) {
    throw ry::bad_request("notifications.template", path.string() + " cannot be read or is too long");
  }
  return out.str();
}

// Without the lines that lead nowhere.
std::string without_dead_links(std::string_view html) {
  std::string out;
  while (!html.empty()) {
    const auto line = html.substr(0, html.find('\n'));
    html.remove_prefix(std::min(line.size() + 1, html.size()));
    if (line.find("href=\"\"") == line.npos) out.append(line).append("\n");
  }
  return out;
}

letter finish(letter l) {
  l.html = without_dead_links(l.html);
  l.title = one_line(std::move(l.title), longest_title);
  l.body = one_line(std::move(l.body), longest_body);
  l.url = web_address(std::move(l.url));
  return l;
}

}  // namespace

std::string fill(std::string_view pattern, const fields& values) {
  return fill_in(pattern, values, unknown::empty, escape::none);
}
std::string fill_known(std::string_view pattern, const fields& values) {
  return fill_in(pattern, values, unknown::kept, escape::none);
}
std::string fill_html(std::string_view pattern, const fields& values) {
  return fill_in(pattern, values, unknown::empty, escape::html);
}

fields fields_of(const person& who) {
  return {{"email", who.email},
          {"name", who.name},
          {"first_name", who.first_name()},
          {"phone", who.phone},
          {"avatar", who.avatar}};
}

fields fields_of(const json::object& payload, const person& who) {
  auto out = fields_of(who);
  for (const auto& m : payload) {
    const std::string name(m.key().data(), m.key().size());
    const auto& v = m.value();
    if (v.is_string()) {
      std::string text(v.get_string().data(), v.get_string().size());
      // Such values become links.
      if (name.size() >= 4 && name.compare(name.size() - 4, 4, "_url") == 0) text = web_address(std::move(text));
      out[name] = std::move(text);
    } else if (!v.is_structured() && !v.is_null()) {
      out[name] = scalar_text(v);
    }
  }
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
        if (!next->empty()) throw wrong_line(n, "begins a block a second time");
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
    if (to == nullptr) throw wrong_line(n, "is neither \"name: text\" of a known name nor a block");
    auto text = line.substr(colon + 1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    *to = text;
  }
  if (out.title.empty()) throw ry::bad_request("notifications.template", "there is no title");
  return out;
}

texts texts::load(const std::string& dir) {
  texts out;
  for (const auto& [name, file] : builtin_texts) out.all_[std::string(name)] = parse_texts(file);
  if (dir.empty()) return out;
  std::error_code bad;
  for (const auto& entry : fs::directory_iterator(dir, bad)) {
    const auto& path = entry.path();
    const auto name = path.stem().string();
    if (path.extension() != ".txt") continue;
    if (!is_workflow_id(name)) {
      throw ry::bad_request("notifications.template", path.string() + " is not named after a workflow");
    }
    try {
      out.all_[name] = parse_texts(read_file(path));
    } catch (const ry::error& e) {
      throw ry::bad_request("notifications.template", path.string() + ": " + std::string(e.message()));
    }
  }
  if (bad) {
    throw ry::bad_request("notifications.template",
                          dir + " cannot be read: " + bad.message());
  }
  return out;
}

const text_set& texts::of(std::string_view workflow) const {
  const auto found = all_.find(workflow);
  return found != all_.end() ? found->second : all_.find(otherwise)->second;
}

letter texts::write(std::string_view workflow, const json::object& payload, const person& who,
                    std::string_view app_url) const {
  const auto& t = of(workflow);
  auto values = fields_of(payload, who);
  values["app_url"] = app_url;
  letter l;
  l.title = fill(t.title, values);
  l.body = fill(t.body, values);
  l.url = fill(t.url, values);
  l.mail = fill(t.mail, values);
  l.html = fill_html(t.html, values);
  return finish(std::move(l));
}

letter texts::write_digest(std::string_view workflow, const std::vector<json::object>& payloads,
                           const person& who, std::string_view app_url) const {
  const auto& t = of(workflow);
  auto values = fields_of(who);
  values["app_url"] = app_url;
  values["count"] = std::to_string(payloads.size());
  const std::string_view line = t.digest_line.empty() ? t.title : t.digest_line;
  std::string plain, list;
  for (const auto& p : payloads) {
    auto item = fields_of(p, who);
    plain += "- " + fill(line, item) + "\n";
    list += "<li>" + fill_html(line, item) + "</li>";
  }
  letter l;
  l.title = fill(t.digest_title.empty() ? std::string_view("{{count}} notifications") : t.digest_title, values);
  l.url = std::string(app_url);
  values["items"] = plain;
  l.body = fill(t.digest_body.empty() ? std::string_view("{{items}}") : t.digest_body, values);
  l.mail = fill(t.digest_mail.empty() ? std::string_view("{{items}}") : t.digest_mail, values);
  if (!t.digest_html.empty()) {
    // The list is HTML already: it goes in after the rest was escaped.
    values.erase("items");
    auto html = std::string_view(t.digest_html);
    const auto at = html.find("{{items}}");
    l.html = fill_html(html.substr(0, at), values);
    if (at != html.npos) l.html += list + fill_html(html.substr(at + 9), values);
  }
  return finish(std::move(l));
}

}  // namespace notifications
