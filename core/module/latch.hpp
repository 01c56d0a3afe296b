// Something that happens once, and that somebody waits for.
#pragma once

#include <ry/abi.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace ry::module {

// Threads: any.
class latch {
 public:
  // Opens this latch when it is called; the latch must live as long as the code that may call it.
  ry_done done() noexcept;
  void open() noexcept;
  bool is_open() const noexcept;
  // False: the time is over.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace ry::module
