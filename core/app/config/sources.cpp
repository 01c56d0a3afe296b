#include "core/app/config/sources.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>
#include <sstream>

#include "core/app/config/nearest.hpp"
#include "core/app/config/schema.hpp"
#include "core/app/config/toml_error.hpp"

namespace ry::app::config {
namespace {

// Thrown when an assertion of the TOML parser fails.
struct toml_assertion {};
[[noreturn]] void fail_toml_assertion() {
  throw toml_assertion{};
}

}  // namespace
}  // namespace ry::app::config

// toml++ 3.3 asserts on some malformed headers ("[[[["). With NDEBUG it would assume that the condition holds, which is
// undefined behaviour. NDEBUG is therefore undefined here, and a failed assertion throws.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : ry::app::config::fail_toml_assertion())
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 1
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

extern char** environ;

namespace ry::app::config {

namespace {

constexpr std::string_view env_prefix = "RUNYARD_";

enum class expansion { none, replaced, failed };

// A missing variable is one fault, however often it is used.
void report_missing(std::string_view name, const std::string& where, const std::string& path, problems& out) {
  const auto sentence = "the environment variable " + std::string(name) + " is not set";
  const auto known =
      std::find_if(out.begin(), out.end(), [&](const problem& p) { return p.message.starts_with(sentence + " ("); });
  if (known != out.end())
    known->message += "; also at " + where;
  else
    out.push_back({where, path, sentence + " (write ${" + std::string(name) + ":-} to allow that)"});
}

// Expands ${...}.
expansion expand(std::string& text, const environment& env, const std::string& where, const std::string& path,
                 problems& out) {
  std::string result;
  auto done = expansion::none;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.compare(i, 3, "$${") == 0) {
      result += "${";
      i += 3;
      continue;
    }
    if (text.compare(i, 2, "${") != 0) {
      result += text[i++];
      continue;
    }
    const auto end = text.find('}', i);
    if (end == std::string::npos) {
      out.push_back({where, path, "\"${\" without \"}\" (write \"$${\" for a literal \"${\")"});
      return expansion::failed;
    }
    const std::string_view body = std::string_view(text).substr(i + 2, end - i - 2);
    const auto dash = body.find(":-");
    const auto name = body.substr(0, dash);
    const auto found = env.find(name);
    if (dash != std::string_view::npos) {
      const bool given = found != env.end() && !found->second.empty();
      result += given ? std::string_view(found->second) : body.substr(dash + 2);
    } else if (found != env.end()) {
      result += found->second;
    } else {
      report_missing(name, where, path, out);
      done = expansion::failed;
    }
    if (done == expansion::none) done = expansion::replaced;
    i = end + 1;
  }
  text = std::move(result);
  return done;
}

class reader {
 public:
  reader(const std::string& name, const environment& env, problems& out) : name_(name), env_(env), out_(out) {}

  node read(const toml::node& from) {
    node to;
    to.where = position(from.source());
    if (const auto* table = from.as_table()) {
      to.is = node::kind::table;
      for (const auto& [key, value] : *table) {
        path_.emplace_back(key.str());
        auto member = read(value);
        // The position of the key itself, also for `[tables]`.
        member.where = position(key.source());
        to.members.emplace_back(std::string(key.str()), std::move(member));
        path_.pop_back();
      }
      // toml++ sorts keys; restore the order of the file.
      std::stable_sort(to.members.begin(), to.members.end(),
                       [&](const auto& a, const auto& b) { return line_of(a.second.where) < line_of(b.second.where); });
    } else if (const auto* array = from.as_array()) {
      to.is = node::kind::list;
      for (const auto& item : *array) {
        path_.push_back("[" + std::to_string(to.items.size()) + "]");
        to.items.push_back(read(item));
        path_.pop_back();
      }
    } else if (const auto* text = from.as_string()) {
      std::string value = text->get();
      if (value.find("${") != std::string::npos) {
        const auto done = expand(value, env_, to.where, to_text(path_), out_);
        if (done == expansion::replaced) to.loose = value;
        to.unresolved = done == expansion::failed;
      }
      to.scalar = value;
    } else if (const auto* integer = from.as_integer()) {
      to.scalar = integer->get();
    } else if (const auto* flag = from.as_boolean()) {
      to.scalar = flag->get();
    } else if (const auto* number = from.as_floating_point()) {
      if (!std::isfinite(number->get())) out_.push_back({to.where, to_text(path_), "must be a finite number"});
      to.scalar = number->get();
    } else {
      out_.push_back(
          {to.where, to_text(path_), "is a date or time, but no setting has this type; put the value in quotes"});
      to.unresolved = true;
    }
    return to;
  }

 private:
  std::string position(const toml::source_region& at) const {
    if (!at.begin) return name_;
    return name_ + ":" + std::to_string(at.begin.line) + ":" + std::to_string(at.begin.column);
  }
  std::pair<int, int> line_of(const std::string& where) const {
    int line = 0, column = 0;
    std::sscanf(where.c_str() + std::min(name_.size(), where.size()), ":%d:%d", &line, &column);
    return {line, column};
  }

  const std::string& name_;
  const environment& env_;
  problems& out_;
  key_path path_;
};

// Parses a value from outside a file: as TOML if it is valid TOML, otherwise as a string.
node loose_value(const std::string& text, const std::string& where) {
  node value;
  const auto first = text.find_first_not_of(" \t");
  // A single word or date could parse as an unintended TOML value; only values with these first characters are
  // parsed.
  const bool maybe = first != std::string::npos && text.find('\n') == std::string::npos &&
                     std::string_view("\"'[{+-0123456789tf").find(text[first]) != std::string_view::npos;
  if (maybe) {
    try {
      const auto table = toml::parse("v = " + text);
      const environment none;
      problems ignored;
      const std::string name = where;
      const auto* v = table.get("v");
      if (v && table.size() == 1 && !v->is_date() && !v->is_time() && !v->is_date_time())
        value = reader(name, none, ignored).read(*v);
      else
        value.scalar = text;
      if (!ignored.empty()) value.scalar = text;
    } catch (const toml::parse_error&) {
      value.scalar = text;
    } catch (const toml_assertion&) {
      value.scalar = text;
    }
  } else {
    value.scalar = text;
  }
  const auto relocate = [&](auto& self, node& n) -> void {
    n.where = where;
    for (auto& m : n.members) self(self, m.second);
    for (auto& i : n.items) self(self, i);
  };
  relocate(relocate, value);
  value.loose = text;
  return value;
}

// A key in the spelling of a variable's name: "runyard/basic" is runyard_basic.
std::string spelled(std::string_view key) {
  std::string out = lower_ascii(key);
  for (char& c : out)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
  return out;
}

// The keys of a table that a part of a variable's name can mean: the exact one, or all with this spelling.
std::vector<std::pair<std::string, const node*>> meant_by(const node& table, const std::string& part) {
  std::vector<std::pair<std::string, const node*>> all;
  for (const auto& [key, value] : table.members) {
    if (lower_ascii(key) == part) return {{key, &value}};
    if (spelled(key) == part) all.emplace_back(key, &value);
  }
  return all;
}

std::vector<std::string> split_variable(std::string_view rest) {
  std::vector<std::string> parts;
  while (true) {
    const auto at = rest.find("__");
    parts.push_back(lower_ascii(rest.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    rest.remove_prefix(at + 2);
  }
}

std::string variable_of(std::string_view key) {
  std::string out(env_prefix);
  for (const char c : key) {
    if (c == '.')
      out += "__";
    else
      out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

bool belongs_to_others(std::string_view variable) {
  for (const auto* ours : {"RUNYARD_CONFIG", "RUNYARD_URL", "RUNYARD_TOKEN"})
    if (variable == ours) return true;
  return variable == "RUNYARD_PORT" || variable.starts_with("RUNYARD_PORT_") ||
         variable.starts_with("RUNYARD_SERVICE_");
}

problem unknown_variable(std::string_view variable, const known_keys& known) {
  const auto squeezed = [](std::string_view text) {
    std::string out;
    for (const char c : text)
      if (c != '_') out += c;
    return out;
  };
  std::vector<std::string> names;
  std::string meant;
  for (const auto& key : known.all) {
    names.push_back(variable_of(key));
    if (squeezed(names.back()) == squeezed(variable)) meant = names.back();
  }
  if (meant.empty()) {
    // Removes the common prefix, which would distort the comparison.
    for (auto& n : names) n.erase(0, env_prefix.size());
    meant = nearest(variable.substr(env_prefix.size()), names);
    if (!meant.empty()) meant = std::string(env_prefix) + meant;
  }
  return {"environment " + std::string(variable), "",
          meant.empty() ? "does not name a setting: the parts of a key are separated by two underscores, "
                          "as in RUNYARD_HTTP__LISTEN"
                        : "does not name a setting; did you mean " + meant + "?",
          true};
}

// Such as RUNYARD_DATABASE: a table, which a variable cannot set.
bool names_table(const key_path& path, const known_keys& known) {
  std::string key;
  for (const auto& part : path) key += (key.empty() ? "" : ".") + part;
  const auto begins = [&](const std::string& one) { return one.starts_with(key + "."); };
  return std::find(known.all.begin(), known.all.end(), key) == known.all.end() &&
         std::any_of(known.all.begin(), known.all.end(), begins);
}

}  // namespace

environment process_environment() {
  environment env;
  for (char** e = environ; e && *e; ++e) {
    const std::string_view entry(*e);
    const auto eq = entry.find('=');
    if (eq != std::string_view::npos) env.emplace(entry.substr(0, eq), entry.substr(eq + 1));
  }
  return env;
}

namespace {

// The line at which the parser asserts, found by parsing longer and longer prefixes.
std::size_t asserting_line(std::string_view text) {
  std::size_t line = 1;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1), ++line) {
    try {
      (void)toml::parse(text.substr(0, end));
    } catch (const toml::parse_error&) {
    } catch (const toml_assertion&) {
      break;
    }
  }
  return line;
}

}  // namespace

node parse_toml(std::string_view text, const std::string& name, const environment& env, problems& out) {
  node empty;
  empty.is = node::kind::table;
  empty.where = name;
  try {
    const auto table = toml::parse(text);
    auto tree = reader(name, env, out).read(table);
    tree.where = name;
    return tree;
  } catch (const toml::parse_error& e) {
    const auto& at = e.source().begin;
    out.push_back({name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column), "",
                   syntax_sentence(text, at.line, e.description())});
    return empty;
  } catch (const toml_assertion&) {
    out.push_back({name + ":" + std::to_string(asserting_line(text)), "", "is malformed TOML"});
    return empty;
  }
}

void apply_environment(node& tree, const environment& env, const known_keys& known, problems& out) {
  for (auto it = env.lower_bound(env_prefix); it != env.end(); ++it) {
    const std::string_view name = it->first;
    if (!name.starts_with(env_prefix)) break;
    if (!is_utf8(name)) {
      out.push_back({"environment " + it->first, "", "does not name a setting: the name is not UTF-8", true});
      continue;
    }
    auto path = split_variable(name.substr(env_prefix.size()));
    if (std::any_of(path.begin(), path.end(), [](const auto& p) { return p.empty(); }) ||
        (path.size() == 1 && std::find(known.top.begin(), known.top.end(), path[0]) == known.top.end()) ||
        names_table(path, known)) {
      if (!belongs_to_others(name)) out.push_back(unknown_variable(name, known));
      continue;
    }
    // An existing key determines the case and characters that a variable name cannot contain:
    // RUNYARD_RUNS__MODELS__RUNYARD_BASIC sets runs.models."runyard/basic".
    const node* at = &tree;
    std::string several, misplaced;
    for (std::size_t i = 0; at && i < path.size(); ++i) {
      if (at->is != node::kind::table)
        misplaced = "does not name a setting: the value at " + at->where + " is not a table";
      const auto keys = meant_by(*at, path[i]);
      if (keys.size() > 1)
        for (const auto& [key, value] : keys) several += (several.empty() ? "" : " and ") + to_text({key});
      at = keys.size() == 1 ? keys.front().second : nullptr;
      if (at) path[i] = keys.front().first;
    }
    auto value = loose_value(it->second, "environment " + it->first);
    if (at && at->is == node::kind::table && value.is != node::kind::table)
      misplaced = "does not name a setting: there is a table at " + at->where;
    // set() would replace a value from a file.
    if (!misplaced.empty())
      out.push_back({value.where, "", std::move(misplaced), true});
    else if (several.empty())
      set(tree, path, std::move(value));
    else
      out.push_back({"environment " + it->first, "", "may mean " + several + "; use --set, which distinguishes them"});
  }
}

void apply_override(node& tree, std::string_view assignment, problems& out) {
  // Finds the first '=' outside quotes: a quoted part of the key may contain one.
  bool quoted = false;
  std::size_t eq = std::string_view::npos;
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] == '"') quoted = !quoted;
    if (assignment[i] == '=' && !quoted) {
      eq = i;
      break;
    }
  }
  const auto path = eq == std::string_view::npos ? std::nullopt : parse_key(assignment.substr(0, eq));
  if (!path) {
    out.push_back({"--set " + std::string(assignment.substr(0, eq)), "",
                   "must be key=value, e.g. --set http.listen=127.0.0.1:0"});
    return;
  }
  if (!is_utf8(assignment.substr(0, eq))) {
    out.push_back({"--set", to_text(*path), "the name of a setting must be UTF-8"});
    return;
  }
  set(tree, *path, loose_value(std::string(assignment.substr(eq + 1)), "--set"));
}

node read(const sources& from, const environment& env, const known_keys& known, problems& out) {
  node tree;
  tree.is = node::kind::table;
  namespace fs = std::filesystem;
  const auto read_file = [&](const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    // Opening a directory succeeds; reading it fails here.
    if (!in || (in.peek(), in.bad()) || fs::is_directory(path)) {
      out.push_back({path.string(), "", "cannot be read"});
      return;
    }
    text << in.rdbuf();
    merge(tree, parse_toml(text.str(), path.string(), env, out));
  };
  if (!from.file.empty()) {
    tree.where = from.file.string();
    read_file(from.file);
    std::error_code ec;
    std::vector<fs::path> drop_ins;
    for (fs::directory_iterator it(from.file.parent_path() / "modules.d", ec), end; !ec && it != end;
         it.increment(ec)) {
      const auto& p = it->path();
      if (p.extension() == ".toml" && !p.filename().string().starts_with('.')) drop_ins.push_back(p);
    }
    std::sort(drop_ins.begin(), drop_ins.end());
    for (const auto& p : drop_ins) read_file(p);
  }
  apply_environment(tree, env, known, out);
  for (const auto& o : from.overrides) apply_override(tree, o, out);
  return tree;
}

}  // namespace ry::app::config
