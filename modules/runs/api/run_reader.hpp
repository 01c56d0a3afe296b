// A follower of the service runs/1: collects the events that are available and delivers them in batches on the
// follower's executor.
//
// Thread: write(), ready(), ping(), close() and finish() on the executor of the run; the others on the follower's
// executor. Lifetime: shared by the task that reads the events and the handle of the follower.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>

#include "ry/svc/runs.h"
#include "stream/event_sink.hpp"

namespace runs {

class run_reader final : public event_sink, public std::enable_shared_from_this<run_reader> {
 public:
  run_reader(const ry::context& ctx, ry_exec* exec, const ry_run_sink& sink, void* sink_ctx)
      : ctx_(ctx), exec_(exec), sink_(sink), sink_ctx_(sink_ctx), source_(ctx.tasks().token()) {}

  ry_status write(std::string_view wire) override;
  ry_status write(const ry::buffer&) override { return RY_INTERNAL; }
  bool shares_buffers() const override { return false; }
  ry::task<bool> ready() override;
  void ping() override {}
  void close(ending how) override { ending_ = how; }
  ry::cancel_token cancel() const override { return source_.token(); }

  // No more events follow. error: nullptr unless reading has failed.
  void finish(const ry::error* error);
  // Continues after a pause.
  void resume();
  // The follower is closed: no more calls.
  void release();

 private:
  // Delivers on the follower's executor. Called with mutex_ locked.
  void schedule();
  void deliver();
  void deliver_end();
  // Releases the task that waits in ready().
  void wake(ry_status st);

  const ry::context& ctx_;
  ry_exec* const exec_;
  const ry_run_sink sink_;
  void* const sink_ctx_;
  ry::cancel_source source_;

  // Used only on exec_.
  bool released_ = false;
  bool ended_ = false;  // on_end was called
  bool delivering_ = false, resumed_ = false;  // inside on_events; resume() was called there
  bool saw_terminal_ = false;

  std::mutex mutex_;  // protects the members below
  std::string pending_;  // wire form; may end with a part of an event
  std::size_t complete_ = 0;  // size of the complete events in it
  bool scheduled_ = false, paused_ = false, finished_ = false;
  ry_status refused_ = RY_OK;  // the status with which the follower ended the delivery
  ending ending_ = ending::deleted;  // set before finish(); not set: the run does not exist
  std::unique_ptr<ry::error> error_;
  struct {
    ry_exec* exec = nullptr;
    ry_done done{};
  } waiter_;
  // Last, because it may be called while it is constructed.
  ry::cancel_callback<std::function<void(std::int32_t)>> on_cancel_{source_.token(),
                                                                    [this](std::int32_t) { wake(RY_CANCELLED); }};
};

}  // namespace runs
