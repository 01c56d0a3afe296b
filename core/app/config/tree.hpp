// The configuration as written: a tree in which every value knows where it was set, so that a
// refusal can point at a line, a variable or a command-line option.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ry::app::config {

// One key on the way to a value; array elements count as "[0]", "[1]", ...
using key_path = std::vector<std::string>;
// A character of keys that need no quotes.
bool is_bare(char c) noexcept;
// "http.listen", "runs.models.\"runyard/basic\"", "http.cors.origins[0]".
std::string to_text(const key_path& path);
// Reads dotted keys; parts may be quoted: runs.models."a.b". nullopt: malformed or empty.
std::optional<key_path> parse_key(std::string_view text);

// What is wrong, and where. format() gives "conf/runyard.toml:12:3: http.listen: <message>".
struct problem {
  std::string where;  // "conf/runyard.toml:12:3", "environment RUNYARD_HTTP__LISTEN", "--set"
  std::string path;   // empty when it concerns no single key
  std::string message;
  // An environment variable that names no setting: it may belong to another program, so it prevents nothing.
  bool warning = false;
  std::string format() const;
};
using problems = std::vector<problem>;

struct node {
  // The constructor makes this no aggregate: for an aggregate, clang 14 needs the complete
  // std::pair<std::string, node> too early.
  node() = default;
  enum class kind { scalar, table, list };
  kind is = kind::scalar;
  boost::json::value scalar;                          // string, int64, double or bool
  std::vector<std::pair<std::string, node>> members;  // of a table, in order of appearance
  std::vector<node> items;                            // of a list
  std::string where;
  // The text as given, for values from the environment, the command line and ${...}: whoever knows
  // the wanted type may read it again ("8080" as a number, "0042" as a string).
  std::optional<std::string> loose;
  // Something is wrong with it that was said already (a variable that is not set, say): not looked at.
  bool unresolved = false;

  node* find(std::string_view key) noexcept;
  const node* find(std::string_view key) const noexcept;
};

// Every value in it, and there is one at least, was set by an environment variable.
bool is_only_environment(const node& n);
// Lays `over` on `base`: tables are merged, anything else is replaced.
void merge(node& base, node over);
// Sets one value, making tables on the way. A part of the path that is no table is replaced.
void set(node& base, const key_path& path, node value);

}  // namespace ry::app::config
