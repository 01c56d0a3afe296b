// Tool search: selects the tools of a request if the agent has more than its model accepts, and lets the model find the
// others. No I/O; depends only on the persisted messages of the thread, so every worker selects the same tools.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/conversation.hpp"

namespace runs {

// Splits a text into search words in lower case. Parts of compound names ("createIssue", "create_issue") are words, and
// so is the camel-case compound itself ("createissue"). Scripts without spaces yield overlapping pairs of characters.
std::vector<std::string> search_words(std::string_view text);

struct searchable_tool {
  std::string name, description;
  std::vector<std::string> parameters;  // their names
};

// Ranks tools by BM25 over the words of names, descriptions and parameter names. A word also matches longer and shorter
// words with the same prefix, with less weight ("issue", "issues").
class tool_index {
 public:
  explicit tool_index(std::vector<searchable_tool> tools);

  // Indices of the matching tools, best first; ties in the order of their names.
  std::vector<std::size_t> search(std::string_view query, std::size_t max_results) const;
  // The tool with that name, or the only one whose name differs only in case. nullopt: none.
  std::optional<std::size_t> find(std::string_view name) const;
  const searchable_tool& at(std::size_t i) const { return tools_[i]; }
  std::size_t size() const { return tools_.size(); }

 private:
  struct posting {
    std::size_t tool;
    double weight;  // occurrences, by field
  };
  void add_words(std::size_t tool, std::string_view text, double weight);

  std::vector<searchable_tool> tools_;
  std::map<std::string, std::vector<posting>, std::less<>> postings_;  // by word; postings in the order of tools
  std::vector<double> lengths_;
  double mean_length_ = 1;
};

// The tools that this thread has used or found, latest first, from calls, results of find_tools, and the summary that
// replaces earlier messages. At most `max_tools_in_use`.
inline constexpr std::size_t max_tools_in_use = 256;
std::vector<std::string> tools_in_use(const std::vector<chat_message>& messages);

struct tool_selection {
  std::size_t tools = 0;  // number of the agent's tools
  std::size_t built_in = 0;  // number of built-in tools, which come first
  std::vector<std::size_t> in_use;  // indices without duplicates, latest first
  std::optional<std::size_t> chosen;  // the tool that tool_choice names
  std::size_t limit = 0;  // maximum number of tools of one request; 0: no limit
  std::size_t search_from = 0;  // the setting tool_search_from; 0: only above the limit
};
// Whether the request contains find_tools instead of some tools.
bool needs_tool_search(std::size_t tools, std::size_t limit, std::size_t search_from);
// The tools that the request contains in addition to find_tools, as ascending indices. Requires needs_tool_search().
std::vector<std::size_t> select_tools(const tool_selection& s);

}  // namespace runs
