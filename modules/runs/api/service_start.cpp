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
constexpr std::size_t max_instructions_bytes = 64 << 10;

// Returns an error message, or an empty string.
std::string read_history(std::string_view text, std::vector<history_message>& out) {
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
    if (role != "user" && role != "assistant") return at + ".role must be user or assistant";
    if (content == nullptr || !content->is_string()) return at + ".content must be a string";
    const std::string_view content_text(content->as_string());
    out.push_back({role, role == "user" ? user_body(content_text) : assistant_body(content_text, {})});
  }
  return {};
}

}  // namespace

std::variant<start_request, form_refusal> parse_service_start(const std::vector<form_field>& fields) {
  std::vector<history_message> history;
  run_options options;
  for (const form_field& f : fields) {
    if (f.name == RY_RUN_FIELD_HISTORY) {
      std::string problem = read_history(f.value, history);
      if (!problem.empty()) return form_refusal{std::move(problem), 422};
    } else if (f.name == RY_RUN_FIELD_INSTRUCTIONS) {
      if (f.value.size() > max_instructions_bytes)
        return form_refusal{"instructions must have at most " + size_text(max_instructions_bytes), 422};
      if (!ry::is_utf8(f.value) || f.value.find('\0') != std::string_view::npos)
        return form_refusal{"instructions must be UTF-8 without NUL characters", 422};
      options.instructions = std::string(f.value);
    }
  }
  std::variant<start_request, form_refusal> out = parse_start(fields);
  if (auto* request = std::get_if<start_request>(&out)) {
    request->history = std::move(history);
    request->options.instructions = std::move(options.instructions);
  }
  return out;
}

}  // namespace runs
