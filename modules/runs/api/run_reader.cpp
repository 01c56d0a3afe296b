#include "api/run_reader.hpp"

#include <utility>
#include <vector>

#include "stream/event_text.hpp"

namespace runs {
namespace {

constexpr std::string_view event_end = "\n\n";  // occurs only at the end of an event, because data is one line

}  // namespace

ry_status run_reader::write(std::string_view wire) {
  if (source_.token().cancelled()) return RY_CANCELLED;
  std::lock_guard lock(mutex_);
  pending_ += wire;
  const std::size_t end = pending_.rfind(event_end);
  if (end != std::string::npos) complete_ = end + event_end.size();
  if (complete_ != 0) schedule();
  return RY_OK;
}

ry::task<bool> run_reader::ready() {
  const ry::result<void> done = co_await ry::call_done([this](ry_exec* exec, ry_done done) -> ry_status {
    std::lock_guard lock(mutex_);
    if (source_.token().cancelled()) return RY_CANCELLED;
    if (complete_ == 0)
      ctx_.post(exec, [done] { done.fn(done.ctx, RY_OK, nullptr); });
    else
      waiter_ = {exec, done};
    return RY_OK;
  });
  co_return static_cast<bool>(done) && !source_.token().cancelled();
}

void run_reader::schedule() {
  if (scheduled_ || paused_) return;
  scheduled_ = true;
  ctx_.post(exec_, [self = shared_from_this()] { self->deliver(); });
}

void run_reader::deliver() {
  std::string wire;
  bool finished = false;
  {
    std::lock_guard lock(mutex_);
    scheduled_ = false;
    if (released_ || ended_ || paused_) return;
    if (complete_ == pending_.size()) {
      wire.swap(pending_);
    } else {
      wire = pending_.substr(0, complete_);
      pending_.erase(0, complete_);
    }
    complete_ = 0;
    finished = finished_;
  }
  if (!wire.empty()) {
    std::vector<ry_run_event> events;
    std::string_view rest = wire;
    for (event_view e = next_event(rest); e.sequence != 0; e = next_event(rest)) {
      events.push_back({e.sequence, ry::str(e.payload)});
      saw_terminal_ = is_terminal(e.payload);
    }
    delivering_ = true;
    resumed_ = false;
    ry_status st = events.empty() ? RY_OK : sink_.on_events(sink_ctx_, events.data(), events.size(), sizeof events[0]);
    delivering_ = false;
    if (released_) return;
    // The consumer has taken the batch already.
    if (st == RY_RESOURCE_EXHAUSTED && resumed_) st = RY_OK;
    if (st == RY_RESOURCE_EXHAUSTED) {
      std::lock_guard lock(mutex_);
      paused_ = true;
    } else if (st != RY_OK) {
      refused_ = st;
      source_.cancel(RY_REASON_USER);
      deliver_end();
    }
    if (st != RY_RESOURCE_EXHAUSTED) wake(RY_OK);
    if (st != RY_OK) return;
  }
  // The task that reads the events may end later.
  if (finished || saw_terminal_) deliver_end();
}

void run_reader::deliver_end() {
  if (ended_) return;
  ended_ = true;
  if (refused_ != RY_OK) return sink_.on_end(sink_ctx_, refused_, nullptr);
  if (saw_terminal_) return sink_.on_end(sink_ctx_, RY_OK, nullptr);
  if (error_) {
    const ry_error_view v = error_->view();
    return sink_.on_end(sink_ctx_, error_->status(), &v);
  }
  if (source_.token().cancelled() || ending_ == ending::draining) return sink_.on_end(sink_ctx_, RY_CANCELLED, nullptr);
  // The follower may have received the terminal event already.
  sink_.on_end(sink_ctx_, ending_ == ending::finished ? RY_OK : RY_NOT_FOUND, nullptr);
}

void run_reader::wake(ry_status st) {
  decltype(waiter_) waiting;
  {
    std::lock_guard lock(mutex_);
    waiting = std::exchange(waiter_, {});
  }
  if (waiting.exec != nullptr) ctx_.post(waiting.exec, [done = waiting.done, st] { done.fn(done.ctx, st, nullptr); });
}

void run_reader::finish(const ry::error* error) {
  std::lock_guard lock(mutex_);
  finished_ = true;
  if (paused_ && source_.token().cancelled()) {
    // The follower continues elsewhere from the last event that it has.
    paused_ = false;
    pending_.clear();
    complete_ = 0;
  }
  if (error != nullptr) error_ = std::make_unique<ry::error>(*error);
  schedule();
}

void run_reader::resume() {
  if (delivering_) {
    resumed_ = true;
    return;
  }
  bool more = false;
  {
    std::lock_guard lock(mutex_);
    if (!paused_) return;
    paused_ = false;
    more = complete_ != 0 || finished_;
    if (more) schedule();
  }
  if (!more) wake(RY_OK);
}

void run_reader::release() {
  released_ = true;
  source_.cancel(RY_REASON_GONE);
  wake(RY_CANCELLED);
}

}  // namespace runs
