// The driver's own threads for measuring and removing directory trees. A tenant chooses their shape, so this may take
// minutes; in the threads shared by all modules it would delay other users' requests. Accounts take turns.
//
// Thread: any. Lifetime: as long as the driver; close() before its end.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <ry/ry.hpp>
#include <string>

#include "account_turns.hpp"

namespace bubblewrap {

class disk_threads {
 public:
  explicit disk_threads(const ry::context& ctx) : ctx_(ctx) {}

  // Like run_blocking() of ry.core/1. `done` is always called on exec if it returns RY_OK.
  ry_status run(const std::string& account, ry_exec* exec, ry_call_fn work, void* arg, ry_done done);
  // From now on, the host's threads do the work, so that the host waits for it before it destroys the module. Waits for all
  // earlier completions. Blocks.
  void close();

 private:
  struct job;
  static void finish(void* j) noexcept;

  const ry::context& ctx_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t pending_ = 0;
  bool closed_ = false;
  account_turns turns_{2};  // last: its threads use the other members
};

}  // namespace bubblewrap
