// Settings: TOML files, command line overrides, environment variables, and validation against a schema. Accepted
// settings obey the schema, errors have a location, and secrets are masked in output and redacted in logs.
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
  fuzz::check(http.at("tls").is_bool() && (http.at("listen").is_string() || http.at("listen").is_array()),
              "values have the types of the schema");
  const double timeout = http.at("timeout_seconds").to_number<double>();
  fuzz::check(timeout >= 0.5 && timeout <= 3600, "numbers are within their bounds");
  fuzz::check(o.at("mode") == "local" || o.at("mode") == "production", "an enum value is one of the choices");
  if (const auto* port = o.if_contains("port"))
    fuzz::check(port->as_int64() >= 1 && port->as_int64() <= 65535, "an integer is within its bounds");
  if (const auto* name = o.if_contains("name")) {
    fuzz::check(characters(*name) >= 1 && characters(*name) <= 8, "strings are within their length bounds");
    for (const char c : name->get_string()) fuzz::check(c >= 'a' && c <= 'z', "strings match their pattern");
  }
  if (const auto* keys = o.if_contains("keys"))
    fuzz::check(keys->as_array().size() <= 3, "arrays are within their size bounds");
  if (const auto* models = o.if_contains("models"))
    for (const auto& m : models->as_object())
      fuzz::check(m.value().as_object().at("cost").as_int64() >= 0, "required members are present");
}

void check_secrets(const json::value& value) {
  const json::value masked_value = masked(value, schema());
  const auto* o = masked_value.if_object();
  if (o == nullptr) return;
  for (const auto* name : {"key", "keys"})
    if (const auto* v = o->if_contains(name)) {
      const auto hidden = [](const json::value& s) { return s.get_string().empty() || s == "********"; };
      if (v->is_string()) fuzz::check(hidden(*v), "a secret is masked");
      if (const auto* list = v->if_array())
        for (const auto& item : *list) fuzz::check(item.is_null() || hidden(item), "secrets in lists are masked");
    }
  const auto redacted = secrets(value, schema());
  if (const auto* key = value.get_object().if_contains("key"); key && key->is_string() && !key->get_string().empty())
    fuzz::check(std::find(redacted.begin(), redacted.end(), std::string(key->get_string())) != redacted.end(),
                "secrets are redacted in logs");
}

// `text` is the content of a file: the location of a problem must be in it.
void check_locations(const problems& all, std::string_view text) {
  const long lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const auto& p : all) {
    fuzz::check(!p.message.empty() && !p.where.empty() && !p.format().empty(),
                "a problem has a message and a location");
    if (p.where.starts_with("f:"))
      fuzz::check(std::atol(p.where.c_str() + 2) <= lines, "the line number is in the file");
  }
}

void check_keys(const node& n, key_path& path) {
  fuzz::check(n.is == node::kind::table || n.members.empty(), "only tables have members");
  for (const auto& [key, value] : n.members) {
    path.push_back(key);
    const bool plain = std::none_of(path.begin(), path.end(), [](const std::string& part) {
      return part.empty() || part.find('"') != part.npos || part.front() == '[';
    });
    if (plain) fuzz::check(parse_key(to_text(path)) == path, "formatting and parsing a key round-trips");
    check_keys(value, path);
    path.pop_back();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const environment env{{"SET", "value"}, {"NUMBER", "8080"}, {"EMPTY", ""}};
  problems source_problems;
  node tree;
  tree.is = node::kind::table;
  tree.where = "a test";
  if (choice % 4 == 0) {
    tree = parse_toml(input, "f", env, source_problems);
  } else if (choice % 4 == 1) {  // --set, one a line
    std::string_view rest = input;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      apply_override(tree, line, source_problems);
    }
  } else if (choice % 4 == 2) {  // variables over a file, NAME=value, one a line
    tree = parse_toml("[http]\ntls = false\n[models.\"a/b\"]\ncost = 1\n", "f", env, source_problems);
    environment variables;
    std::string_view rest = input;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const auto eq = std::min(line.find('='), line.size());
      variables["RUNYARD_" + std::string(line.substr(0, eq))] = line.substr(std::min(eq + 1, line.size()));
    }
    apply_environment(
        tree, variables,
        {{"http", "port", "mode", "name", "key", "keys", "url", "models", "free"}, {"http.listen", "port"}},
        source_problems);
  } else {  // a module's schema
    boost::system::error_code bad;
    const auto v = json::parse(input, bad);
    // Patterns are compiled by std::regex, which is not safe for untrusted patterns.
    if (bad || input.find("pattern") != input.npos || input.find('\\') != input.npos || !schema_fault(v).empty())
      return 0;
    (void)check(tree, v, {}, source_problems);
    check_locations(source_problems, {});
    return 0;
  }
  check_locations(source_problems, input);
  key_path path;
  check_keys(tree, path);
  problems schema_problems;
  const json::value value = check(tree, schema(), {}, schema_problems);
  check_locations(schema_problems, input);
  if (source_problems.empty() && schema_problems.empty()) {
    check_accepted(value.as_object());
    check_secrets(value);
  }
  return 0;
}
