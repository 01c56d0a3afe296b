#include "stream/live_run.hpp"

#include <algorithm>

#include "text.hpp"

namespace runs {
namespace {

// Larger texts are not sent ahead; readers get them from the log.
constexpr std::size_t most_ahead = 200 * 1024;

int strength(std::int32_t why) {
  switch (why) {
    case 0:
      return 0;
    case RY_REASON_LEASE_LOST:
      return 4;
    case RY_REASON_USER:
      return 3;
    case RY_REASON_DEADLINE:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

std::string topic_of(const ry::uuid& run) {
  return "runs." + run.to_string();
}

void live_run::attach(reader& r) {
  r.at = reader::state::attached;
  readers_.push_back(&r);
  if (ended_) {
    r.at = reader::state::behind;
    r.woken.set();
  } else {
    deliver();
  }
}

void live_run::detach(reader& r) {
  std::erase(readers_, &r);
  // A small allocation that stays would pin a whole page of memory that the reader used.
  if (readers_.empty()) ry::give_back(readers_);
}

void live_run::deliver_soon() {
  if (delivery_due_ || (readers_.empty() && !ctx_.events().live_carries())) return;
  delivery_due_ = true;
  ctx_.post(exec, [self = shared_from_this()] {
    self->delivery_due_ = false;
    self->deliver();
  });
}

void live_run::deliver() {
  // Most readers of a run wait for the same event, so they share the bytes.
  ry::buffer shared;
  std::uint64_t shared_from = 0;
  for (reader* r : readers_) {
    if (r->at != reader::state::attached) continue;
    subscriber& out = r->out;
    const event_buffer::range text = buffer.text_from(out.next);
    if (text.from == 0 || !out.has_room(text.wire.size())) {
      r->at = reader::state::behind;
      r->woken.set();
      continue;
    }
    if (text.empty()) continue;
    ry_status st;
    if (readers_.size() == 1 || out.merges()) {
      st = out.put(text.wire, text.to);
    } else {
      if (shared_from != text.from) {
        shared = ry::buffer(ctx_, text.wire);
        shared_from = text.from;
      }
      st = out.put(shared, text.wire.size(), text.to);
    }
    if (st != RY_OK) r->at = reader::state::gone;
    if (st != RY_OK || out.pending() || out.should_confirm()) r->woken.set();
  }
  if (ctx_.events().live_carries()) send_ahead();
}

// Only this buffer publishes the run's events, and only deliverable ones, so nothing on the bus can become invalid.
// Readers notice an event that the bus did not carry and read it from the log.
void live_run::send_ahead() {
  const event_buffer::range text = buffer.text_from(sent_ + 1);
  if (text.from == 0) {
    sent_ = buffer.deliverable();
  } else if (!text.empty()) {
    if (text.wire.size() <= most_ahead)
      (void)ctx_.events().live_publish(topic_of(who.run), text.to, text.wire, RY_LIVE_AHEAD);
    sent_ = text.to;
  }
}

void live_run::end(ending how) {
  if (ended_) return;
  deliver();
  ended_ = true;
  files.reset();  // slow readers keep the run object for long
  for (reader* r : readers_) {
    if (r->at != reader::state::attached) continue;
    if (how == ending::finished && r->out.next > buffer.last()) {
      r->at = reader::state::finished;
      (void)r->out.flush();
      r->out.to.close();
    } else {
      r->at = reader::state::behind;
    }
    r->woken.set();
  }
  log_moved.set();
  over.set();
}

void live_run::note_cause(std::string text) {
  constexpr std::size_t most = 10, most_bytes = 2000;
  if (causes.size() == most) causes.erase(causes.begin());
  causes.push_back({ctx_.now_unix_us(), step + 1, shorten(text, most_bytes)});
}

void live_run::interrupt(std::int32_t why) {
  if (why == RY_REASON_SHUTDOWN && shutdown_since_us_ == 0) shutdown_since_us_ = ctx_.mono_us();
  if (strength(why) <= strength(why_)) return;
  why_ = why;
  if (must_break()) abort_all();
}

void live_run::hurry() {
  if (hurried_) return;
  hurried_ = true;
  if (must_break()) abort_all();
}

void live_run::abort_all() {
  const std::vector<abortable*> all = active_;
  for (abortable* a : all)
    if (std::find(active_.begin(), active_.end(), a) != active_.end()) a->abort();
  log_moved.set();
}

live_run::working::working(live_run& run, abortable& what) : run_(run), what_(what) {
  run_.active_.push_back(&what_);
  if (run_.must_break()) what_.abort();
}

live_run::working::~working() {
  std::erase(run_.active_, &what_);
}

}  // namespace runs
