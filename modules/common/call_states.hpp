// The calls of a run's newest answer, as the events of runs/1 report them: whether the run waits for approvals. Pure.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tool_calls {

class call_states {
 public:
  void begin_answer() { calls_.clear(); }
  // A call that the server executes.
  void called(std::string_view id) { calls_.insert_or_assign(std::string(id), state::executing); }
  void approval_requested(std::string_view id) { set(id, state::undecided); }
  // The run executes or refuses the call when no other approval is pending.
  void approval_resolved(std::string_view id) { set(id, state::decided); }
  void finished(std::string_view id) {
    if (const auto found = calls_.find(id); found != calls_.end()) calls_.erase(found);
  }
  // All calls that need no approval have ended, and at least one approval is pending.
  bool waiting() const {
    const auto has = [this](state s) {
      return std::any_of(calls_.begin(), calls_.end(), [s](const auto& c) { return c.second == s; });
    };
    return has(state::undecided) && !has(state::executing);
  }

 private:
  enum class state { executing, undecided, decided };
  void set(std::string_view id, state s) { calls_.insert_or_assign(std::string(id), s); }

  std::map<std::string, state, std::less<>> calls_;
};

}  // namespace tool_calls
