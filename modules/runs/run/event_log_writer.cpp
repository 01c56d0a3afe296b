#include "run/event_log_writer.hpp"

#include <algorithm>
#include <ry/cpp/trace.hpp>

namespace runs {
namespace {
// A slow database gets fewer, larger appends: the writer pauses three times as long as an append took, up to the
// maximum pause.
constexpr std::uint64_t pause_per_write_time = 3;
constexpr std::uint64_t watch_interval_ms = 1000;
}  // namespace

bool event_log_writer::spawn(ry::task<void> t) {
  // Uses its own cancel token: the log is written completely even while the module stops. The writer serves all runs,
  // so it does not belong to a single trace.
  const ry::trace_switch during(ctx_, ry::trace::none(ctx_));
  return ctx_.spawn(std::move(t), exec_, ry::cancel_source().token());
}

void event_log_writer::touch(const std::shared_ptr<live_run>& run) {
  if (!run->progress.dirty) {
    run->progress.dirty = true;
    dirty_.push_back(run);
  }
  if (!writing_) writing_ = spawn(write_loop());
  if (run->events.buffer.stalled() && !urgent_) {
    urgent_ = true;  // set before the task begins, because the task may end immediately
    if (!spawn(write_now())) urgent_ = false;
  }
}

ry::task<void> event_log_writer::write_now() {
  (void)co_await write_once();
  urgent_ = false;
}

ry::task<void> event_log_writer::write_loop() {
  while (!dirty_.empty()) {
    (void)co_await ctx_.sleep(pause_ms_);
    const std::int64_t from = ctx_.mono_us();
    const bool wrote = co_await write_once();
    if (!wrote) continue;
    const auto took_ms = static_cast<std::uint64_t>(ctx_.mono_us() - from) / 1000;
    pause_ms_ = std::clamp(took_ms * pause_per_write_time, batch_ms_, max_batch_ms_);
  }
  writing_ = false;
}

ry::task<bool> event_log_writer::write_once() {
  struct part {
    std::shared_ptr<live_run> run;
    std::uint64_t from = 0, to = 0, reserve = 0;
  };
  std::vector<part> parts;
  append_batch batch;
  const std::vector<std::shared_ptr<live_run>> runs = std::exchange(dirty_, {});
  for (const std::shared_ptr<live_run>& run : runs) {
    run->progress.dirty = false;
    if (run->events.ended() || run->stop.reason() == RY_REASON_LEASE_LOST) continue;
    const std::string id = run->who.run.to_string();
    const event_buffer::range text = run->events.buffer.take_free();
    part p{run, text.from, text.to, 0};
    batch.events.add(text.wire, text.from, text.to);
    batch.runs.resize(batch.events.size(), id);
    if (const std::uint64_t up_to = run->events.buffer.wanted_reservation(); up_to != 0) {
      batch.reserve_runs.push_back(id);
      batch.reserve_fences.push_back(run->who.fence);
      batch.reserve_to.push_back(static_cast<std::int64_t>(up_to));
      p.reserve = up_to;
    }
    parts.push_back(std::move(p));
  }
  if (batch.runs.empty() && batch.reserve_runs.empty()) co_return false;
  repository::attempt which = repository::attempt::first;
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    ry::result<std::vector<std::string>> refused = co_await repo_.append(batch, which);
    if (refused) {
      for (const part& p : parts) {
        const std::string id = p.run->who.run.to_string();
        if (std::find(refused->begin(), refused->end(), id) != refused->end()) {
          // The text of a refused run is not in the log either, so it stays in the buffer.
          p.run->stop.interrupt(RY_REASON_LEASE_LOST);
          continue;
        }
        if (p.reserve != 0) p.run->events.buffer.reserve(p.reserve);
        // Serve readers from memory before done() may drop the text.
        p.run->events.deliver();
        if (p.to >= p.from) p.run->events.buffer.done(p.from, p.to);
        p.run->events.log_moved.set();
        (void)ctx_.events().live_publish(topic_of(p.run->who.run), p.run->events.buffer.durable(), {}, RY_LIVE_WAKEUP);
        if (!p.run->events.buffer.all_taken() && !p.run->events.ended()) touch(p.run);
      }
      co_return true;
    }
    const bool was_retry = which == repository::attempt::again;
    which = repository::attempt::again;
    if (!was_retry && refused.error().status() == RY_ALREADY_EXISTS) continue;
    ctx_.log_error("the event log could not be written", refused.error());
    // The batch can never be written: this worker abandons its runs.
    if (refused.error().status() != RY_UNAVAILABLE && refused.error().status() != RY_ABORTED &&
        refused.error().status() != RY_DEADLINE_EXCEEDED && pause > 3000) {
      for (const part& p : parts) p.run->stop.interrupt(RY_REASON_LEASE_LOST);
      co_return true;
    }
    const bool still_needed = std::any_of(parts.begin(), parts.end(), [](const part& p) {
      return p.run->stop.reason() != RY_REASON_LEASE_LOST && !p.run->events.ended();
    });
    if (!still_needed) co_return true;
    (void)co_await ctx_.sleep(pause);
  }
}

void event_log_writer::enlist(const std::shared_ptr<live_run>& run) {
  watched_.insert(run);
  if (!watching_) watching_ = spawn(watch_loop());
}

ry::task<void> event_log_writer::watch_loop() {
  while (!watched_.empty()) {
    (void)co_await ctx_.sleep(watch_interval_ms);
    const std::int64_t now = ctx_.mono_us();
    const auto overdue = [&](const live_run& run) { return run.who.deadline_us != 0 && now >= run.who.deadline_us; };
    const auto drain_expired = [&](const live_run& run) {
      return run.stop.shutdown_since_us() != 0 && now - run.stop.shutdown_since_us() >= drain_us_;
    };
    // Interrupting a run may end it, which changes watched_.
    std::vector<std::shared_ptr<live_run>> due;
    for (const std::shared_ptr<live_run>& run : watched_)
      if (overdue(*run) || drain_expired(*run)) due.push_back(run);
    for (const std::shared_ptr<live_run>& run : due) {
      if (overdue(*run)) run->stop.interrupt(RY_REASON_DEADLINE);
      if (drain_expired(*run)) run->stop.set_urgent();
    }
  }
  watching_ = false;
}

}  // namespace runs
