#include "outbox.hpp"

#include <algorithm>
#include <utility>

namespace bus_nats {

namespace {
// How many entries a wake-up searches for an earlier one of its topic: busy runs send the next wake-up soon.
constexpr std::size_t look_back = 16;
}  // namespace

void outbox::open() {
  std::lock_guard lock(mutex_);
  open_ = true;
}

std::vector<piece> outbox::close() {
  std::lock_guard lock(mutex_);
  open_ = false;
  bytes_ = 0;
  return std::exchange(pieces_, {});
}

outbox::taken outbox::put(std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
  {
    std::lock_guard lock(mutex_);
    if (!open_) return taken::closed;
    if (bytes.empty()) {
      const std::size_t n = std::min(pieces_.size(), look_back);
      for (std::size_t i = 0; i < n; ++i) {
        piece& p = pieces_[pieces_.size() - 1 - i];
        if (p.topic != topic) continue;
        // A wake-up must not overtake earlier bytes of its topic.
        if (!p.bytes.empty()) break;
        // A cursor of 0 means unknown, which covers every number.
        p.cursor = p.cursor == 0 || cursor == 0 ? 0 : std::max(p.cursor, cursor);
        return taken::yes;
      }
    }
    if (pieces_.size() >= max_pieces_ || bytes_ + bytes.size() > max_bytes_) return taken::full;
    pieces_.push_back({std::string(topic), cursor, std::string(bytes)});
    bytes_ += bytes.size();
    if (pieces_.size() > 1) return taken::yes;
  }
  filled_.notify_one();
  return taken::yes;
}

std::vector<piece> outbox::take(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, limit, [this] { return !pieces_.empty() || rung_; });
  rung_ = false;
  bytes_ = 0;
  return std::exchange(pieces_, {});
}

void outbox::ring() {
  {
    std::lock_guard lock(mutex_);
    rung_ = true;
  }
  filled_.notify_one();
}

}  // namespace bus_nats
