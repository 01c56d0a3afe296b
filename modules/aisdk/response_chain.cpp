#include "response_chain.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <json/members.hpp>
#include <set>

namespace aisdk {

namespace json = boost::json;
using module_json::array_at;
using module_json::text_at;
using module_json::text_of;

bool response_chain::add(const json::object& message) {
  const std::string_view run = text_at(message, "agent_run_id");
  if (groups_.empty()) {
    if (run != wanted_) return true;  // the message of a later run
    groups_.emplace_front().link.run_id = wanted_;
  } else if (run != groups_.front().link.run_id) {
    if (!groups_.front().continues() || run.empty()) return false;
    groups_.emplace_front().link.run_id = std::string(run);
  }
  group& at = groups_.front();
  at.oldest_role = text_of(message, "role");
  if (at.oldest_role == "user") at.has_user_message = true;
  // The results before the run's first answer are the client's.
  if (at.oldest_role == "tool") {
    const json::value* content = module_json::member_at(message, "content");
    at.link.outputs.insert(at.link.outputs.begin(), {text_of(message, "tool_call_id"),
                                                     content != nullptr ? output_text(*content) : std::string(),
                                                     module_json::flag_at(message, "is_error")});
  } else {
    at.link.outputs.clear();
  }
  return true;
}

bool response_chain::add_page(const json::array& messages) {
  for (const json::value& m : messages)
    if (m.is_object() && !add(m.get_object())) return false;
  return true;
}

std::vector<chain_link> response_chain::links() const {
  std::vector<chain_link> out;
  for (const group& g : groups_) {
    out.push_back(g.link);
    if (!g.continues()) out.back().outputs.clear();
  }
  if (out.empty()) out.push_back({wanted_, {}});  // the run has stored no message yet
  return out;
}

thread_end read_thread_end(const json::array& messages) {
  thread_end out;
  std::set<std::string, std::less<>> answered;
  for (const json::value& v : messages) {
    if (!v.is_object()) continue;
    const json::object& m = v.get_object();
    const std::string_view role = text_at(m, "role");
    if (out.newest_role.empty()) out.newest_role = std::string(role);
    if (role == "tool") {
      answered.insert(text_of(m, "tool_call_id"));
      continue;
    }
    if (role == "assistant")
      if (const json::array* calls = array_at(m, "tool_calls"))
        for (const json::value& c : *calls) {
          std::string id = c.is_object() ? text_of(c.get_object(), "id") : std::string();
          if (!id.empty() && answered.count(id) == 0) out.pending_calls.push_back(std::move(id));
        }
    break;
  }
  return out;
}

}  // namespace aisdk
