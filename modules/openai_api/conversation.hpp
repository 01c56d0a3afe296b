// The messages of a request, and the fields of runs/1 that they become. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attachment.hpp"

namespace openai_api {

namespace json = boost::json;

// A part of a start request of runs/1.
struct start_input {
  std::vector<std::pair<std::string, std::string>> fields;  // prompt, history, tool_results
  std::vector<attachment> files;
};

// Runs with consecutive answers in a thread: the parts of one answer, or an answer that does not match the run's schema
// and the corrected one.
std::set<std::string> runs_with_several_answers(const std::vector<json::object>& messages);
// Replaces all answers without calls of a run with its output.
void keep_output(std::vector<json::object>& messages, std::string_view run, std::string_view output);

class conversation {
 public:
  void add_system(std::string_view text);
  void add_user(std::string text, std::vector<attachment> files = {});
  void add_assistant(std::string_view text);
  // `arguments`: JSON text. `path` names the call in messages.
  void add_call(std::string id, std::string name, std::string_view arguments, const std::string& path);
  void add_output(std::string call_id, std::string text, std::vector<attachment> files = {});
  // A message of a thread, as runs/1 returns it.
  void add_stored(const json::object& message);
  // Appends the messages of another conversation.
  void append(conversation other);

  const std::string& system() const { return system_; }
  bool empty() const { return turns_.empty(); }
  // Whether there are messages of the assistant, which an existing thread cannot accept.
  bool has_answers() const;

  // For a start on a new thread: the last user messages are the prompt, the others the history. `param` names the
  // member in messages.
  start_input for_new_thread(const std::string& param) &&;
  // For a start on an existing thread. Requires !has_answers().
  start_input for_thread(const std::string& param) &&;

 private:
  struct call {
    std::string id, name;
    json::object arguments;
  };
  struct turn {
    enum class role { user, assistant, tool } of = role::user;
    std::string text{};
    std::vector<call> calls{};  // assistant
    std::string call_id{};  // tool
    bool failed = false;  // tool
    std::vector<attachment> files{};
  };
  turn& assistant();
  std::size_t begin_of_prompt() const;
  // Joins the last user messages.
  std::string take_prompt(std::size_t begin, std::vector<attachment>& files);
  json::array take_history(std::size_t end, std::vector<attachment>& files, const std::string& param);

  std::string system_;
  std::vector<turn> turns_;
};

}  // namespace openai_api
