#include "account_turns.hpp"

#include <utility>

namespace bubblewrap {

account_turns::~account_turns() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& each : threads_) each.join();
}

bool account_turns::submit(const std::string& account, std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (waiting_ >= max_waiting_) return false;
  while (threads_.size() < n_threads_) threads_.emplace_back([this] { run(); });
  auto& own = accounts_[account];
  own.push_back(std::move(work));
  ++waiting_;
  if (own.size() > 1) return true;
  turns_.push_back(account);
  changed_.notify_one();
  return true;
}

void account_turns::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !turns_.empty(); });
    if (turns_.empty()) return;
    const std::string account = std::move(turns_.front());
    turns_.pop_front();
    const auto own = accounts_.find(account);
    const std::function<void()> work = std::move(own->second.front());
    --waiting_;
    lock.unlock();
    work();
    lock.lock();
    own->second.pop_front();
    if (own->second.empty()) {
      accounts_.erase(own);
      continue;
    }
    turns_.push_back(account);
    changed_.notify_one();
  }
}

}  // namespace bubblewrap
