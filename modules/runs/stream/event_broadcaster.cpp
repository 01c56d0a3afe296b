#include "stream/event_broadcaster.hpp"

#include <algorithm>

namespace runs {
namespace {

// Larger texts are not published on the bus; readers on other nodes get them from the log.
constexpr std::size_t max_published_bytes = 200 * 1024;

}  // namespace

std::string topic_of(const ry::uuid& run) {
  return "runs." + run.to_string();
}

void event_broadcaster::attach(reader& r) {
  r.at = reader::state::attached;
  readers_.push_back(&r);
  if (ended_) {
    r.at = reader::state::behind;
    r.woken.set();
  } else {
    deliver();
  }
}

void event_broadcaster::detach(reader& r) {
  std::erase(readers_, &r);
  // Otherwise this small allocation could keep a memory page in use that the reader's buffers occupied.
  if (readers_.empty()) ry::give_back(readers_);
}

void event_broadcaster::deliver_soon() {
  if (delivery_due_ || (readers_.empty() && !ctx_.events().live_carries())) return;
  delivery_due_ = true;
  ctx_.post(exec_, [this, keep = owner_()] {
    delivery_due_ = false;
    deliver();
  });
}

void event_broadcaster::deliver() {
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
    if (readers_.size() == 1 || !out.takes_buffers()) {
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
  if (ctx_.events().live_carries()) publish_on_bus();
}

// Only this buffer publishes the run's events, and only deliverable ones, so events on the bus never become invalid.
// Readers notice an event that the bus did not carry and read it from the log.
void event_broadcaster::publish_on_bus() {
  const event_buffer::range text = buffer.text_from(published_ + 1);
  if (text.from == 0) {
    published_ = buffer.deliverable();
  } else if (!text.empty()) {
    if (text.wire.size() <= max_published_bytes)
      (void)ctx_.events().live_publish(topic_of(run_), text.to, text.wire, RY_LIVE_AHEAD);
    published_ = text.to;
  }
}

void event_broadcaster::end(ending how) {
  if (ended_) return;
  deliver();
  ended_ = true;
  for (reader* r : readers_) {
    if (r->at != reader::state::attached) continue;
    if (how == ending::finished && r->out.next > buffer.last()) {
      r->at = reader::state::finished;
      (void)r->out.flush();
      r->out.to.close(event_sink::ending::finished);
    } else {
      r->at = reader::state::behind;
    }
    r->woken.set();
  }
  log_moved.set();
  over.set();
}

}  // namespace runs
