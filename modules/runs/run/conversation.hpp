// The messages of a thread in the neutral form of llm.provider/1, and the next action of a run: the decisions of the
// executor, without I/O. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <boost/json/parse_options.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/question.hpp"

namespace runs {

enum class belongs { to_this_run, to_an_earlier_run };

struct chat_message {
  std::string role;  // user, assistant, tool; or summary of all earlier messages, which is sent as a user message
  std::string body;  // JSON object, one line
  belongs run = belongs::to_an_earlier_run;
  std::int64_t position = 0;  // in the thread, if it was read from there
};

struct tool_call {
  std::string id, name;
  std::string arguments;  // JSON object text; "{}" if the model's text was not one
  bool malformed = false;  // the model's arguments were not a JSON object
  bool without_arguments = false;  // the model's arguments were empty
  bool not_begun = false;  // no earlier worker has begun the call
  bool approved = false;  // a person has approved the call
  int round = 0;  // how often the call has requested input so far
  // The person's answers to the latest requests and the tool's state: input_json of agent.tools/1; empty: the call begins.
  std::string input = {};
};

// Input that a call requests from the person before it can continue.
struct requested_input {
  struct request {
    std::string key;
    question asked;
    std::string problem;  // why the question cannot be asked; empty: it can
  };
  std::vector<request> requests;
  std::string state;  // opaque, for the source of the tool
};

struct tool_outcome {
  std::string content;
  bool is_error = false;
  std::string images = {};  // content parts of the neutral form, separated by commas
  std::vector<std::string> loaded_tools = {};  // found by find_tools, for the next requests
  std::shared_ptr<const requested_input> input = nullptr;  // the call has no result yet
};

// Parse options for message bodies. Arguments of calls may have 32 levels, so bodies exceed the default depth limit.
inline boost::json::parse_options body_options() {
  boost::json::parse_options o;
  o.max_depth = 64;
  return o;
}
// JSON on one line that every parser accepts: numbers beyond 1e308, which might be serialized as Infinity, become
// 1e308. `v` was parsed from JSON text.
std::string one_line(boost::json::value v);
std::string user_body(std::string_view text);
// `finish` becomes the member of that name, the reason why an answer is incomplete; empty: no member.
std::string assistant_body(std::string_view text, const std::vector<tool_call>& calls, std::string_view finish = {});
// Adds a member "reasoning", a JSON array; empty: no member.
std::string with_reasoning(std::string body, std::string_view reasoning_json);
std::string tool_body(const tool_call& call, const tool_outcome& outcome);
// Adds a member "loaded_tools", which build_request() omits; without names, the body is unchanged.
std::string with_loaded_tools(std::string body, const std::vector<std::string>& names);
// The names in "loaded_tools" of a tool or summary message; usually none.
std::vector<std::string> loaded_tools_of(std::string_view body);
// The text of a body's "content" or of its text parts; empty if there is none.
std::string content_of(std::string_view body);
std::vector<tool_call> calls_of(std::string_view body);
// Whether the model has not finished the text: it was truncated at the output limit, or the provider paused the turn.
// The assistant message that follows, if any, continues it.
bool is_unfinished(const chat_message& m);
// The id of the call that a tool message answers; empty for other messages.
std::string answered_id(const chat_message& m);

// Reads a call as the model sent it. Ids that are empty, duplicate or longer than 256 bytes are replaced; longer names
// are truncated.
tool_call read_tool_call(std::string_view id, std::string_view name, std::string_view arguments,
                         const std::vector<tool_call>& before);
// The result for the model if the call must not be made; nullopt: it can be made. `truncated`: the answer was truncated
// at the output limit, so arguments may be incomplete.
enum class answer_ending { finished, truncated };
std::optional<tool_outcome> refuse_call(const tool_call& call, answer_ending end);

enum class next_kind { call_model, run_tools, finished };
struct next_action {
  next_kind kind = next_kind::call_model;
  std::vector<tool_call> calls;  // run_tools: calls without a result
};
// Depends only on the persisted messages, so every worker makes the same decision.
next_action decide(const std::vector<chat_message>& messages);
// How often the answer that this run has to continue has been truncated or paused so far.
struct unfinished_parts {
  std::int64_t truncated = 0, paused = 0;
  bool any() const { return truncated + paused > 0; }
};
unfinished_parts parts_so_far(const std::vector<chat_message>& messages);
// The text of this run's last answer: of a complete one with the parts before it, or of the parts that the model has to
// continue. Empty if the last message is not an answer of this run.
std::string answer_so_far(const std::vector<chat_message>& messages);

// The role of a stored message that asks the model to correct an output that does not match the run's schema. Models get
// it as a message of the user; readers of the thread do not get it.
inline constexpr std::string_view repair_role = "repair";
// Its body.
std::string repair_body(std::string_view errors);
// Whether this run has asked for a correction. A run asks once, so the answer must survive a summary of the messages.
bool has_asked_for_repair(const std::vector<chat_message>& messages);
// Adds a member "repair", which build_request() omits, to the body of a summary of such messages.
std::string with_repair_mark(std::string body);

struct request_parts {
  std::string_view model;
  std::string_view system;
  std::string_view tools_json;  // array, or empty
  std::int64_t max_output_tokens = 0;
  std::string_view parameters;  // further members of the request, separated by commas
  std::string_view output_schema = {};  // object, or empty
};
// The request_json of llm.provider/1. Adds results to calls of stopped or failed runs that have none, because
// providers require them. Joins the parts of a continued answer into one message. Adds a user message that requests the
// rest of an unfinished answer.
std::string build_request(const request_parts& parts, const std::vector<chat_message>& messages);

}  // namespace runs
