// Bounded queue of the messages that this node still has to send. A new wake-up is merged into a queued wake-up of the
// same topic. Thread: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bus_nats {

struct outgoing_message {
  std::string topic;
  std::uint64_t cursor = 0;
  std::string bytes;  // empty: a wake-up
};

class outbox {
 public:
  outbox(std::size_t max_messages, std::size_t max_bytes) : max_messages_(max_messages), max_bytes_(max_bytes) {}

  // close() returns the entries that are still queued.
  void open();
  std::vector<outgoing_message> close();

  enum class put_result { accepted, full, closed };
  put_result put(std::string_view topic, std::uint64_t cursor, std::string_view bytes);
  // Waits until there is an entry, wake() is called, or `limit` has passed. Returns all entries.
  std::vector<outgoing_message> take(std::chrono::milliseconds limit);
  // Ends the current take(), or the next one.
  void wake();

 private:
  const std::size_t max_messages_, max_bytes_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<outgoing_message> messages_;
  std::size_t bytes_ = 0;
  bool open_ = false, woken_ = false;
};

}  // namespace bus_nats
