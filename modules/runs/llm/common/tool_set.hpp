// Converts the tools of a request to a provider's rules, and translates returned calls back. No I/O.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "request.hpp"
#include "tool_schema.hpp"

namespace llm {

struct tool_rules {
  enum class name_start { any, letter };  // letter: or underscore
  name_start names = name_start::any;
  schema_dialect schemas = schema_dialect::full;
  std::size_t count = 0;  // tools of one request; 0: no limit
  std::size_t description_chars = 0;  // in UTF-16 units; 0: no limit
};

// The renamed tools and properties of one request. Immutable for the lifetime of a call.
class call_names {
 public:
  struct tool {
    std::string original_name;
    name_map original_properties;
  };
  std::map<std::string, tool, std::less<>> renamed;  // by the provider's name

  std::string name(std::string_view wire) const;
  // If the text is not JSON, returns it unchanged.
  std::string arguments(std::string_view wire_name, std::string_view arguments_json) const;
};

struct offered_tool {
  std::string name, description;
  boost::json::object parameters;
};

class tool_set {
 public:
  // Skips tools that the provider's schemas cannot express, and tools above the limit except the one that `tool_choice`
  // names; reports them in `notices`.
  tool_set(const boost::json::object& request, const tool_rules& rules, std::vector<notice>& notices);

  const std::vector<offered_tool>& offered() const noexcept { return offered_; }
  bool offers(std::string_view wire_name) const;
  // For calls of the history, including tools that are no longer offered.
  std::string wire_name(std::string_view stored);
  boost::json::object wire_arguments(std::string_view stored, boost::json::object arguments) const;
  // nullptr: nothing was renamed.
  std::shared_ptr<const call_names> names() const;

 private:
  const tool_rules rules_;
  std::vector<offered_tool> offered_;
  std::map<std::string, std::string, std::less<>> wire_names_;  // by the stored name
  std::set<std::string, std::less<>> taken_names_;
  std::map<std::string, name_map, std::less<>> new_properties_;  // by the stored name: original -> new
  call_names call_names_;
};

// The neutral `tool_choice`: mode "auto", "none", "required" or "tool"; empty if the request has none.
struct tool_choice {
  std::string mode, name;
};
// Omits a choice that cannot be satisfied, and reports it.
tool_choice read_tool_choice(const boost::json::object& request, tool_set& tools, std::vector<notice>& notices);

// Truncates after a word to at most `max_units` UTF-16 units (0: no limit), including the final "…".
std::string shorten_description(std::string_view text, std::size_t max_units);

}  // namespace llm
