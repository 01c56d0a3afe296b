#include "api/event_follower.hpp"

#include <algorithm>
#include <utility>

#include "error_response.hpp"
#include "run/waiting.hpp"
#include "stream/remote_event_buffer.hpp"
#include "stream/subscriber.hpp"
#include "text.hpp"

namespace runs {
namespace {

// Some proxies forward the response only with the first byte of its body. If no event is ready within this time, the
// stream begins with a ping.
constexpr std::uint64_t first_ping_ms = 250;
// Delay after the last wake-up until the log is polled in case a wake-up was lost. It is short while polls find
// unannounced events, and grows otherwise, because every poll of a silent run costs one query per reader.
constexpr std::uint64_t poll_ms = 1'000;
constexpr std::uint64_t max_poll_ms = 4'000;
// Parked runs may wait for days, and there may be thousands of them. A decision wakes the readers of its run.
constexpr std::uint64_t max_parked_poll_ms = 30'000;
constexpr std::uint64_t retry_ms = 100;
// The run usually becomes live on this node soon, so only a stream that waits longer is announced to other nodes.
constexpr std::uint64_t first_wait_ms = 250;
constexpr std::int64_t announce_again_us = 20'000'000;

void add_gap(std::string& out, std::uint64_t from, std::uint64_t to) {
  event_text(out, to, "gap")
      .integer("from", static_cast<std::int64_t>(from))
      .integer("to", static_cast<std::int64_t>(to));
}

// The part of a page that may be sent to a reader at `next`. A missing number is not committed yet while the run
// continues; after the end of the run it has been pruned.
struct readable {
  std::string_view wire;  // of the page if it is sent unchanged
  std::string patched;  // otherwise
  std::uint64_t last = 0;  // 0: nothing
  std::uint64_t gaps = 0;
};
readable find_readable(const log_page& page, std::uint64_t next) {
  readable out;
  if (page.count == 0) return out;
  if (page.first == next && page.count == page.last - page.first + 1) {
    out.wire = page.wire;
    out.last = page.last;
    return out;
  }
  std::string_view rest = page.wire;
  for (event_view e = next_event(rest); e.sequence != 0; e = next_event(rest)) {
    if (e.sequence != next) {
      if (page.ended_at == 0) break;
      add_gap(out.patched, next, e.sequence - 1);
      ++out.gaps;
    }
    out.patched += e.wire;
    out.last = e.sequence;
    next = e.sequence + 1;
  }
  out.wire = out.patched;
  return out;
}

}  // namespace

// One reader.
struct event_follower::session {
  session(event_sink& to, const follow_options& options, std::string id, const run_metrics& metrics, viewer v)
      : counted_stream(metrics.streams),
        out(to, options.next, options.merge_ms != 0 ? subscriber::merging::on : subscriber::merging::off,
            metrics.stream_events),
        merge_ms(options.merge_ms),
        id(std::move(id)),
        counts_as_viewer(v) {
    if (options.snapshot) pending_snapshot = std::make_unique<snapshot>(options.next);
  }
  const counted counted_stream;
  subscriber out;
  std::uint64_t merge_ms;
  std::string id;  // of the run
  const viewer counts_as_viewer;
  std::unique_ptr<snapshot> pending_snapshot;  // events to send as one snapshot
  ry::uuid watcher_id;  // while announced_us is set
  std::int64_t announced_us = 0;  // when this reader was last announced to other nodes
  bool deleted = false;  // the run no longer exists
  bool parked = false;  // at the last read of the log
};

ry::task<event_follower::position> event_follower::find(ry::uuid run, ry::uuid account, std::uint64_t next) {
  position out;
  out.next = next;
  out.live = live_.find(run);
  std::uint64_t last_in_buffer = 0;  // the last event in its buffer, which may not be in the log yet
  if (out.live) {
    if (!(out.live->who.account == account)) throw refusal(404, "Run not found");
    co_await ctx_.switch_to(out.live->exec);
    // The reader may be ahead of a worker that has lost the run without having noticed.
    last_in_buffer = out.live->events.buffer.last();
    if (next > last_in_buffer + 1) out.live.reset();
  }
  if (!out.live) {
    ry::result<std::optional<run_head>> head = co_await repo_.head(run.to_string());
    if (!head.value() || (*head)->account_id != account.to_string()) throw refusal(404, "Run not found");
    out.has_all = (*head)->status != "running" && next > (*head)->last_seq;
    // The worker may have delivered events that are not in the log, but none beyond its reservation.
    if (!out.has_all && next > (*head)->reserved + 1) {
      out.skipped = std::max((*head)->last_seq, last_in_buffer);
      out.next = out.skipped + 1;
    }
  }
  co_return out;
}

ry::task<void> event_follower::follow(event_sink& to, ry::uuid run, position at, follow_options options, viewer v) {
  options.next = at.next;
  session s(to, options, run.to_string(), metrics_, v);
  if (at.skipped != 0) {
    // It is unknown which events the reader has, so a gap event reports that the stream contains no earlier events.
    std::string gap;
    add_gap(gap, 1, at.skipped);
    metrics_.stream_gaps.add();
    (void)co_await s.out.put_all(gap, at.skipped);
  }
  const event_sink::ending how = co_await read_events(s, std::move(at.live));
  to.close(how);
  if (s.announced_us != 0) co_await unwatch(s);
}

// Wake-ups and events for one reader of a run on another node. Shared with the subscription, whose last callback may
// arrive after the task has moved on. Thread: the subscription's executor.
struct event_follower::remote_source {
  ry::signal woken;
  remote_event_buffer tail;
  std::uint64_t durable = 0;  // the log has the events up to this number
  bool wake_pending = false;  // a wake-up arrived since the last check
  bool check_log = true;  // the log may have new events, regardless of wake-ups
  std::uint64_t wait_ms = first_wait_ms;
  std::uint64_t polled_at = 0;  // next event at the last poll without a wake-up; 0: there was none

  void update_wait(std::uint64_t next, bool parked) {
    if (polled_at == 0) return;
    const std::uint64_t longest = parked ? max_parked_poll_ms : max_poll_ms;
    wait_ms = next != polled_at ? poll_ms : std::clamp(wait_ms * 2, poll_ms, longest);
    polled_at = 0;
  }
  ry::subscription topic;

  bool should_check_log(std::uint64_t next) const { return check_log || durable >= next; }
};

std::shared_ptr<event_follower::remote_source> event_follower::subscribe(const session& s, ry_exec* exec) {
  auto remote = std::make_shared<remote_source>();
  const ry::context& ctx = ctx_;
  remote->topic = ctx.events().live_subscribe(
      topic_of(*ry::uuid::parse(s.id)), exec,
      [&ctx, remote = std::weak_ptr<remote_source>(remote), id = s.id](const ry::live_message& m) {
        const std::shared_ptr<remote_source> f = remote.lock();
        if (!f) return;
        if (m.bytes.empty()) {
          f->durable = std::max(f->durable, m.cursor);
          f->check_log = f->check_log || m.cursor == 0;
        } else if (!f->tail.add(m.bytes, m.cursor)) {
          ctx.warn("another node sent malformed events of a run; the stream reads the event log instead",
                   {{"run", id}});
          f->check_log = true;
        }
        f->wake_pending = true;
        f->woken.set();
      });
  return remote;
}

ry::task<void> event_follower::watch(session& s) {
  const std::int64_t now = ctx_.mono_us();
  if (s.announced_us == 0) s.watcher_id = ctx_.new_uuid();
  s.announced_us = now;
  ry::result<void> done = co_await repo_.watch(s.watcher_id, s.id);
  if (!done && done.status() != RY_CANCELLED)
    ctx_.log_error("the row for an open stream (runs.watcher) could not be written", done.error());
}

ry::task<void> event_follower::unwatch(session& s) {
  s.announced_us = 0;
  ry::task<ry::result<void>> removal = repo_.unwatch(s.watcher_id);
  // Shielded, so that it also runs for a cancelled request. If it fails, the row expires automatically.
  (void)co_await ry::shield(std::move(removal));
}

ry::task<event_sink::ending> event_follower::read_events(session& s, std::shared_ptr<live_run> live) {
  const ry::uuid uuid = *ry::uuid::parse(s.id);
  std::shared_ptr<remote_source> remote;
  bool waited = false;
  for (;;) {
    outcome result = outcome::read_more;
    if (live) {
      // A live run counts its readers, so the announcement is removed.
      if (s.announced_us != 0) co_await unwatch(s);
      co_await ctx_.switch_to(live->exec);
      result = co_await read_buffer(s, live);
    } else {
      result = co_await read_remote(s, remote);
      if (result == outcome::caught_up && s.pending_snapshot) {
        const bool connected = co_await send_snapshot(s);
        if (!connected) result = outcome_after_failed_write(s);
      }
      if (result == outcome::caught_up && s.out.pending()) {
        s.out.break_silence();
        // Events within this time are merged with the pending chunk.
        (void)co_await ctx_.sleep(s.merge_ms);
        if (remote) remote->check_log = true;
        result = co_await read_remote(s, remote);
        if (result != outcome::finished && s.out.flush() != RY_OK) result = outcome::finished;
      }
      if (result == outcome::caught_up && !remote) {
        // Callbacks arrive on this executor, which does not change without a live run. The loop then polls again for
        // events that preceded the subscription.
        ry_exec* exec = co_await ry::this_exec();
        remote = subscribe(s, exec);
      } else if (result == outcome::caught_up) {
        const bool due = s.announced_us == 0 || ctx_.mono_us() - s.announced_us > announce_again_us;
        if (waited) s.out.break_silence();
        if (waited && due && s.counts_as_viewer == viewer::yes) co_await watch(s);
        remote->update_wait(s.out.next, s.parked);
        if (!remote->wake_pending) {
          remote->woken.reset();  // may still be set for events that have already been handled
          co_await wait_for(ctx_, remote->woken, remote->wait_ms);
        }
        waited = true;
        if (std::exchange(remote->wake_pending, false)) {
          remote->wait_ms = max_poll_ms;
        } else {
          remote->check_log = true;
          remote->polled_at = s.out.next;
        }
      }
    }
    if (result == outcome::finished) co_return s.deleted ? event_sink::ending::deleted : event_sink::ending::finished;
    if (s.out.to.cancel().cancelled()) {
      const bool drains = s.out.to.cancel().why() == RY_REASON_SHUTDOWN;
      if (drains) (void)s.out.flush();
      co_return drains ? event_sink::ending::draining : event_sink::ending::finished;
    }
    live = live_.find(uuid);
    if (live) remote.reset();
  }
}

ry::task<event_follower::outcome> event_follower::read_buffer(session& s, std::shared_ptr<live_run> run) {
  struct counted {
    live_run& run;
    const std::size_t viewers;
    explicit counted(live_run& run, std::size_t viewers) : run(run), viewers(viewers) { run.events.streams += viewers; }
    ~counted() { run.events.streams -= viewers; }
  } count(*run, s.counts_as_viewer == viewer::yes ? 1 : 0);
  while (!s.out.to.cancel().cancelled()) {
    if (s.pending_snapshot) {
      const event_buffer::range text = run->events.buffer.text_from(s.out.next);
      if (text.from != 0) {
        (void)add_to_snapshot(s, text.wire);
        const bool connected = co_await send_snapshot(s);
        if (!connected) co_return outcome_after_failed_write(s);
      }
    }
    if (!s.pending_snapshot) {
      const outcome result = co_await serve_attached(s, *run);
      if (result != outcome::caught_up) co_return result;
    }
    const outcome result = co_await read_log(s);
    if (result == outcome::finished) co_return result;
    if (run->events.ended()) co_return outcome::read_more;
    // The log could not be read, or the event will be in the buffer first.
    if (result == outcome::caught_up) (void)co_await ctx_.sleep(retry_ms);
  }
  co_return outcome::read_more;
}

// Serves the reader from memory as long as possible. caught_up: read the log.
ry::task<event_follower::outcome> event_follower::serve_attached(session& s, live_run& run) {
  reader r(s.out);
  struct attachment {
    live_run& run;
    reader& r;
    attachment(live_run& run, reader& r) : run(run), r(r) { run.events.attach(r); }
    ~attachment() { run.events.detach(r); }
  } attach(run, r);
  while (r.at == reader::state::attached) {
    if (s.out.pending()) {
      s.out.break_silence();
      ry::result<void> elapsed = co_await ctx_.sleep(s.merge_ms);
      if (!elapsed) co_return outcome::read_more;
      if (r.at == reader::state::attached && s.out.flush() != RY_OK) co_return outcome::finished;
    } else if (s.out.should_confirm()) {
      const bool connected = co_await s.out.confirm();
      if (!connected) co_return outcome_after_failed_write(s);
    } else if (s.out.is_silent()) {
      co_await wait_for(ctx_, r.woken, first_ping_ms);
      s.out.break_silence();
    } else {
      ry::result<void> woken = co_await r.woken.wait();
      if (!woken) co_return outcome::read_more;
    }
  }
  switch (r.at) {
    case reader::state::finished:
    case reader::state::gone:
      co_return outcome::finished;
    default:
      break;
  }
  // Backpressure: do not read more before the connection has accepted the previous data.
  const bool connected = co_await s.out.confirm();
  if (!connected) co_return outcome_after_failed_write(s);
  co_return outcome::caught_up;
}

ry::task<event_follower::outcome> event_follower::read_log(session& s) {
  ry::result<log_page> page = co_await repo_.log(s.id, s.out.next);
  if (!page) {
    if (page.status() == RY_CANCELLED) co_return outcome::read_more;
    ctx_.log_error("the event log could not be read", page.error());
    co_return outcome::caught_up;
  }
  if (!page->known) {
    s.deleted = true;
    co_return outcome::finished;
  }
  s.parked = page->parked;
  const bool ended = page->ended_at != 0;
  if (page->count != 0 && page->first > s.out.next && ended) {
    std::string gap;
    add_gap(gap, s.out.next, page->first - 1);
    metrics_.stream_gaps.add();
    const bool connected = co_await s.out.put_all(gap, page->first - 1);
    if (!connected) co_return outcome_after_failed_write(s);
    if (s.pending_snapshot && s.pending_snapshot->empty()) s.pending_snapshot = std::make_unique<snapshot>(page->first);
  }
  const readable text = find_readable(*page, s.out.next);
  if (text.last == 0) {
    if (!ended) co_return outcome::caught_up;
    if (s.pending_snapshot) (void)co_await send_snapshot(s);
    co_return outcome::finished;  // the terminal event has already been read
  }
  std::string_view wire = text.wire;
  if (s.pending_snapshot) {
    wire = add_to_snapshot(s, wire);
    if (wire.empty()) co_return outcome::read_more;
    const bool connected = co_await send_snapshot(s);
    if (!connected) co_return outcome_after_failed_write(s);
  }
  metrics_.stream_events.add(static_cast<double>(text.last + 1 - s.out.next));
  metrics_.stream_gaps.add(static_cast<double>(text.gaps));
  const bool connected = co_await s.out.put_all(wire, text.last);
  if (!connected) co_return outcome_after_failed_write(s);
  const bool finished = ended && text.last >= page->ended_at;
  co_return finished ? outcome::finished : outcome::read_more;
}

// Reads the log if it may have events, then the events from the bus. Without `far`: only the log.
ry::task<event_follower::outcome> event_follower::read_remote(session& s, std::shared_ptr<remote_source> remote) {
  if (!remote || remote->should_check_log(s.out.next)) {
    if (remote) remote->check_log = false;
    const outcome read = co_await read_log(s);
    if (remote && read == outcome::read_more) remote->check_log = true;
    if (read != outcome::caught_up) co_return read;
  }
  if (!remote || s.pending_snapshot) co_return outcome::caught_up;
  for (;;) {
    const remote_event_buffer::text text = remote->tail.take(s.out.next);
    if (text.last == 0) co_return outcome::caught_up;
    // A slow reader waits here; the log keeps events that exceed the buffer meanwhile.
    metrics_.stream_events.add(static_cast<double>(text.last + 1 - s.out.next));
    const bool connected = co_await s.out.put_all(text.wire, text.last);
    if (!connected) co_return outcome_after_failed_write(s);
    if (text.ends_run) co_return outcome::finished;
  }
}

// Adds events to the snapshot; returns the rest, which begins with the terminal event.
std::string_view event_follower::add_to_snapshot(session& s, std::string_view wire) {
  std::string_view rest = wire;
  for (event_view e = next_event(rest); e.sequence != 0; e = next_event(rest)) {
    if (!s.pending_snapshot->add(e)) return wire;
    s.out.next = e.sequence + 1;
    wire = rest;
  }
  return {};
}

// A cancelled reader may still receive the request to reconnect if it has received only complete events.
event_follower::outcome event_follower::outcome_after_failed_write(const session& s) {
  return s.out.whole() && s.out.to.cancel().cancelled() ? outcome::read_more : outcome::finished;
}

ry::task<bool> event_follower::send_snapshot(session& s) {
  const std::unique_ptr<snapshot> all = std::move(s.pending_snapshot);
  if (all->empty()) co_return true;
  std::string wire;
  all->write(wire);
  const bool connected = co_await s.out.put_all(wire, all->last());
  co_return connected;
}

}  // namespace runs
