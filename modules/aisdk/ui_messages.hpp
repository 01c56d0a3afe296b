// Reads UI messages of the AI SDK: the prompt, files and tool outputs of a turn, and the history of a new thread. Pure.
//
// All functions throw a 422 that names the member if a message is malformed. Parts of unknown types are ignored, because
// applications define their own (`data-*`).
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace aisdk {

struct file_part {
  std::string name, media_type, content;
};

// The client's output of a call of its own tool.
struct tool_output {
  std::string call_id, content;
  bool is_error = false;
};

// The user's decision about a call that needs an approval.
struct approval_response {
  std::string place;  // of the part in the request
  std::string id;  // of the approval
  bool approved = false;
  std::string reason;  // may be empty
};

// Ids of what the client shows of the last step of a message.
struct shown_parts {
  std::set<std::string, std::less<>> calls, outputs, approvals;
};

// What the newest messages of a request add to the chat.
struct turn {
  std::string prompt;  // empty if the newest message is an assistant message
  std::vector<file_part> files;
  std::string instructions;  // the texts of system messages
  // Of the newest assistant message's last step. The thread may have some of them already.
  std::vector<tool_output> outputs;
  // The newest message is an assistant message: the response continues it under its id.
  bool continues_message = false;
  std::string message_id;  // of that message; may be empty
  // Of that message's last step.
  std::vector<approval_response> decisions;
  shown_parts shown;
};

// `messages` must not be empty.
turn read_turn(const boost::json::array& messages);

// The messages before the newest user message, or all if the newest is an assistant message, in the form of
// RY_RUN_FIELD_HISTORY.
boost::json::array history_of(const boost::json::array& messages);

// The value of a tool's output in the messages of a model: a string as it is, other values as JSON.
std::string output_text(const boost::json::value& v);
// The reverse, for outputs that the thread stores as text: an object or array if the text is one, otherwise the text.
boost::json::value output_value(std::string_view text);

}  // namespace aisdk
