// A one-shot event that threads can wait for.
#pragma once

#include <ry/abi.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace ry::module {

// Threads: any.
class latch {
 public:
  // A completion that opens this latch; the latch must outlive all code that may call it.
  ry_done done() noexcept;
  void open() noexcept;
  bool is_open() const noexcept;
  // Returns false on timeout.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace ry::module
