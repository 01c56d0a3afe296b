// The calls of a run's newest answer, as the events of runs/1 report them: whether the run waits for approvals or for
// results of the client. Pure.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tool_calls {

class call_states {
 public:
  void begin_answer() {
    calls_.clear();
    of_client_.clear();
  }
  // A call that the server executes.
  void called(std::string_view id) { calls_.insert_or_assign(std::string(id), state::executing); }
  void approval_requested(std::string_view id) { set(id, state::undecided); }
  // The run executes or refuses the call when no other approval is pending.
  void approval_resolved(std::string_view id) { set(id, state::decided); }
  // The run waits for the client's result of this call.
  void result_requested(std::string_view id) { of_client_.emplace(id); }
  void finished(std::string_view id) {
    if (const auto found = of_client_.find(id); found != of_client_.end()) of_client_.erase(found);
    if (const auto found = calls_.find(id); found != calls_.end()) calls_.erase(found);
  }
  // All calls that need no approval have ended, and at least one approval is pending.
  bool waiting() const {
    const auto has = [this](state s) {
      return std::any_of(calls_.begin(), calls_.end(), [s](const auto& c) { return c.second == s; });
    };
    return has(state::undecided) && !has(state::executing);
  }
  bool waits_for_client() const { return !of_client_.empty(); }

 private:
  enum class state { executing, undecided, decided };
  void set(std::string_view id, state s) { calls_.insert_or_assign(std::string(id), s); }

  std::map<std::string, state, std::less<>> calls_;
  std::set<std::string, std::less<>> of_client_;
};

}  // namespace tool_calls
