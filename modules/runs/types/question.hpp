// Questions to a person: the form of the answer and its validation. Questions come from models and from servers, so their
// texts are untrusted data. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

namespace runs {

// Maximum numbers of questions of one call at a time, and of requests for input by one call in a row.
inline constexpr std::size_t max_questions_at_once = 32;
inline constexpr int max_question_rounds = 8;

struct question {
  std::string kind;  // question (of the tool ask_user), elicitation (a form of another tool), url
  std::string message;
  std::string schema;  // of the answer, as JSON; empty: url
  std::string url, host;  // kind url only
};

// The question as clients get it, without its kind: {"message", "schema"} or {"message", "url", "host"}.
std::string question_json(const question& q);

// The following functions return an error message, or an empty string. `at` is the name of the value in messages.

// Reads a flat JSON Schema as in MCP elicitation: an object of strings, numbers, booleans and choices. `out` contains only what
// clients need: control characters and unknown keywords are removed. Forms that ask for a password or another secret are refused,
// because answers pass through this server.
std::string read_form(std::string_view at, const boost::json::value& schema, std::string& out);
// Reads an https URL without credentials. It is shown to the person and never opened here.
std::string read_url(std::string_view at, std::string_view url, question& out);
// Reads the arguments of ask_user: question, and choices or form.
std::string read_ask_user(const boost::json::object& arguments, question& out);
// Reads a request for input of a tool: {"kind": "form" or "url", "message", "schema" or "url"}.
std::string read_input_request(const boost::json::object& request, question& out);

// Validates an answer against a schema of read_form(), as JSON text. The message begins with the name of the field.
std::string check_answer(std::string_view schema, const boost::json::value& content);

}  // namespace runs
