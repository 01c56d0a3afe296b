// Assembles the tool calls of a streamed chat completion. Providers differ widely: index, id and name may be missing,
// the same for all calls or different in each chunk; arguments may arrive in parts, complete, twice, or as an object.
// No I/O.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llm {

// Accumulates the arguments of one call and detects the end of their object.
class argument_accumulator {
 public:
  void add(std::string_view piece);
  bool blank() const { return first_ == std::string_view::npos && trailing_.empty(); }
  bool complete() const { return closed_; }
  std::size_t size() const { return text_.size() + trailing_.size(); }
  // Whether `other` repeats the object, extends it, or replaces an empty object.
  bool is_repeated_by(std::string_view other) const;
  // A single object if it arrived more than once or after an empty one; otherwise everything that arrived.
  std::string take();

 private:
  std::string text_, trailing_;  // behind_: text after the end of the object
  std::size_t first_ = std::string_view::npos;  // first character of text_ that is not blank
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false, object_ = false, closed_ = false;
};

// Whether the text means "no arguments": blank, "{}", or "null", "[]" or an empty JSON string, as some servers send.
bool means_no_arguments(std::string_view text);
bool is_complete_object(std::string_view text);
// The arguments for the tool: "{}" if none arrived, but "" if they may have been truncated. Lone surrogates become
// U+FFFD.
std::string final_arguments(std::string taken, bool truncated);

struct assembled_call {
  std::string id, name, arguments;
  boost::json::object extra;  // extra_content, which later requests must return with the call
};

class tool_call_assembly {
 public:
  static constexpr std::size_t max_calls = 128, max_bytes = 16 * 1024 * 1024;  // bytes: limit for all calls together

  // Adds the elements of one delta's "tool_calls". Returns the bytes of arguments; nullopt: too many calls or too
  // large.
  std::optional<std::size_t> add(const boost::json::array& calls);
  // Adds the older "function_call" of a delta.
  std::optional<std::size_t> add_function(const boost::json::object& function);

  bool empty() const { return calls_.empty(); }
  // Returns all calls that have a name. Ids are unique; a missing or duplicate id is replaced with nine letters and
  // digits derived from `seed` and the call. Missing arguments are "{}", but "" for the last call of a truncated answer
  // (not `finished`): they may be lost.
  std::vector<assembled_call> take(std::string_view seed, bool finished);

 private:
  struct piece {
    std::optional<std::int64_t> index;
    std::string_view id, name, arguments;
    bool is_complete = false;  // the arguments alone are a complete object
    std::size_t position = 0;  // in its delta
  };
  struct call {
    std::optional<std::int64_t> index;
    std::string id, name;
    std::size_t delta = 0;  // delta in which the call began
    argument_accumulator arguments;
    boost::json::object extra;
  };

  std::optional<std::size_t> add(const boost::json::object& o, std::size_t position);
  std::optional<std::size_t> add(const piece& p, const boost::json::object* extra);
  call* find_call_for(const piece& p);
  bool starts_new_call(const call& c, const piece& p) const;

  std::vector<call> calls_;
  std::size_t deltas_ = 0, bytes_ = 0;
};

}  // namespace llm
