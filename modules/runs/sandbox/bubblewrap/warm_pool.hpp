// Warm sandboxes: started before the program is known that they will run. Each is used for one program and never
// again. A kind is everything that shapes a sandbox before its program starts: bwrap's arguments and the files and
// mounts behind them. A sandbox belongs to one executor, as the process behind it does.
//
// warm_pool keeps the books only: which sandboxes wait, how many are wanted, which are to be ended. It owns nothing;
// a sandbox that a function returns has left the pool. Any thread.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workspace.hpp"

namespace bubblewrap {

struct warm_limits {
  std::size_t per_kind = 0;  // and executor; 0: no warm sandboxes
  std::size_t total = 0;
  std::chrono::steady_clock::duration idle{};  // since a kind was last asked for
};

template <class Sandbox, class Executor>
class warm_pool {
 public:
  using clock = std::chrono::steady_clock;

  explicit warm_pool(warm_limits limits) : limits_(limits) {}

  bool enabled() const { return limits_.per_kind != 0 && limits_.total != 0; }

  // The one that has waited longest, or nullptr.
  Sandbox* claim(const std::string& kind, Executor* on, clock::time_point now) {
    std::lock_guard lock(mutex_);
    const auto found = slots_.find({kind, on});
    if (found == slots_.end()) return nullptr;
    slot& s = found->second;
    s.last_use = now;
    if (s.waiting.empty()) return nullptr;
    Sandbox* out = s.waiting.front();
    s.waiting.pop_front();
    return out;
  }

  // How many the caller has to start; started() follows for each.
  std::size_t wanted(const std::string& kind, Executor* on, clock::time_point now) {
    std::lock_guard lock(mutex_);
    if (closed_ || !enabled()) return 0;
    slot& s = slots_[{kind, on}];
    s.last_use = now;
    const std::size_t most = std::min(limits_.per_kind, limits_.total), have = s.waiting.size() + s.starting;
    const std::size_t n = have < most ? most - have : 0;
    s.starting += n;
    return n;
  }

  // sandbox: nullptr if the start failed. ended(): whether it has ended already. Returns the sandboxes to end: this
  // one if the pool is closed, or those of the kinds that have not been asked for longest if there are too many.
  template <class Ended>
  std::vector<Sandbox*> started(const std::string& kind, Executor* on, Sandbox* sandbox, const Ended& ended) {
    std::lock_guard lock(mutex_);
    const auto found = slots_.find({kind, on});
    if (found == slots_.end()) return sandbox == nullptr ? std::vector<Sandbox*>{} : std::vector<Sandbox*>{sandbox};
    --found->second.starting;
    const bool outdated = found->second.outdated != 0;
    if (outdated) --found->second.outdated;
    if (sandbox == nullptr) return {};
    if (closed_ || outdated || ended()) return {sandbox};
    found->second.waiting.push_back(sandbox);
    std::vector<Sandbox*> out;
    while (count() > limits_.total) {
      const auto oldest = std::min_element(slots_.begin(), slots_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.waiting.empty(), a.second.last_use) < std::pair(b.second.waiting.empty(), b.second.last_use);
      });
      out.push_back(oldest->second.waiting.front());
      oldest->second.waiting.pop_front();
    }
    return out;
  }

  // False: it has left the pool before.
  bool remove(const Sandbox* sandbox) {
    std::lock_guard lock(mutex_);
    for (auto& [name, s] : slots_) {
      const auto at = std::find(s.waiting.begin(), s.waiting.end(), sandbox);
      if (at == s.waiting.end()) continue;
      s.waiting.erase(at);
      return true;
    }
    return false;
  }

  // Those of kinds that have not been asked for during the idle time.
  std::vector<Sandbox*> expire(clock::time_point now) {
    return take([&](const slot& s) { return now - s.last_use >= limits_.idle; });
  }
  std::vector<Sandbox*> clear() {
    return take([](const slot&) { return true; });
  }
  std::vector<Sandbox*> close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    return clear();
  }
  bool empty() const {
    std::lock_guard lock(mutex_);
    return slots_.empty();
  }

 private:
  struct slot {
    std::deque<Sandbox*> waiting;
    std::size_t starting = 0;
    std::size_t outdated = 0;  // of those that are starting
    clock::time_point last_use{};
  };

  std::size_t count() const {
    std::size_t n = 0;
    for (const auto& [name, s] : slots_) n += s.waiting.size();
    return n;
  }
  template <class Test>
  std::vector<Sandbox*> take(const Test& test) {
    std::lock_guard lock(mutex_);
    std::vector<Sandbox*> out;
    for (auto at = slots_.begin(); at != slots_.end();) {
      slot& s = at->second;
      if (!test(s)) {
        ++at;
        continue;
      }
      out.insert(out.end(), s.waiting.begin(), s.waiting.end());
      s.waiting.clear();
      s.outdated = s.starting;
      at = s.starting == 0 ? slots_.erase(at) : std::next(at);
    }
    return out;
  }

  const warm_limits limits_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::map<std::pair<std::string, Executor*>, slot> slots_;
};

// The host's mount table. What is mounted after a sandbox was started does not appear in it.
class mount_table {
 public:
  mount_table();
  // Since the last call; true if that cannot be told. One thread at a time.
  bool changed() const;

 private:
  unique_fd file_;
};

// Which files the paths of the host that bwrap's arguments name lead to. A file that was replaced, added or removed
// gives another text. directory: the one in which bwrap is started.
std::string host_file_identities(const std::vector<std::string>& bwrap_arguments, const std::string& directory);

}  // namespace bubblewrap
