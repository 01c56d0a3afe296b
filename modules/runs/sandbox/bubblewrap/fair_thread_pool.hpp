// Thread pool with fair scheduling between accounts: an account with much work delays only its own work. At most one
// thread works for an account at a time.
//
// Thread: any. The destructor waits for all submitted work.
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

class fair_thread_pool {
 public:
  // max_waiting: limit for all accounts together.
  explicit fair_thread_pool(std::size_t threads, std::size_t max_waiting = 1000)
      : n_threads_(threads), max_waiting_(max_waiting) {}
  ~fair_thread_pool();
  fair_thread_pool(const fair_thread_pool&) = delete;
  fair_thread_pool& operator=(const fair_thread_pool&) = delete;

  // False: the limit of waiting work is reached. `work` must not throw.
  bool submit(const std::string& account, std::function<void()> work);

 private:
  void run();

  const std::size_t n_threads_, max_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The work of each account; the first item may be running.
  std::map<std::string, std::deque<std::function<void()>>> accounts_;
  std::deque<std::string> ready_;  // accounts that have work, none of which is running
  std::size_t waiting_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bubblewrap
