// Warm sandboxes are started before their program is known. Each one runs one program and is never used again. The kind
// of a sandbox consists of everything that is fixed before its program starts: bwrap's arguments, and the files and
// mounts to which they refer. A sandbox belongs to one executor, like its process.
//
// warm_pool only records which sandboxes wait, how many must be started and which ones must be terminated. It does not
// own sandboxes. A sandbox that a function returns is no longer in the pool. Thread: any.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "workspace.hpp"

namespace bubblewrap {

struct warm_limits {
  std::size_t per_kind = 0;  // per kind and executor; 0: no warm sandboxes
  std::size_t total = 0;
  std::chrono::steady_clock::duration idle{};  // maximum time since the last request for a kind
};

template <class Sandbox, class Executor>
class warm_pool {
 public:
  using clock = std::chrono::steady_clock;

  explicit warm_pool(warm_limits limits) : limits_(limits) {}

  bool enabled() const { return limits_.per_kind != 0 && limits_.total != 0; }

  // The sandbox that has waited longest, or nullptr.
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

  // Sandboxes that the caller has to start. The caller must call started() for each.
  struct order {
    std::size_t count = 0;
    std::uint64_t generation = 0;
  };
  // Orders the sandboxes that this kind and executor lack. max_waiting: limit for this kind and executor in addition to
  // the pool's limit. If the total is reached, a kind without a sandbox replaces the second one of another kind. It
  // never replaces the last one, because the other kind would immediately start another.
  order order_missing(const std::string& kind, Executor* on, clock::time_point now,
                      std::size_t max_waiting = SIZE_MAX) {
    std::lock_guard lock(mutex_);
    if (closed_ || !enabled()) return {};
    slot& s = slots_[{kind, on}];
    s.last_use = now;
    max_waiting = std::min(max_waiting, limits_.per_kind);
    const std::size_t existing = s.waiting.size() + s.starting, all = count();
    std::size_t n =
        std::min(existing < max_waiting ? max_waiting - existing : 0, all < limits_.total ? limits_.total - all : 0);
    if (n == 0 && existing == 0 && max_waiting != 0 && all == limits_.total && largest()->second.waiting.size() > 1)
      n = 1;
    s.starting += n;
    return {n, generation_};
  }

  // sandbox: nullptr if the start failed. generation: that of the order. ended(): whether the sandbox has already
  // exited. Returns the sandboxes to terminate: this one if the pool was cleared meanwhile, or, if there are too many,
  // one of the kind with the most sandboxes.
  template <class Ended>
  std::vector<Sandbox*> started(const std::string& kind, Executor* on, std::uint64_t generation, Sandbox* sandbox,
                                const Ended& ended) {
    std::lock_guard lock(mutex_);
    const bool outdated = generation != generation_;
    const auto found = outdated ? slots_.end() : slots_.find({kind, on});
    if (found != slots_.end()) --found->second.starting;
    if (sandbox == nullptr) return {};
    if (found == slots_.end() || ended()) return {sandbox};
    found->second.waiting.push_back(sandbox);
    std::vector<Sandbox*> out;
    if (count() > limits_.total) {
      auto& from = largest()->second.waiting;
      out.push_back(from.front());
      from.pop_front();
    }
    return out;
  }

  // False: the sandbox is no longer in the pool.
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

  // Removes and returns the sandboxes of kinds without a request during the idle time.
  std::vector<Sandbox*> expire(clock::time_point now) {
    std::lock_guard lock(mutex_);
    std::vector<Sandbox*> out;
    std::erase_if(slots_, [&](const auto& each) {
      const slot& s = each.second;
      if (s.starting != 0 || now - s.last_use < limits_.idle) return false;
      out.insert(out.end(), s.waiting.begin(), s.waiting.end());
      return true;
    });
    return out;
  }
  // Removes and returns all sandboxes. started() returns those that are still being started.
  std::vector<Sandbox*> clear() {
    std::lock_guard lock(mutex_);
    return take_all();
  }
  // Like clear(); afterwards order_missing() orders no sandboxes.
  std::vector<Sandbox*> close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    return take_all();
  }
  bool empty() const {
    std::lock_guard lock(mutex_);
    return slots_.empty();
  }

 private:
  struct slot {
    std::deque<Sandbox*> waiting;
    std::size_t starting = 0;
    clock::time_point last_use{};
  };

  using slots = std::map<std::pair<std::string, Executor*>, slot>;

  // Includes the sandboxes that are being started.
  std::size_t count() const {
    std::size_t n = 0;
    for (const auto& [name, s] : slots_) n += s.waiting.size() + s.starting;
    return n;
  }
  // The slot with the most waiting sandboxes; among equals, the least recently used. There must be at least one slot.
  typename slots::iterator largest() {
    return std::max_element(slots_.begin(), slots_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.waiting.size(), b.second.last_use) <
             std::pair(b.second.waiting.size(), a.second.last_use);
    });
  }
  std::vector<Sandbox*> take_all() {
    std::vector<Sandbox*> out;
    for (auto& [name, s] : slots_) out.insert(out.end(), s.waiting.begin(), s.waiting.end());
    slots_.clear();
    ++generation_;
    return out;
  }

  const warm_limits limits_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t generation_ = 0;
  slots slots_;
};

// Detects changes of the host's mount table: a file system that is mounted after the start of a sandbox does not appear
// in the sandbox.
class mount_table {
 public:
  mount_table();
  // Whether the table has changed since the last call; true if this is unknown. One thread at a time.
  bool changed() const;

 private:
  unique_fd file_;
};

// How a warm sandbox is started.
struct sandbox_kind {
  std::string name;
  std::vector<std::string> words;
  std::string directory;
  std::size_t max_waiting = SIZE_MAX;
};
// The kind of a sandbox for this command.
sandbox_kind kind_of(command_spec spec);

// Identifies the files of the host that bwrap's arguments refer to. The text changes if a file is replaced, added or
// removed. directory: bwrap's working directory.
std::string host_file_identities(const std::vector<std::string>& bwrap_arguments, const std::string& directory);

}  // namespace bubblewrap
