// Settings: TOML files, command line overrides, environment variables, and validation against a schema. Accepted settings
// obey the schema, errors have a location, and secrets never appear in them.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

#include "check.hpp"
#include "core/app/config/schema.hpp"
#include "core/app/config/sources.hpp"

namespace {

using namespace ry::app::config;
namespace json = boost::json;

const json::value& schema() {
  static const json::value it = json::parse(R"({"type":"object","properties":{
    "http":{"type":"object","properties":{
      "listen":{"type":["string","array"],"items":{"type":"string"},"default":"127.0.0.1:8080"},
      "timeout_seconds":{"type":"number","minimum":0.5,"maximum":3600,"default":30},
      "tls":{"type":"boolean","default":false}}},
    "port":{"type":"integer","minimum":1,"maximum":65535},
    "mode":{"type":"string","enum":["local","production"],"default":"local"},
    "name":{"type":"string","minLength":1,"maxLength":8,"pattern":"^[a-z]+$"},
    "key":{"type":"string","secret":true},
    "keys":{"type":"array","maxItems":3,"items":{"type":"string","secret":true}},
    "url":{"type":"string"},
    "models":{"type":"object","additionalProperties":{"type":"object","required":["cost"],
      "properties":{"cost":{"type":"integer","minimum":0},"secret":{"type":"string","secret":true}}}},
    "free":{}}})");
  return it;
}

std::size_t characters(const json::value& v) {
  const auto& s = v.get_string();
  return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void check_accepted(const json::object& o) {
  const auto& http = o.at("http").as_object();
  fuzz::promise(http.at("tls").is_bool() && (http.at("listen").is_string() || http.at("listen").is_array()),
                "types are kept");
  const double timeout = http.at("timeout_seconds").to_number<double>();
  fuzz::promise(timeout >= 0.5 && timeout <= 3600, "bounds of numbers are kept");
  fuzz::promise(o.at("mode") == "local" || o.at("mode") == "production", "choices are kept");
  if (const auto* port = o.if_contains("port"))
    fuzz::promise(port->as_int64() >= 1 && port->as_int64() <= 65535, "an integer is one");
  if (const auto* name = o.if_contains("name")) {
    fuzz::promise(characters(*name) >= 1 && characters(*name) <= 8, "bounds of texts are kept");
    for (const char c : name->get_string()) fuzz::promise(c >= 'a' && c <= 'z', "patterns are kept");
  }
  if (const auto* keys = o.if_contains("keys")) fuzz::promise(keys->as_array().size() <= 3, "bounds of lists are kept");
  if (const auto* models = o.if_contains("models"))
    for (const auto& m : models->as_object())
      fuzz::promise(m.value().as_object().at("cost").as_int64() >= 0, "what is required is there");
}

void check_secrets(const json::value& value) {
  const json::value shown = masked(value, schema());
  const auto* o = shown.if_object();
  if (o == nullptr) return;
  for (const auto* name : {"key", "keys"})
    if (const auto* v = o->if_contains(name)) {
      const auto hidden = [](const json::value& s) { return s.get_string().empty() || s == "********"; };
      if (v->is_string()) fuzz::promise(hidden(*v), "a secret is masked");
      if (const auto* list = v->if_array())
        for (const auto& item : *list) fuzz::promise(item.is_null() || hidden(item), "secrets in lists are masked");
    }
  const auto masked = secrets(value, schema());
  if (const auto* key = value.get_object().if_contains("key"); key && key->is_string() && !key->get_string().empty())
    fuzz::promise(std::find(masked.begin(), masked.end(), std::string(key->get_string())) != masked.end(),
                  "secrets are redacted in logs");
}

// The text of a file: where it is wrong must be a place in it.
void check_places(const problems& all, std::string_view text) {
  const long lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const auto& p : all) {
    fuzz::promise(!p.message.empty() && !p.where.empty() && !p.format().empty(), "a fault says what and where");
    if (p.where.starts_with("f:")) fuzz::promise(std::atol(p.where.c_str() + 2) <= lines, "a line is one of the file");
  }
}

void check_keys(const node& n, key_path& path) {
  fuzz::promise(n.is == node::kind::table || n.members.empty(), "only tables have members");
  for (const auto& [key, value] : n.members) {
    path.push_back(key);
    const bool plain = std::none_of(path.begin(), path.end(), [](const std::string& part) {
      return part.empty() || part.find('"') != part.npos || part.front() == '[';
    });
    if (plain) fuzz::promise(parse_key(to_text(path)) == path, "a key is read as it is shown");
    check_keys(value, path);
    path.pop_back();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const environment env{{"SET", "value"}, {"NUMBER", "8080"}, {"EMPTY", ""}};
  problems faults;
  node tree;
  tree.is = node::kind::table;
  tree.where = "a test";
  if (choice % 4 == 0) {
    tree = parse_toml(input, "f", env, faults);
  } else if (choice % 4 == 1) {  // --set, one a line
    std::string_view rest = input;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      apply_override(tree, line, faults);
    }
  } else if (choice % 4 == 2) {  // variables over a file, NAME=value, one a line
    tree = parse_toml("[http]\ntls = false\n[models.\"a/b\"]\ncost = 1\n", "f", env, faults);
    environment given;
    std::string_view rest = input;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const auto eq = std::min(line.find('='), line.size());
      given["RUNYARD_" + std::string(line.substr(0, eq))] = line.substr(std::min(eq + 1, line.size()));
    }
    apply_environment(
        tree, given,
        {{"http", "port", "mode", "name", "key", "keys", "url", "models", "free"}, {"http.listen", "port"}}, faults);
  } else {  // a module's schema
    boost::system::error_code bad;
    const auto v = json::parse(input, bad);
    // Patterns are compiled by std::regex, which no stranger may write.
    if (bad || input.find("pattern") != input.npos || input.find('\\') != input.npos || !schema_fault(v).empty())
      return 0;
    (void)check(tree, v, {}, faults);
    check_places(faults, {});
    return 0;
  }
  check_places(faults, input);
  key_path path;
  check_keys(tree, path);
  problems refused;
  const json::value value = check(tree, schema(), {}, refused);
  check_places(refused, input);
  if (faults.empty() && refused.empty()) {
    check_accepted(value.as_object());
    check_secrets(value);
  }
  return 0;
}
