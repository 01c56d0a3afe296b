// The pending interruption of a run: a stop request, a deadline, a lost lease or the shutdown of the node.
//
// Thread: the executor of the run. Lifetime: that of the run.
#pragma once
#include <ry/ry.hpp>
#include <vector>

namespace runs {

// Something that an executor awaits and can cancel. On the run's executor.
class abortable {
 public:
  virtual void abort() noexcept = 0;

 protected:
  ~abortable() = default;
};

class stop_state {
 public:
  // log_moved: woken by an interruption, because waiting for the log is then pointless. Outlives this object.
  stop_state(const ry::context& ctx, ry::signal& log_moved) : ctx_(ctx), log_moved_(log_moved) {}
  stop_state(const stop_state&) = delete;

  // RY_REASON_*: the strongest reason so far: lease lost, user, deadline, shutdown. 0: none.
  std::int32_t reason() const { return reason_; }
  // A shutdown only asks for the next checkpoint; set_urgent() makes it final.
  void interrupt(std::int32_t reason);
  void set_urgent();
  bool must_break() const { return reason_ != 0 && (reason_ != RY_REASON_SHUTDOWN || hurried_); }
  std::int64_t shutdown_since_us() const { return shutdown_since_us_; }

  // During its lifetime, an interruption calls abort(), immediately if one is already pending.
  class working {
   public:
    working(stop_state& stop, abortable& what);
    ~working();
    working(const working&) = delete;

   private:
    stop_state& stop_;
    abortable& what_;
  };

 private:
  void abort_all();

  const ry::context& ctx_;
  ry::signal& log_moved_;
  std::vector<abortable*> active_;
  std::int32_t reason_ = 0;
  std::int64_t shutdown_since_us_ = 0;
  bool hurried_ = false;
};

}  // namespace runs
