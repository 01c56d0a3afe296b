// Bounded queue of the messages that this node still has to send. A new wake-up is merged into a queued wake-up of the same
// topic. Thread: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bus_nats {

struct piece {
  std::string topic;
  std::uint64_t cursor = 0;
  std::string bytes;  // empty: a wake-up
};

class outbox {
 public:
  outbox(std::size_t max_pieces, std::size_t max_bytes) : max_pieces_(max_pieces), max_bytes_(max_bytes) {}

  // close() returns the entries that are still queued.
  void open();
  std::vector<piece> close();

  enum class taken { yes, full, closed };
  taken put(std::string_view topic, std::uint64_t cursor, std::string_view bytes);
  // Waits until there is an entry, ring() is called, or the time is over.
  std::vector<piece> take(std::chrono::milliseconds limit);
  // Ends the current take(), or the next one.
  void ring();

 private:
  const std::size_t max_pieces_, max_bytes_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<piece> pieces_;
  std::size_t bytes_ = 0;
  bool open_ = false, rung_ = false;
};

}  // namespace bus_nats
