#include "api/service_start.hpp"

#include <boost/json.hpp>
#include <ry/cpp/utf8.hpp>
#include <string>

#include "json/members.hpp"
#include "run/conversation.hpp"
#include "ry/svc/runs.h"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::size_t max_history_bytes = 1 << 20, max_history_messages = 1000;
constexpr std::size_t max_results = 256;
constexpr std::size_t max_instructions_bytes = 64 << 10;

// Returns an error message, or an empty string.
std::string read_history(std::string_view text, std::vector<added_message>& out) {
  if (text.size() > max_history_bytes) return "history must have at most " + size_text(max_history_bytes);
  boost::system::error_code bad;
  const boost::json::value v = boost::json::parse(text, bad);
  if (bad || !v.is_array()) return "history must be a JSON array of messages";
  const boost::json::array& list = v.as_array();
  if (list.size() > max_history_messages)
    return "history must have at most " + std::to_string(max_history_messages) + " messages";
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string at = "history[" + std::to_string(i) + "]";
    if (!list[i].is_object()) return at + " must be an object";
    const boost::json::object& m = list[i].as_object();
    const std::string role = module_json::text_of(m, "role");
    const boost::json::value* content = module_json::member_at(m, "content");
    if (role != "user" && role != "assistant" && role != "tool") return at + ".role must be user, assistant or tool";
    if (content == nullptr || !content->is_string()) return at + ".content must be a string";
    const std::string_view content_text(content->as_string());
    if (role == "user") {
      out.push_back({role, user_body(content_text)});
    } else if (role == "assistant") {
      std::vector<tool_call> calls;
      if (const boost::json::array* given = module_json::array_at(m, "tool_calls"))
        for (const boost::json::value& item : *given) {
          if (!item.is_object()) return at + ".tool_calls must be an array of objects";
          const boost::json::object& call = item.as_object();
          const boost::json::object* arguments = module_json::object_at(call, "arguments");
          calls.push_back(read_tool_call(module_json::text_at(call, "id"), module_json::text_at(call, "name"),
                                         arguments != nullptr ? boost::json::serialize(*arguments) : "", calls));
        }
      out.push_back({role, assistant_body(content_text, calls)});
    } else {
      const tool_call call{module_json::text_of(m, "tool_call_id"), module_json::text_of(m, "name"), "{}"};
      if (call.id.empty()) return at + ".tool_call_id must not be empty";
      out.push_back({role, tool_body(call, {std::string(content_text), module_json::flag_at(m, "is_error")})});
    }
  }
  return {};
}

// Returns an error message, or an empty string.
std::string read_results(std::string_view text, std::vector<client_result>& out) {
  boost::system::error_code bad;
  const boost::json::value v = boost::json::parse(text, bad);
  if (bad) return "tool_results must be an array of results";
  return read_client_results(v, out);
}

// Returns an error message, or an empty string.
std::string read_text(const form_field& f, std::string& out) {
  const std::string name(f.name);
  if (f.value.size() > max_instructions_bytes) return name + " must have at most " + size_text(max_instructions_bytes);
  if (!ry::is_utf8(f.value) || f.value.find('\0') != std::string_view::npos)
    return name + " must be UTF-8 without NUL characters";
  out = std::string(f.value);
  return {};
}

}  // namespace

std::string read_client_results(const boost::json::value& list, std::vector<client_result>& out) {
  if (!list.is_array()) return "tool_results must be an array of results";
  if (list.as_array().size() > max_results)
    return "tool_results must have at most " + std::to_string(max_results) + " results";
  std::size_t bytes = 0;
  for (const boost::json::value& item : list.as_array()) {
    const std::string at = "tool_results[" + std::to_string(out.size()) + "]";
    if (!item.is_object()) return at + " must be an object";
    const boost::json::object& o = item.as_object();
    const boost::json::value* content = module_json::member_at(o, "content");
    const std::string id = module_json::text_of(o, "tool_call_id");
    if (id.empty()) return at + ".tool_call_id must not be empty";
    for (const client_result& other : out)
      if (other.tool_call_id == id) return at + ".tool_call_id is given more than once";
    if (content == nullptr || !content->is_string()) return at + ".content must be a string";
    if (content->as_string().find('\0') != std::string_view::npos || id.find('\0') != std::string::npos)
      return at + " must not contain NUL characters";
    const boost::json::value* is_error = module_json::member_at(o, "is_error");
    if (is_error != nullptr && !is_error->is_bool()) return at + ".is_error must be a boolean";
    bytes += content->as_string().size();
    if (bytes > max_history_bytes) return "tool_results must have at most " + size_text(max_history_bytes);
    out.push_back({id, std::string(content->as_string()), module_json::flag_at(o, "is_error")});
  }
  return {};
}

std::variant<start_request, form_refusal> parse_service_start(const std::vector<form_field>& fields) {
  start_request added;
  bool joins = false;
  for (const form_field& f : fields) {
    std::string problem;
    if (f.name == RY_RUN_FIELD_JOINS) joins = f.value == "true";
    if (f.name == RY_RUN_FIELD_HISTORY) problem = read_history(f.value, added.history);
    if (f.name == RY_RUN_FIELD_TOOL_RESULTS) problem = read_results(f.value, added.tool_results);
    if (f.name == RY_RUN_FIELD_CLIENT_CALLS) {
      if (f.value != "wait" && f.value != "end") problem = "client_calls must be wait or end";
      added.options.parks_client_calls = f.value == "wait";
    }
    if (f.name == RY_RUN_FIELD_CONTINUE_TRUNCATED) {
      if (f.value != "true" && f.value != "false") problem = "continue_truncated must be true or false";
      added.options.continue_truncated = f.value != "false";
    }
    if (f.name == RY_RUN_FIELD_SYSTEM) problem = read_text(f, added.options.system);
    if (f.name == RY_RUN_FIELD_INSTRUCTIONS) problem = read_text(f, added.options.instructions);
    if (!problem.empty()) return form_refusal{std::move(problem), 422};
  }
  // The model answers the last message of the history if there is no prompt.
  const bool ends_with_answer = added.history.empty() || added.history.back().role == "assistant";
  std::variant<start_request, form_refusal> out =
      parse_start(fields, ends_with_answer ? prompt_rule::required : prompt_rule::optional);
  auto* request = std::get_if<start_request>(&out);
  if (request == nullptr) return out;
  if (request->on_busy == busy_policy::steer) {
    if (!joins) return form_refusal{"on_busy must be reject, enqueue or interrupt"};
    if (!added.history.empty() || !added.options.empty())
      return form_refusal{"on_busy=steer allows no other options of the run", 422};
  }
  if (!added.tool_results.empty() && (!request->thread_id || request->on_busy != busy_policy::reject))
    return form_refusal{"tool_results require thread_id, and no on_busy", 422};
  request->history = std::move(added.history);
  request->tool_results = std::move(added.tool_results);
  run_options& options = request->options;
  options.system = std::move(added.options.system);
  options.instructions = std::move(added.options.instructions);
  options.parks_client_calls = added.options.parks_client_calls;
  options.continue_truncated = added.options.continue_truncated;
  return out;
}

}  // namespace runs
