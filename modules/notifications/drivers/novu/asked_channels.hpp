// Remembers the channels that recent notifications requested. Deliveries are tracked one channel at a time, so a row
// alone does not show the channels of its notification. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace notify_novu {

class asked_channels {
 public:
  explicit asked_channels(std::size_t most = 20'000) : most_(most) {}

  void note(const std::string& key, std::uint32_t channels) {
    std::lock_guard lock(mutex_);
    const auto [at, added] = known_.emplace(key, channels);
    at->second |= channels;
    if (added) order_.push_back(key);
    if (order_.size() <= most_) return;
    known_.erase(order_.front());
    order_.pop_front();
  }
  // nullopt: it is too long ago, or another node triggered it.
  std::optional<std::uint32_t> find(const std::string& key) const {
    std::lock_guard lock(mutex_);
    const auto at = known_.find(key);
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t> known_;
  std::deque<std::string> order_;
};

}  // namespace notify_novu
