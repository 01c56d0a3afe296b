#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace bus_nats {
namespace {

using namespace std::chrono_literals;

// Size limit of the bytes of an event; readers get larger ones from the log.
constexpr std::size_t max_message = 256 * 1024;
constexpr std::size_t max_queued_messages = 65536;
constexpr auto min_backoff = 100ms, max_backoff = 2000ms;
constexpr auto backoff_reset_after = 10s;  // a connection that lasted this long resets the backoff
constexpr auto check_interval = 1000ms;
constexpr std::int64_t refusal_log_interval_us = 10'000'000;

node_id node_of(std::string_view uuid) {
  node_id out{};
  if (const auto id = ry::uuid::parse(uuid)) std::copy_n(id->bytes, out.size(), out.begin());
  return out;
}

// Makes a subject safe for the log: subjects of other senders may contain any characters.
std::string printable(std::string_view text) {
  std::string out(text.substr(0, 120));
  for (char& c : out)
    if (c < 0x20 || c > 0x7e) c = '?';
  return out;
}

}  // namespace

driver::driver(const ry::context& ctx, settings s)
    : ctx_(ctx),
      settings_(std::move(s)),
      node_(node_of(ctx.fact("node_id"))),
      outbox_(max_queued_messages, settings_.queue_bytes) {
  const auto m = ctx.metrics();
  connects_ = m.counter("connects_total", "Connections opened to NATS");
  bytes_sent_ = m.counter("sent_bytes_total", "Bytes sent to NATS");
  const auto refused = [&](const char* reason) {
    return m.counter("refused_total", "Messages from NATS that no node of this deployment sent", {{"reason", reason}});
  };
  refused_forged_ = refused("seal");
  refused_malformed_ = refused("malformed");
  refused_subject_ = refused("subject");
  refused_large_ = refused("size");
}

driver::~driver() {
  close();
}

const ry_event_bus_v1* driver::table() {
  static constexpr ry_event_bus_v1 t{
      sizeof(ry_event_bus_v1), 0,
      [](void* self, const ry_bus_sink* sink, void* ctx) noexcept -> ry_status {
        try {
          return static_cast<driver*>(self)->open(sink, ctx);
        } catch (...) {
          return RY_INTERNAL;
        }
      },
      [](void* self, ry_done done) noexcept {
        static_cast<driver*>(self)->close();
        done.fn(done.ctx, RY_OK, nullptr);
      },
      [](void* self, ry_str topic, std::uint64_t cursor, ry_bytes bytes) noexcept -> ry_status {
        try {
          return static_cast<driver*>(self)->publish(ry::view(topic), cursor, ry::view(bytes));
        } catch (...) {
          return RY_INTERNAL;
        }
      }};
  return &t;
}

ry_status driver::open(const ry_bus_sink* sink, void* ctx) {
  sink_ = sink;
  sink_ctx_ = ctx;
  stopping_.store(false);
  thread_ = std::thread([this] { work(); });
  return RY_OK;
}

void driver::close() {
  stopping_.store(true);
  outbox_.wake();
  if (thread_.joinable()) thread_.join();
}

ry_status driver::publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
  if (bytes.size() > max_message) return RY_OUT_OF_RANGE;
  switch (outbox_.put(topic, cursor, bytes)) {
    case outbox::put_result::accepted:
      return RY_OK;
    case outbox::put_result::full:
      return RY_RESOURCE_EXHAUSTED;
    default:
      return RY_UNAVAILABLE;
  }
}

// ---- on the driver's thread ----------------------------------------------------------------------

void driver::work() {
  std::mt19937 random(std::random_device{}());
  auto backoff = min_backoff;
  std::string reported;
  while (!stopping_.load()) {
    std::string failure;
    bool served = false;
    const auto start = std::chrono::steady_clock::now();
    try {
      served = serve(failure);
    } catch (const std::exception& e) {
      failure = e.what();
    }
    if (stopping_.load()) break;
    // A connection that keeps failing, for example because the stream refuses messages, must not reset the backoff.
    if (std::chrono::steady_clock::now() - start > backoff_reset_after) backoff = min_backoff;
    if (served || failure != reported) report_state(0, failure);
    reported = failure;
    // Jitter, so that not all nodes reconnect at once. The failed connection has also called wake(), so loop until the
    // time is over; only close() ends the wait early.
    const auto next =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(
                                               backoff.count() / 2, backoff.count())(random));
    while (!stopping_.load() && std::chrono::steady_clock::now() < next)
      outbox_.take(std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now()));
    backoff = std::min(backoff * 2, std::chrono::duration_cast<std::chrono::milliseconds>(max_backoff));
  }
}

// Runs one connection until it fails or the driver stops. Returns true if the connection was up; the host was then
// notified that it came up and went down.
bool driver::serve(std::string& failure) {
  connection c(settings_, {[this](std::string_view subject, std::string_view data) { received(subject, data); },
                           [this] { sink_->missed(sink_ctx_); }, [this] { outbox_.wake(); }});
  bool messages_lost = false;
  failure = c.open("runyard " + std::string(ctx_.fact("node_id")), position_, messages_lost);
  if (!failure.empty()) return false;
  connects_.add();
  outbox_.open();
  report_state(1, "connected to " + c.server());
  if (messages_lost) sink_->missed(sink_ctx_);
  auto next_check = std::chrono::steady_clock::now() + check_interval;
  while (failure.empty() && !stopping_.load()) {
    for (const outgoing_message& p : outbox_.take(check_interval)) {
      if (c.has_failed())
        report_lost({p});
      else
        send(c, p);
    }
    position_ = c.at();
    if (std::chrono::steady_clock::now() >= next_check || c.has_failed()) {
      failure = c.check();
      next_check = std::chrono::steady_clock::now() + check_interval;
    }
  }
  // From now on, the host sends wake-ups through PostgreSQL. Report those that were not sent.
  const auto unsent = outbox_.close();
  if (!stopping_.load()) report_state(0, failure);
  report_lost(unsent);
  report_lost(c.unacknowledged());
  return true;
}

void driver::send(connection& c, const outgoing_message& p) {
  const std::string data = pack(key_, node_, p.topic, p.cursor, p.bytes);
  bytes_sent_.add(static_cast<double>(data.size()));
  if (!c.send(p, message_subject(settings_.subject, p.topic, ++sent_), message_id(node_, p.topic, p.cursor, p.bytes),
              data))
    report_lost({p});
}

void driver::report_lost(const std::vector<outgoing_message>& messages) {
  for (const outgoing_message& p : messages)
    if (p.bytes.empty()) sink_->lost(sink_ctx_, ry::str(p.topic), p.cursor);
}

void driver::report_state(std::uint32_t up, const std::string& detail) {
  sink_->state(sink_ctx_, up, ry::str(detail));
}

// ---- on a thread of libnats ----------------------------------------------------------------------

void driver::received(std::string_view subject, std::string_view data) {
  if (data.size() > max_message + 1024) {
    refused_large_.add();
    return refuse("it is too large", subject);
  }
  const auto topic = topic_of(settings_.subject, subject);
  if (!topic) {
    refused_subject_.add();
    return refuse("its subject does not contain a topic", subject);
  }
  message l;
  switch (unpack(key_, *topic, data, l)) {
    case flaw::malformed:
      refused_malformed_.add();
      return refuse("it is malformed", subject);
    case flaw::forged:
      refused_forged_.add();
      return refuse("it has no valid seal for its subject", subject);
    case flaw::none:
      break;
  }
  if (l.node == node_) return;
  sink_->message(sink_ctx_, ry::str(*topic), l.cursor,
                 {reinterpret_cast<const std::uint8_t*>(l.bytes.data()), l.bytes.size()});
}

void driver::refuse(const char* reason, std::string_view subject) {
  std::uint64_t unlogged;
  {
    std::lock_guard lock(refusals_mutex_);
    ++refusals_unlogged_;
    const auto now = ctx_.mono_us();
    if (refusals_logged_at_us_ != 0 && now - refusals_logged_at_us_ < refusal_log_interval_us) return;
    refusals_logged_at_us_ = now;
    unlogged = std::exchange(refusals_unlogged_, 0);
  }
  ctx_.warn("a message from NATS is ignored: it is not from a node of this deployment",
            {{"reason", reason}, {"subject", printable(subject)}, {"ignored", unlogged}});
}

}  // namespace bus_nats
