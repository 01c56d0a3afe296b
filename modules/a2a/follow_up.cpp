#include "follow_up.hpp"

#include <boost/json/serialize.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>

#include "errors.hpp"
#include "json/members.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::size_t max_reason = 2000, max_call_id = 512;
// The data part has the complete arguments.
constexpr std::size_t max_shown_arguments = 1000;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// A decision in words: approve, approved, deny or denied, alone or followed by a colon and the reason. Other sentences are
// no decision, because "approve nothing" is none.
bool read_words(std::string_view text, decision& out) {
  const std::size_t colon = text.find(':');
  std::string word;
  for (const char c : trimmed(text.substr(0, colon))) word += ry::lower_ascii(c);
  while (!word.empty() && (word.back() == '.' || word.back() == '!')) word.pop_back();
  const bool approves = word == "approve" || word == "approved";
  if (!approves && word != "deny" && word != "denied") return false;
  out.approve = approves;
  if (colon != text.npos) out.reason = std::string(trimmed(text.substr(colon + 1)));
  if (out.reason.size() > max_reason)
    throw invalid_params(out.field, "must have at most " + std::to_string(max_reason) + " bytes after the colon");
  return true;
}

decision read_decision(const json::object& data, const std::string& field) {
  decision out;
  out.field = field;
  const std::string word = read_text(data, "decision", field, max_reason);
  if (word != "approve" && word != "deny") throw invalid_params(field + ".decision", "must be approve or deny");
  out.approve = word == "approve";
  out.approval_id = read_text(data, "approval_id", field, max_context_id);
  out.reason = read_text(data, "reason", field, max_reason);
  return out;
}

json::object read_result(const json::object& data, const std::string& field) {
  const json::value* content = module_json::member_at(data, "content");
  if (content == nullptr) throw invalid_params(field + ".content", "is required");
  const json::value* failed = module_json::member_at(data, "is_error");
  if (failed != nullptr && !failed->is_bool()) throw invalid_params(field + ".is_error", "must be true or false");
  return {{"tool_call_id", read_text(data, "tool_call_id", field, max_call_id)},
          {"content", content->is_string() ? *content : json::value(json::serialize(*content))},
          {"is_error", failed != nullptr && failed->get_bool()}};
}

std::string arguments_text(const json::object& request) {
  const json::value* given = module_json::member_at(request, "arguments");
  if (given == nullptr) return {};
  std::string out = json::serialize(*given);
  if (out.size() <= max_shown_arguments) return out;
  const std::string_view head = std::string_view(out).substr(0, max_shown_arguments);
  return std::string(head.substr(0, ry::whole_characters(head))) + "...";
}

std::string describe(const json::object& request) {
  const std::string name = module_json::text_of(request, "name");
  if (module_json::text_at(request, "type") == "tool_result")
    return "The agent waits for the result of the client's tool " + name + " (call " +
           module_json::text_of(request, "tool_call_id") + ").";
  std::string out = "The agent needs an approval to call the tool " + name;
  const std::string arguments = arguments_text(request);
  if (!arguments.empty()) out += " with the arguments " + arguments;
  return out + " (approval " + module_json::text_of(request, "approval_id") + ").";
}

json::object data_of(const json::object& request) {
  json::object out;
  const std::pair<const char*, const char*> members[] = {
      {"type", "type"},     {"approval_id", "approval_id"}, {"tool_call_id", "tool_call_id"}, {"name", "tool"},
      {"source", "source"}, {"arguments", "arguments"},     {"expires_at", "expires_at"}};
  for (const auto& [from, to] : members)
    if (const json::value* v = module_json::member_at(request, from); v != nullptr && !v->is_null()) out[to] = *v;
  return out;
}

}  // namespace

follow_up read_follow_up(const send_params& message) {
  follow_up out;
  if (!message.files.empty()) throw invalid_params("message.parts", "must not contain files in a message to a task");
  for (const auto& [field, value] : message.data) {
    const json::object* data = value.if_object();
    if (data == nullptr) continue;
    if (module_json::member_at(*data, "decision") != nullptr)
      out.decisions.push_back(read_decision(*data, field));
    else if (module_json::member_at(*data, "tool_call_id") != nullptr)
      out.results.push_back(read_result(*data, field));
  }
  if (out.has_answer() || !message.data.empty()) return out;
  decision words;
  words.field = "message.parts";
  if (read_words(message.prompt, words)) out.decisions.push_back(std::move(words));
  return out;
}

json::object request_message(const task_ids& ids, const json::array& requests) {
  std::string text;
  std::size_t approvals = 0;
  std::string_view id;
  for (const json::value& v : requests) {
    const json::object& request = v.get_object();
    text += describe(request) + "\n";
    if (module_json::text_at(request, "type") == "approval") ++approvals;
    if (id.empty()) id = module_json::text_at(request, "approval_id");
    if (id.empty()) id = module_json::text_at(request, "tool_call_id");
  }
  text += "Answer with a message that has the taskId of this task. ";
  if (approvals == 1) text += "Its text is \"approve\", \"deny\", or \"deny:\" and a reason. Or send a data part: ";
  if (approvals > 1) text += "Send a data part for each approval: ";
  if (approvals > 0) text += R"({"approval_id": "...", "decision": "approve" or "deny", "reason": "..."}.)";
  if (approvals < requests.size())
    text += R"( For the result of a tool, send a data part: {"tool_call_id": "...", "content": "..."}.)";
  json::object out = agent_message(ids, ids.task + "-request-" + std::string(id), text);
  json::array& all = out["parts"].as_array();
  for (const json::value& v : requests)
    all.push_back({{"data", data_of(v.get_object())}, {"mediaType", "application/json"}});
  return out;
}

}  // namespace a2a
