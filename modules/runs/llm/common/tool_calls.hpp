// Puts the tool calls of a streamed chat completion together. Providers disagree about nearly everything here: the index
// may be missing, the same for all calls or another in each piece; so may id and name; arguments may come in pieces,
// whole, twice, or as an object. Pure.
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

// The arguments of one call as they come: knows where their object ends.
class argument_text {
 public:
  void add(std::string_view piece);
  bool blank() const { return first_ == std::string_view::npos && behind_.empty(); }
  bool complete() const { return closed_; }
  std::size_t size() const { return text_.size() + behind_.size(); }
  // Whether `other` is the same object once more, the same with more in it, or the one that an empty object stood for.
  bool is_said_again_by(std::string_view other) const;
  // The object alone when it was given more than once, or after an empty one; else everything that came.
  std::string take();

 private:
  std::string text_, behind_;  // behind_: what came after the object was complete
  std::size_t first_ = std::string_view::npos;  // of text_ that is not blank
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false, object_ = false, closed_ = false;
};

// Arguments that say none: blank, "{}", and what some servers write in its place: "null", "[]", an empty JSON string.
bool is_no_arguments(std::string_view text);
bool is_whole_object(std::string_view text);
// The arguments that came, for the tool: none at all are "{}", but "" when they may have been cut off. Halves of surrogate
// pairs read as U+FFFD.
std::string settled_arguments(std::string taken, bool cut);

struct assembled_call {
  std::string id, name, arguments;
  boost::json::object extra;  // extra_content: what has to come back with the call
};

class tool_call_assembly {
 public:
  static constexpr std::size_t most_calls = 128, most_bytes = 16 * 1024 * 1024;  // bytes: of all calls

  // The elements of one delta's "tool_calls". Returns the bytes of arguments; nullopt: too many calls or too large.
  std::optional<std::size_t> add(const boost::json::array& calls);
  // The older "function_call" of a delta.
  std::optional<std::size_t> add_function(const boost::json::object& function);

  bool empty() const { return calls_.empty(); }
  // All calls that have a name. Their ids are unique; one that is missing or taken is replaced by nine letters and
  // digits that follow from `seed` and the call. No arguments are "{}", but "" for the last call of an answer that was cut
  // off (not `finished`): they may be missing.
  std::vector<assembled_call> take(std::string_view seed, bool finished);

 private:
  struct piece {
    std::optional<std::int64_t> index;
    std::string_view id, name, arguments;
    bool whole = false;        // the arguments are a complete object by themselves
    std::size_t position = 0;  // in its delta
  };
  struct call {
    std::optional<std::int64_t> index;
    std::string id, name;
    std::size_t delta = 0;  // that it began in
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
