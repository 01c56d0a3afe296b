#include "outbox.hpp"

#include <algorithm>
#include <utility>

namespace bus_nats {

namespace {
// Number of newest entries that are searched for an earlier wake-up of the same topic. Busy runs send their next
// wake-up soon.
constexpr std::size_t max_merge_distance = 16;
}  // namespace

void outbox::open() {
  std::lock_guard lock(mutex_);
  open_ = true;
}

std::vector<outgoing_message> outbox::close() {
  std::lock_guard lock(mutex_);
  open_ = false;
  bytes_ = 0;
  return std::exchange(messages_, {});
}

outbox::put_result outbox::put(std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
  {
    std::lock_guard lock(mutex_);
    if (!open_) return put_result::closed;
    if (bytes.empty()) {
      const std::size_t n = std::min(messages_.size(), max_merge_distance);
      for (std::size_t i = 0; i < n; ++i) {
        outgoing_message& p = messages_[messages_.size() - 1 - i];
        if (p.topic != topic) continue;
        // A wake-up must not overtake earlier bytes of its topic.
        if (!p.bytes.empty()) break;
        // A cursor of 0 means unknown, which covers every number.
        p.cursor = p.cursor == 0 || cursor == 0 ? 0 : std::max(p.cursor, cursor);
        return put_result::accepted;
      }
    }
    if (messages_.size() >= max_messages_ || bytes_ + bytes.size() > max_bytes_) return put_result::full;
    messages_.push_back({std::string(topic), cursor, std::string(bytes)});
    bytes_ += bytes.size();
    if (messages_.size() > 1) return put_result::accepted;
  }
  filled_.notify_one();
  return put_result::accepted;
}

std::vector<outgoing_message> outbox::take(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, limit, [this] { return !messages_.empty() || woken_; });
  woken_ = false;
  bytes_ = 0;
  return std::exchange(messages_, {});
}

void outbox::wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  filled_.notify_one();
}

}  // namespace bus_nats
