// Thread pool with fair scheduling between accounts: an account with much work delays only itself. At most one thread
// works for an account at a time.
//
// Thread: any. The destructor waits for all work.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bubblewrap {

class account_turns {
 public:
  // max_waiting: limit for all accounts together.
  explicit account_turns(std::size_t threads, std::size_t max_waiting = 1000)
      : n_threads_(threads), max_waiting_(max_waiting) {}
  ~account_turns();
  account_turns(const account_turns&) = delete;
  account_turns& operator=(const account_turns&) = delete;

  // False: too much work waits. `work` must not throw.
  bool submit(const std::string& account, std::function<void()> work);

 private:
  void run();

  const std::size_t n_threads_, max_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The work of an account, of which the first may be running.
  std::map<std::string, std::deque<std::function<void()>>> accounts_;
  std::deque<std::string> turns_;  // accounts with work, none of which is running
  std::size_t waiting_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bubblewrap
