// What this node has to send and has not sent yet, bounded. A hint that waits for its turn takes the place
// of an earlier one of its topic. Thread: any.
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
  std::string bytes;  // empty: a hint
};

class outbox {
 public:
  outbox(std::size_t most_pieces, std::size_t most_bytes)
      : most_pieces_(most_pieces), most_bytes_(most_bytes) {}

  // Opens and closes it; what was in it when it closes is handed out.
  void open();
  std::vector<piece> close();

  enum class taken { yes, full, closed };
  taken put(std::string_view topic, std::uint64_t cursor, std::string_view bytes);
  // Waits until there is something, somebody rang, or the time is over.
  std::vector<piece> take(std::chrono::milliseconds limit);
  // Ends a take() that waits, or the next one.
  void ring();

 private:
  const std::size_t most_pieces_, most_bytes_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<piece> pieces_;
  std::size_t bytes_ = 0;
  bool open_ = false, rung_ = false;
};

}  // namespace bus_nats
