// Places for commands in sandboxes on this node: so many at once altogether, and so many of one account.
// Who finds none waits; next goes one whose account has a place left and the fewest taken, and of such accounts
// the one that was served longest ago.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <utility>

#include "live_run.hpp"

namespace runs {

class sandbox_places {
 public:
  // 0: any number.
  sandbox_places(const ry::context& ctx, std::int64_t all, std::int64_t per_account)
      : ctx_(ctx), all_(all), per_account_(per_account) {}

  // Gives the place back at its end.
  class place {
   public:
    place() = default;
    place(sandbox_places& of, const ry::uuid& account) : of_(&of), account_(account) {}
    place(place&& o) noexcept : of_(std::exchange(o.of_, nullptr)), account_(o.account_) {}
    place& operator=(place&&) = delete;
    ~place() {
      if (of_ != nullptr) of_->leave(account_);
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    sandbox_places* of_ = nullptr;
    ry::uuid account_;
  };
  // On the run's executor. Empty when the run is interrupted meanwhile.
  ry::task<place> take(std::shared_ptr<live_run> run);

 private:
  struct waiting;
  using line = std::deque<std::shared_ptr<waiting>>;
  struct use {
    std::int64_t taken = 0, waiting = 0;
    std::uint64_t served = 0;  // the turn of its last place
  };
  bool fits(const use& of) const;
  void give(use& to);
  line::iterator next_in_line();
  void forget_idle(const std::string& account);
  void leave(const ry::uuid& account);

  const ry::context& ctx_;
  const std::int64_t all_, per_account_;
  std::mutex mutex_;
  std::int64_t taken_ = 0;
  std::uint64_t turn_ = 0;
  std::map<std::string, use> accounts_;  // that have places, or wait for some
  line line_;
};

}  // namespace runs
