// The messages of a thread in the neutral form of llm.provider/1, and what a run has to do next: the
// decisions of the executor without its I/O. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <boost/json/parse_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

enum class belongs { to_this_run, to_an_earlier_run };

struct chat_message {
  std::string role;  // user, assistant, tool; summary: of all that was said before, as a message of the user
  std::string body;  // JSON object, one line
  belongs run = belongs::to_an_earlier_run;
  std::int64_t position = 0;  // in the thread, when it was read from there
};

struct tool_call {
  std::string id, name;
  std::string arguments;  // JSON object text; "{}" when the model's text was none
  bool malformed = false;  // the model's arguments were no JSON object
  bool without_arguments = false;  // the model's arguments were empty
};

struct tool_outcome {
  std::string content;
  bool is_error = false;
  std::string images = {};  // parts of the neutral form, separated by commas
  std::vector<std::string> loaded_tools = {};  // names that find_tools found, for the requests that follow
};

// Bodies of messages. Arguments of calls may be nested 32 deep, so bodies are deeper: read them with these.
inline boost::json::parse_options body_options() {
  boost::json::parse_options o;
  o.max_depth = 64;
  return o;
}
// JSON on one line that every parser reads: numbers beyond 1e308, which might be written as Infinity, become
// that. `v` was parsed.
std::string one_line(boost::json::value v);
std::string user_body(std::string_view text);
// `finish`: how an answer ended that the model did not finish, as the member of that name; empty: without.
std::string assistant_body(std::string_view text, const std::vector<tool_call>& calls, std::string_view finish = {});
// The same with a member "reasoning", a JSON array; empty: without.
std::string with_reasoning(std::string body, std::string_view reasoning_json);
std::string tool_body(const tool_call& call, const tool_outcome& outcome);
// The same body with a member "loaded_tools", which build_request() leaves out; no names: as it is.
std::string with_loaded_tools(std::string body, const std::vector<std::string>& names);
// Its names, of the body of a tool's or a summary's message; nearly all have none.
std::vector<std::string> loaded_tools_of(std::string_view body);
// The text of a body's "content", or of its text parts; empty when there is none.
std::string content_of(std::string_view body);
std::vector<tool_call> calls_of(std::string_view body);
// Whether the body is text that the model has not finished: it was cut at the output limit, or the provider paused the
// turn. The assistant's message that follows it, if any, goes on where it ends.
bool is_unfinished(const chat_message& m);
// The call that a tool's message answers; empty for other messages.
std::string answered_id(const chat_message& m);

// A call as the model wrote it. Ids that are empty, clash or are longer than 256 bytes get one of ours; longer names are cut.
tool_call read_tool_call(std::string_view id, std::string_view name, std::string_view arguments,
                         const std::vector<tool_call>& before);
// Why the call must not be made, for the model; nullopt: it can be made. `cut_off`: the answer ended at the output
// limit, so that arguments may be incomplete.
enum class answer_end { by_itself, cut_off };
std::optional<tool_outcome> refuse_call(const tool_call& call, answer_end end);

enum class next_kind { call_model, run_tools, finished };
struct next_action {
  next_kind kind = next_kind::call_model;
  std::vector<tool_call> calls;  // run_tools: those without a result
};
// From the persisted messages alone, so that any worker comes to the same answer.
next_action decide(const std::vector<chat_message>& messages);
// How often the answer that this run has to go on with was cut or paused so far.
struct unfinished_parts {
  std::int64_t cut = 0, paused = 0;
  bool any() const { return cut + paused > 0; }
};
unfinished_parts parts_so_far(const std::vector<chat_message>& messages);

struct request_parts {
  std::string_view model;
  std::string_view system;
  std::string_view tools_json;  // array, or empty
  std::int64_t max_output_tokens = 0;
  std::string_view parameters;  // further members of the request, separated by commas
};
// The request_json of llm.provider/1. Calls of earlier runs that never got a result (a stopped or failed
// run) are answered here, as providers insist on. The parts of an answer that was continued become one message; one
// that is to be continued is followed by a message of the user that asks for the rest.
std::string build_request(const request_parts& parts, const std::vector<chat_message>& messages);

}  // namespace runs
