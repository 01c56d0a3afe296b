// Separate threads for measuring and removing directory trees. Users control the shape of these trees, so this may take
// minutes; in the threads that all modules share, it would delay other users' requests. Scheduled fairly between
// accounts.
//
// Thread: any. Lifetime: as long as the driver; call close() before its end.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <ry/ry.hpp>
#include <string>

#include "fair_thread_pool.hpp"

namespace bubblewrap {

class disk_threads {
 public:
  explicit disk_threads(const ry::context& ctx) : ctx_(ctx) {}

  // Like run_blocking() of ry.core/1. If it returns RY_OK, `done` is always called on exec.
  ry_status run(const std::string& account, ry_exec* exec, ry_call_fn work, void* arg, ry_done done);
  // Afterwards the host's threads do the work, so that the host waits for it before it destroys the module. Waits for
  // all earlier completions. Blocks.
  void close();

 private:
  struct job;
  static void finish(void* j) noexcept;

  const ry::context& ctx_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t pending_ = 0;
  bool closed_ = false;
  fair_thread_pool pool_{2};  // last: its threads use the other members
};

}  // namespace bubblewrap
