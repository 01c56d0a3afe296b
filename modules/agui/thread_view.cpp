#include "thread_view.hpp"

#include <boost/json/serialize.hpp>
#include <map>

#include "ids.hpp"
#include "json/members.hpp"

namespace agui {
namespace {

namespace json = boost::json;

// The content of a stored message: a string, or parts of which only texts are returned.
std::string content_text(const json::object& stored) {
  const json::array* parts = module_json::array_at(stored, "content");
  if (parts == nullptr) return module_json::text_of(stored, "content");
  std::string out;
  for (const json::value& part : *parts)
    if (part.is_object()) out += module_json::text_at(part.get_object(), "text");
  return out;
}

class thread_writer {
 public:
  thread_writer(const thread_part& part, json::array& out) : part_(part), out_(out) {}

  // False: this message and all that follow are not part of the snapshot.
  bool add(const json::object& stored) {
    run_ = module_json::text_of(stored, "agent_run_id");
    const std::string role = module_json::text_of(stored, "role");
    if (role == "assistant") {
      const std::int64_t step = run_.empty() ? 0 : ++steps_[run_];
      if (is_selected() && step >= part_.below_step) return false;
      caller_run_ = run_;
      caller_step_ = step;
      if (is_included()) add_answer(stored);
    } else if (role == "tool") {
      if (is_included() && (!part_.only_added || steps_[run_] > 0)) add_result(stored);
    } else if (role == "user" && !part_.only_added) {
      out_.push_back(json::object{
          {"id", module_json::text_at(stored, "message_id")}, {"role", "user"}, {"content", content_text(stored)}});
    }
    return true;
  }

 private:
  bool is_selected() const { return !part_.run.empty() && run_ == part_.run; }
  bool is_included() const { return !part_.only_added || is_selected(); }

  std::string call_id(std::string_view stored) const {
    return caller_run_.empty() ? std::string(stored) : tool_call_id(caller_run_, caller_step_, stored);
  }

  void add_answer(const json::object& stored) {
    json::object m{{"id", run_.empty() ? module_json::text_of(stored, "message_id") : message_id(run_, caller_step_)},
                   {"role", "assistant"}};
    const std::string text = content_text(stored);
    const json::array* calls = module_json::array_at(stored, "tool_calls");
    if (!text.empty() || calls == nullptr || calls->empty()) m["content"] = text;
    if (calls != nullptr && !calls->empty()) {
      json::array list;
      for (const json::value& v : *calls) {
        if (!v.is_object()) continue;
        const json::object& call = v.get_object();
        const json::value* arguments = module_json::member_at(call, "arguments");
        list.push_back(json::object{
            {"id", call_id(module_json::text_at(call, "id"))},
            {"type", "function"},
            {"function", json::object{{"name", module_json::text_at(call, "name")},
                                      {"arguments", arguments != nullptr ? json::serialize(*arguments) : "{}"}}}});
      }
      m["toolCalls"] = std::move(list);
    }
    out_.push_back(std::move(m));
  }

  void add_result(const json::object& stored) {
    const std::string id = call_id(module_json::text_at(stored, "tool_call_id"));
    out_.push_back(json::object{
        {"id", tool_message_id(id)}, {"role", "tool"}, {"toolCallId", id}, {"content", content_text(stored)}});
  }

  const thread_part& part_;
  json::array& out_;
  std::string run_;
  std::map<std::string, std::int64_t> steps_;  // answers per run so far
  std::string caller_run_;  // of the last answer, to which tool messages refer
  std::int64_t caller_step_ = 0;
};

}  // namespace

void append_thread(const std::vector<json::object>& stored, const thread_part& part, json::array& out) {
  thread_writer writer(part, out);
  for (const json::object& m : stored)
    if (!writer.add(m)) return;
}

}  // namespace agui
