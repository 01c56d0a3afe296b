#include "call_stream.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <ry/cpp/runs.hpp>
#include <vector>

namespace mcp_server {
namespace {

constexpr std::uint64_t keepalive_ms = 10'000;
constexpr std::uint64_t repeat_ms = 15'000;
constexpr std::uint64_t retry_ms = 2000;
constexpr std::int64_t min_report_interval_us = 100'000;
// A reader that starts late gets only the last notifications of what it missed.
constexpr std::size_t max_notifications = 20;
// Pieces of a response, so that a large one does not exceed the queue of the connection.
constexpr std::size_t piece_bytes = 64 * 1024;

}  // namespace

std::shared_ptr<call_stream> call_stream::open(const ry::context& ctx, const ry::request& r, const client& c,
                                               stream_position position) {
  auto s = std::make_shared<call_stream>(ctx, r.open_sse(), c, std::move(position));
  s->out_.raw().keepalive(keepalive_ms, ": ping\n\n");
  if (s->resumable_ && c.rev >= revision::v2025_11_25) {
    // An event without data, from whose id the client can resume before the first notification.
    s->out_.retry(retry_ms);
    s->out_.send("", s->position_.text());
    s->has_id_ = true;
  }
  if (!s->position_.progress_token.is_null()) ctx.spawn(repeat_progress(s), r.exec());
  return s;
}

call_stream::call_stream(const ry::context& ctx, ry::sse out, const client& c, stream_position position)
    : ctx_(ctx),
      out_(std::move(out)),
      resumable_(!c.stateless() && !position.run_id.empty()),
      position_(std::move(position)),
      counter_(position_.sequence),
      state_(position_.run_id.empty() ? "Waiting for the tool" : "Waiting for the run"),
      last_sent_us_(ctx.mono_us()),
      done_(ctx.tasks().token()) {}

ry::task<void> call_stream::add(const ry::runs::batch& events) {
  struct update {
    std::uint64_t sequence;
    std::string text;
  };
  std::vector<update> updates;
  for (const ry::runs::event& e : events.events) {
    if (e.sequence <= position_.sequence) continue;  // sent before the stream was resumed
    position_.sequence = e.sequence;
    if (position_.progress_token.is_null()) continue;
    boost::system::error_code failed;
    const json::value v = module_json::parse_exactly(e.json, 64, failed);
    if (failed || !v.is_object()) continue;
    if (auto text = progress_text(v.get_object())) updates.push_back({e.sequence, std::move(*text)});
  }
  const std::size_t skipped = updates.size() > max_notifications ? updates.size() - max_notifications : 0;
  for (std::size_t i = skipped; i < updates.size(); ++i) {
    state_ = updates[i].text;
    position_.sequence = updates[i].sequence;
    send_progress(counter_.at(updates[i].sequence), updates[i].text);
  }
  if (!events.events.empty()) position_.sequence = std::max(position_.sequence, events.events.back().sequence);
  ry::result<void> ready = co_await out_.ready();
  ready.value();
}

void call_stream::send_progress(std::uint64_t value, const std::string& text) {
  if (closed_) return;
  const std::string data = json::serialize(progress_notification(position_.progress_token, value, text));
  out_.send(data, resumable_ ? position_.text() : std::string(), "message");
  has_id_ = has_id_ || resumable_;
  last_sent_us_ = ctx_.mono_us();
}

ry::task<void> call_stream::repeat_progress(std::shared_ptr<call_stream> self) {
  co_await ry::with_cancel(self->done_.token(), [](std::shared_ptr<call_stream> s) -> ry::task<void> {
    while (!s->closed_) {
      ry::result<void> slept = co_await s->ctx_.sleep(repeat_ms);
      if (!slept.ok() || s->closed_) co_return;
      if (s->ctx_.mono_us() - s->last_sent_us_ < static_cast<std::int64_t>(repeat_ms) * 900) continue;
      s->send_progress(s->counter_.next(), s->state_);
    }
  }(self));
}

void call_stream::report(std::string text) {
  if (position_.progress_token.is_null()) return;
  state_ = std::move(text);
  if (reported_ && ctx_.mono_us() - last_sent_us_ < min_report_interval_us) return;
  reported_ = true;
  send_progress(counter_.next(), state_);
}

void call_stream::ask(const json::object& request) {
  if (closed_) return;
  const std::string data = json::serialize(request);
  out_.send(data, resumable_ ? position_.text() : std::string(), "message");
  has_id_ = has_id_ || resumable_;
}

ry::task<void> call_stream::finish(json::object message) {
  closed_ = true;
  done_.cancel();
  // A keep-alive comment between two pieces would break the event.
  out_.raw().keepalive(0, {});
  const std::string wire = ry::sse::format(json::serialize(message), {}, "message");
  for (std::size_t at = 0; at < wire.size(); at += piece_bytes) {
    if (out_.raw().write(std::string_view(wire).substr(at, piece_bytes)) != RY_OK) break;
    ry::result<void> ready = co_await out_.ready();
    if (!ready.ok()) break;
  }
  out_.close();
}

bool call_stream::suspend() {
  if (!has_id_) return false;
  out_.retry(retry_ms);
  close();
  return true;
}

void call_stream::close() {
  closed_ = true;
  done_.cancel();
  out_.close();
}

}  // namespace mcp_server
