// The pending interruption of a run: a stop request, a deadline, a lost lease or the shutdown of the node.
//
// Thread: the executor of the run. Lifetime: that of the run.
#pragma once
#include <ry/ry.hpp>
#include <vector>

namespace runs {

// An operation that an executor awaits and can abort. On the run's executor.
class abortable {
 public:
  virtual void abort() noexcept = 0;

 protected:
  ~abortable() = default;
};

class stop_state {
 public:
  // log_moved: the signal of progress of the event log. An interruption sets it too, because waiting for the log is
  // then pointless. It must outlive this object.
  stop_state(const ry::context& ctx, ry::signal& log_moved) : ctx_(ctx), log_moved_(log_moved) {}
  stop_state(const stop_state&) = delete;

  // RY_REASON_* with the highest priority so far: lease lost, user, deadline, others including shutdown. Of reasons
  // with equal priority, the first. 0: none.
  std::int32_t reason() const { return reason_; }
  // A shutdown lets the run continue to its next checkpoint; after set_urgent() it interrupts immediately.
  void interrupt(std::int32_t reason);
  void set_urgent();
  bool must_break() const { return reason_ != 0 && (reason_ != RY_REASON_SHUTDOWN || urgent_); }
  std::int64_t shutdown_since_us() const { return shutdown_since_us_; }

  // While this object exists, an interruption for which must_break() is true calls abort(); so does the constructor if
  // must_break() is already true.
  class working {
   public:
    working(stop_state& stop, abortable& target);
    ~working();
    working(const working&) = delete;

   private:
    stop_state& stop_;
    abortable& target_;
  };

 private:
  void abort_all();

  const ry::context& ctx_;
  ry::signal& log_moved_;
  std::vector<abortable*> active_;
  std::int32_t reason_ = 0;
  std::int64_t shutdown_since_us_ = 0;
  bool urgent_ = false;
};

}  // namespace runs
