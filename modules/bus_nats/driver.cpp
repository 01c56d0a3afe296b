#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace bus_nats {
namespace {

using namespace std::chrono_literals;

// Size limit of the bytes of an event; readers get larger ones from the log.
constexpr std::size_t max_message = 256 * 1024;
constexpr std::size_t max_pieces = 65536;
constexpr auto shortest_pause = 100ms, longest_pause = 2000ms;
constexpr auto long_enough = 10s;  // a connection that lasted this long resets the backoff
constexpr auto look_time = 1000ms;
constexpr std::int64_t refusals_us = 10'000'000;

node_id node_of(std::string_view uuid) {
  node_id out{};
  if (const auto id = ry::uuid::parse(uuid)) std::copy_n(id->bytes, out.size(), out.begin());
  return out;
}

// For the log: subjects of other senders may contain any characters.
std::string shown(std::string_view text) {
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
      outbox_(max_pieces, settings_.queue_bytes) {
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
  outbox_.ring();
  if (thread_.joinable()) thread_.join();
}

ry_status driver::publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
  if (bytes.size() > max_message) return RY_OUT_OF_RANGE;
  switch (outbox_.put(topic, cursor, bytes)) {
    case outbox::taken::yes:
      return RY_OK;
    case outbox::taken::full:
      return RY_RESOURCE_EXHAUSTED;
    default:
      return RY_UNAVAILABLE;
  }
}

// ---- its thread ----------------------------------------------------------------------------------

void driver::work() {
  std::mt19937 chance(std::random_device{}());
  auto pause = shortest_pause;
  std::string reported;
  while (!stopping_.load()) {
    std::string why;
    bool served = false;
    const auto begun = std::chrono::steady_clock::now();
    try {
      served = serve(why);
    } catch (const std::exception& e) {
      why = e.what();
    }
    if (stopping_.load()) break;
    // A connection that keeps failing, for example because the stream refuses messages, must not reset the backoff.
    if (std::chrono::steady_clock::now() - begun > long_enough) pause = shortest_pause;
    if (served || why != reported) report_state(0, why);
    reported = why;
    // Jitter, so that not all nodes reconnect at once. The failed connection has also called ring(), so loop until the
    // time is over; only close() ends the wait early.
    const auto next =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(
                                               pause.count() / 2, pause.count())(chance));
    while (!stopping_.load() && std::chrono::steady_clock::now() < next)
      outbox_.take(std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now()));
    pause = std::min(pause * 2, std::chrono::duration_cast<std::chrono::milliseconds>(longest_pause));
  }
}

// Runs one connection from start to end. Returns true if the connection was up and the host was notified of both
// states.
bool driver::serve(std::string& why) {
  connection c(settings_, {[this](std::string_view subject, std::string_view data) { received(subject, data); },
                           [this] { sink_->missed(sink_ctx_); }, [this] { outbox_.ring(); }});
  bool forgot = false;
  why = c.open("runyard " + std::string(ctx_.fact("node_id")), place_, forgot);
  if (!why.empty()) return false;
  connects_.add();
  outbox_.open();
  report_state(1, "connected to " + c.server());
  if (forgot) sink_->missed(sink_ctx_);
  auto next_look = std::chrono::steady_clock::now() + look_time;
  while (why.empty() && !stopping_.load()) {
    for (const piece& p : outbox_.take(look_time)) {
      if (c.in_trouble())
        lose({p});
      else
        send(c, p);
    }
    place_ = c.at();
    if (std::chrono::steady_clock::now() >= next_look || c.in_trouble()) {
      why = c.look();
      next_look = std::chrono::steady_clock::now() + look_time;
    }
  }
  // From now on the host sends wake-ups through PostgreSQL. Report the wake-ups that were not sent.
  const auto left = outbox_.close();
  if (!stopping_.load()) report_state(0, why);
  lose(left);
  lose(c.unacknowledged());
  return true;
}

void driver::send(connection& c, const piece& p) {
  const std::string data = pack(key_, node_, p.topic, p.cursor, p.bytes);
  bytes_sent_.add(static_cast<double>(data.size()));
  if (!c.send(p, message_subject(settings_.subject, p.topic, ++sent_), message_id(node_, p.topic, p.cursor, p.bytes),
              data))
    lose({p});
}

void driver::lose(const std::vector<piece>& pieces) {
  for (const piece& p : pieces)
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
    return refuse("its subject is not the subject of a topic", subject);
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
  std::uint64_t untold;
  {
    std::lock_guard lock(refusals_mutex_);
    ++refusals_untold_;
    const auto now = ctx_.mono_us();
    if (refusals_told_us_ != 0 && now - refusals_told_us_ < refusals_us) return;
    refusals_told_us_ = now;
    untold = std::exchange(refusals_untold_, 0);
  }
  ctx_.warn("a message from NATS is ignored: it is not from a node of this deployment",
            {{"reason", reason}, {"subject", shown(subject)}, {"ignored", untold}});
}

}  // namespace bus_nats
