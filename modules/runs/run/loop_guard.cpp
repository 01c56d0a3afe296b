#include "run/loop_guard.hpp"

#include <functional>

namespace runs {
namespace {

constexpr std::int32_t max_refusals = 2;

std::size_t hash_of(const tool_call& call) {
  const std::size_t name = std::hash<std::string_view>()(call.name);
  return name * 1099511628211u ^ std::hash<std::string_view>()(call.arguments);
}

}  // namespace

std::string_view loop_guard::refusal() {
  return "The call was not made: the same call gave the same result again and again. Try something else, or "
         "answer with what you know. If you make this call again, the run ends.";
}

loop_guard::verdict loop_guard::judge(const tool_call& call, std::int64_t limit) const {
  const auto found = calls_.find(hash_of(call));
  if (limit <= 0 || found == calls_.end() || found->second.times < limit) return verdict::allow;
  return found->second.refused < max_refusals ? verdict::refuse : verdict::give_up;
}

void loop_guard::note(const tool_call& call, std::string_view result) {
  entry& e = calls_[hash_of(call)];
  if (result == refusal()) {
    ++e.refused;
    return;
  }
  const std::size_t hash = std::hash<std::string_view>()(result);
  if (e.times != 0 && e.result == hash) {
    ++e.times;
    return;
  }
  e = {hash, 1, 0};
}

void loop_guard::read(const std::vector<chat_message>& messages) {
  calls_.clear();
  std::unordered_map<std::string, tool_call> calls_by_id;
  for (const chat_message& m : messages) {
    if (m.run != belongs::to_this_run) continue;
    if (m.role == "assistant") {
      calls_by_id.clear();
      for (tool_call& call : calls_of(m.body)) {
        std::string id = call.id;
        calls_by_id.insert_or_assign(std::move(id), std::move(call));
      }
    } else if (m.role == "tool") {
      if (const auto call = calls_by_id.find(answered_id(m)); call != calls_by_id.end())
        note(call->second, content_of(m.body));
    }
  }
}

}  // namespace runs
