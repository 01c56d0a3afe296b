// Assembles the tool calls of a streamed chat completion. Providers differ in nearly everything: the index may be
// missing, the same for all calls or different in each chunk; so may id and name; arguments may arrive in parts, whole,
// twice, or as an object. Pure.
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

// The arguments of one call as they arrive; detects the end of their object.
class argument_text {
 public:
  void add(std::string_view piece);
  bool blank() const { return first_ == std::string_view::npos && behind_.empty(); }
  bool complete() const { return closed_; }
  std::size_t size() const { return text_.size() + behind_.size(); }
  // Whether `other` repeats the object, extends it, or replaces an empty object.
  bool is_said_again_by(std::string_view other) const;
  // A single object if it arrived more than once or after an empty one; otherwise everything that arrived.
  std::string take();

 private:
  std::string text_, behind_;  // behind_: text after the end of the object
  std::size_t first_ = std::string_view::npos;  // first character of text_ that is not blank
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false, object_ = false, closed_ = false;
};

// Whether the text means "no arguments": blank, "{}", or "null", "[]" or an empty JSON string, as some servers write.
bool is_no_arguments(std::string_view text);
bool is_whole_object(std::string_view text);
// The arguments for the tool: "{}" if none arrived, but "" if they may have been truncated. Lone surrogates become
// U+FFFD.
std::string settled_arguments(std::string taken, bool cut);

struct assembled_call {
  std::string id, name, arguments;
  boost::json::object extra;  // extra_content: must be returned with the call
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
  // All calls that have a name. Ids are unique; a missing or duplicate id is replaced by nine letters and digits
  // derived from `seed` and the call. Missing arguments are "{}", but "" for the last call of a truncated answer (not
  // `finished`): they may be lost.
  std::vector<assembled_call> take(std::string_view seed, bool finished);

 private:
  struct piece {
    std::optional<std::int64_t> index;
    std::string_view id, name, arguments;
    bool whole = false;  // the arguments alone are a complete object
    std::size_t position = 0;  // in its delta
  };
  struct call {
    std::optional<std::int64_t> index;
    std::string id, name;
    std::size_t delta = 0;  // delta in which the call began
    argument_text arguments;
    boost::json::object extra;
  };

  std::optional<std::size_t> add(const boost::json::object& o, std::size_t position);
  std::optional<std::size_t> add(const piece& p, const boost::json::object* extra);
  call* owner(const piece& p);
  bool begins_another(const call& c, const piece& p) const;

  std::vector<call> calls_;
  std::size_t deltas_ = 0, bytes_ = 0;
};

}  // namespace llm
