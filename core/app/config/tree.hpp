// The configuration as written: a tree in which every value records where it was set, so that an error can name a
// line, a variable or a command-line option.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ry::app::config {

// The path of keys to a value; list items are "[0]", "[1]", ...
using key_path = std::vector<std::string>;
// Whether a key may contain this character without quotes.
bool is_bare(char c) noexcept;
// The path as text: "http.listen", "runs.models.\"runyard/basic\"", "http.cors.origins[0]".
std::string to_text(const key_path& path);
// Parses a dotted key; parts may be quoted: runs.models."a.b". nullopt: malformed or empty.
std::optional<key_path> parse_key(std::string_view text);

// The text as one line of valid UTF-8 without control characters, which are escaped: "\x00", "\n". Invalid bytes are
// escaped, too.
std::string printable_line(std::string_view text);

// A fault and its position. format() gives "conf/runyard.toml:12:3: http.listen: <message>", as a printable line.
struct problem {
  std::string where;  // "conf/runyard.toml:12:3", "environment RUNYARD_HTTP__LISTEN", "--set"
  std::string path;  // empty if it concerns no single key
  std::string message;
  // An environment variable that matches no setting. It may belong to another program, so it does not prevent the
  // start.
  bool warning = false;
  std::string format() const;
};
using problems = std::vector<problem>;

struct node {
  // The constructor keeps this from being an aggregate: for an aggregate, clang 14 needs the complete
  // std::pair<std::string, node> too early.
  node() = default;
  enum class kind { scalar, table, list };
  kind is = kind::scalar;
  boost::json::value scalar;  // string, int64, double or bool
  std::vector<std::pair<std::string, node>> members;  // of a table, in order of appearance
  std::vector<node> items;  // of a list
  std::string where;
  // The original text of a value from the environment, the command line or ${...}. The schema check parses it again
  // for the expected type ("8080" as a number, "0042" as a string).
  std::optional<std::string> loose;
  // A fault in this value was already reported (e.g. a variable that is not set), so it is not checked.
  bool unresolved = false;

  node* find(std::string_view key) noexcept;
  const node* find(std::string_view key) const noexcept;
};

// Whether the node has at least one value and environment variables set all of them.
bool is_only_environment(const node& n);
// Merges `over` into `base`: tables are merged, other values are replaced.
void merge(node& base, node over);
// Sets one value and creates the tables on its path. A part of the path that is not a table is replaced.
void set(node& base, const key_path& path, node value);

}  // namespace ry::app::config
