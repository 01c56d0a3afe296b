#include "sandbox_places.hpp"

#include <algorithm>
#include <vector>

namespace runs {

// In the line and in the frame that waits.
struct sandbox_places::waiting : abortable {
  ry::uuid account;
  ry_exec* exec = nullptr;
  bool given = false;  // under the lock
  bool aborted = false;  // on exec
  ry::signal changed;  // on exec

  void abort() noexcept override {
    aborted = true;
    changed.set();
  }
};

bool sandbox_places::fits(const ry::uuid& account) const {
  if (all_ != 0 && taken_ >= all_) return false;
  if (per_account_ == 0) return true;
  const auto own = taken_by_.find(account.to_string());
  return own == taken_by_.end() || own->second < per_account_;
}

ry::task<sandbox_places::place> sandbox_places::take(std::shared_ptr<live_run> run) {
  const auto me = std::make_shared<waiting>();
  me->account = run->who.account;
  me->exec = run->exec;
  {
    std::lock_guard lock(mutex_);
    if (fits(me->account)) {
      ++taken_;
      ++taken_by_[me->account.to_string()];
      me->given = true;
    } else {
      line_.push_back(me);
    }
  }
  if (me->given) co_return place(*this, me->account);
  {
    live_run::working busy(*run, *me);
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (me->given) break;
        if (me->aborted) {
          line_.erase(std::find(line_.begin(), line_.end(), me));
          co_return place();
        }
      }
      (void)co_await me->changed.wait();
    }
  }
  co_return place(*this, me->account);
}

void sandbox_places::leave(const ry::uuid& account) {
  std::vector<std::shared_ptr<waiting>> next;
  {
    std::lock_guard lock(mutex_);
    --taken_;
    const auto own = taken_by_.find(account.to_string());
    if (--own->second == 0) taken_by_.erase(own);
    for (auto it = line_.begin(); it != line_.end();) {
      if (!fits((*it)->account)) {
        ++it;
        continue;
      }
      ++taken_;
      ++taken_by_[(*it)->account.to_string()];
      (*it)->given = true;
      next.push_back(std::move(*it));
      it = line_.erase(it);
    }
  }
  for (auto& w : next) ctx_.post(w->exec, [w] { w->changed.set(); });
}

}  // namespace runs
