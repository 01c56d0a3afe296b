// Stores the channels that recent notifications requested. Deliveries are polled one channel at a time, so a delivery
// does not show all channels of its notification. Thread: any.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace notify_novu {

class requested_channels {
 public:
  explicit requested_channels(std::size_t max_size = 20'000) : max_size_(max_size) {}

  void record(const std::string& key, std::uint32_t channels) {
    std::lock_guard lock(mutex_);
    const auto [at, added] = channels_by_key_.emplace(key, channels);
    at->second |= channels;
    if (added) order_.push_back(key);
    if (order_.size() <= max_size_) return;
    channels_by_key_.erase(order_.front());
    order_.pop_front();
  }
  // Returns nullopt if the trigger is too long ago, or another node made it.
  std::optional<std::uint32_t> find(const std::string& key) const {
    std::lock_guard lock(mutex_);
    const auto at = channels_by_key_.find(key);
    return at == channels_by_key_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  const std::size_t max_size_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t> channels_by_key_;
  std::deque<std::string> order_;
};

}  // namespace notify_novu
