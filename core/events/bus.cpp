#include "core/events/bus.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>

#include "core/db/database.hpp"
#include "core/jobs/queue.hpp"
#include "core/observe/log.hpp"

namespace ry::events {

namespace {

constexpr auto channel = "core.bus";
constexpr auto tick_time = std::chrono::milliseconds(500);
constexpr unsigned ticks_per_word = 2;
constexpr auto believed_time = std::chrono::seconds(3);
constexpr std::string_view sign_topic = "core.bus";
constexpr std::size_t max_nodes = 200;  // in one message through the database
// After a disconnect the other nodes rely on the bus to this node for a short time, so subscribers poll at some more
// ticks.
constexpr unsigned polls_after_loss = 3;

}  // namespace

// The context of the sink that the driver calls. Lives until the driver has closed.
struct bus_connection::link {
  link(bus_connection& line, bus_driver d) : line(line), driver(std::move(d)), alive(driver.owner) {}
  bus_connection& line;
  const bus_driver driver;
  module::hold alive;
  std::function<void()> on_removed;

  static link& of(void* ctx) { return *static_cast<link*>(ctx); }
  static void message(void* ctx, ry_str topic, std::uint64_t cursor, ry_bytes bytes) noexcept {
    auto& line = of(ctx).line;
    if (core::sv(topic) == sign_topic) return line.on_heartbeat(core::sv(bytes));
    line.received_.fetch_add(1, std::memory_order_relaxed);
    line.to_.message(core::sv(topic), cursor, core::sv(bytes));
  }
  static void lost(void* ctx, ry_str topic, std::uint64_t cursor) noexcept {
    auto& line = of(ctx).line;
    line.lost_.fetch_add(1, std::memory_order_relaxed);
    line.to_.wake(core::sv(topic), cursor);
  }
  static void missed(void* ctx) noexcept { of(ctx).line.to_.missed(); }
  static void state(void* ctx, std::uint32_t up, ry_str detail) noexcept {
    of(ctx).line.changed(of(ctx), up != 0, core::str(detail));
  }
  static void closed(void* ctx, ry_status, const ry_error_view*) noexcept {
    std::unique_ptr<std::shared_ptr<link>> own(static_cast<std::shared_ptr<link>*>(ctx));
    (*own)->alive = module::hold();
    if ((*own)->on_removed) (*own)->on_removed();
  }
  static constexpr ry_bus_sink sink{sizeof(ry_bus_sink), 0, message, lost, missed, state};
};

bus_connection::bus_connection(module::runtime& rt, receiver to) : rt_(rt), to_(std::move(to)) {}

bus_connection::~bus_connection() = default;

std::shared_ptr<bus_connection::link> bus_connection::current() const {
  std::lock_guard lock(mutex_);
  return link_;
}

void bus_connection::add(bus_driver driver) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(driver));
  }
  use_first();
}

void bus_connection::use_first() {
  std::shared_ptr<link> l;
  {
    std::lock_guard lock(mutex_);
    if (link_ || waiting_.empty()) return;
    l = link_ = std::make_shared<link>(*this, std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
    detail_ = "not connected yet";
  }
  const auto& d = l->driver;
  const auto st = module::invoke(d.owner, "event bus", d.table->open, d.self, &link::sink, static_cast<void*>(l.get()));
  if (st != RY_OK) changed(*l, false, "the driver did not open");
  arm();
}

void bus_connection::remove(std::string_view name, std::function<void()> on_removed) {
  std::shared_ptr<link> l;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const auto& d) { return d.name == name; });
    if (link_ && link_->driver.name == name) l = std::move(link_);
  }
  if (!l) {
    on_removed();
    return;
  }
  const bool was_up = up_.exchange(false);
  update_state();
  if (was_up) {
    broadcast_state("off");
    to_.missed();
  }
  l->on_removed = std::move(on_removed);
  const auto& d = l->driver;
  auto* raw = new std::shared_ptr<link>(l);
  module::invoke(d.owner, "event bus", d.table->close, d.self, ry_done{link::closed, raw});
  use_first();
}

void bus_connection::changed(link& l, bool up, std::string detail) {
  bool was_up;
  {
    std::lock_guard lock(mutex_);
    if (link_.get() != &l) return;
    was_up = up_.exchange(up);
    // Still down, for the reason that was already reported.
    if (was_up == up && detail == detail_) return;
    detail_ = detail;
    if (was_up != up) polls_left_ = up ? 0 : polls_after_loss;
  }
  if (was_up != up) changes_.fetch_add(1, std::memory_order_relaxed);
  update_state();
  if (up)
    observe::log(observe::level::info, "events", "the event bus is available",
                 {{"bus", l.driver.name}, {"detail", detail}});
  else
    observe::log(observe::level::warn, "events", "the event bus is unavailable; wake-ups go through the database",
                 {{"bus", l.driver.name}, {"detail", detail}});
  if (was_up == up) return;
  if (up)
    send_heartbeat();
  else
    broadcast_state("off");
  if (!up) to_.missed();
}

ry_status bus_connection::publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
  const auto l = current();
  if (!l || !carries()) return RY_UNAVAILABLE;
  const auto& d = l->driver;
  const auto st =
      module::invoke(d.owner, "event bus", d.table->publish, d.self, core::view(topic), cursor, core::bytes(bytes));
  (st == RY_OK ? sent_ : refused_).fetch_add(1, std::memory_order_relaxed);
  return st;
}

// ---- which nodes receive it ----------------------------------------------------------------------

void bus_connection::start() {
  listen_id_ = rt_.db->on_message(channel, [this](std::string_view payload) { on_message(payload); });
  running_.store(true);
  arm();
}

void bus_connection::stop() {
  if (!running_.exchange(false)) return;
  if (listen_id_) rt_.db->unlisten(std::exchange(listen_id_, 0));
}

void bus_connection::send_heartbeat() {
  const auto l = current();
  if (!running_.load() || !l || !up_.load() || !rt_.jobs || rt_.jobs->other_nodes() == 0) return;
  std::uint64_t n;
  {
    std::lock_guard lock(mutex_);
    n = ++heartbeats_;
  }
  const auto& d = l->driver;
  const std::string node = rt_.jobs->node_id();
  module::invoke(d.owner, "event bus", d.table->publish, d.self, core::view(sign_topic), n, core::bytes(node));
}

void bus_connection::on_heartbeat(std::string_view node) {
  if (node.empty() || node.size() > 64 || !up_.load()) return;
  bool news;
  {
    std::lock_guard lock(mutex_);
    if (senders_.size() >= max_nodes && !senders_.contains(std::string(node))) return;
    auto& until = senders_[std::string(node)];
    const auto now = std::chrono::steady_clock::now();
    news = until < now;
    until = now + believed_time;
  }
  if (news) broadcast_state(heartbeat_senders());
}

std::string bus_connection::heartbeat_senders() {
  std::string out = "on";
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(senders_, [&](const auto& h) { return h.second < now; });
  for (const auto& [node, until] : senders_) out += " " + node;
  return out;
}

// Broadcasts "<node> off", or "<node> on" and the nodes whose heartbeats this node receives.
void bus_connection::broadcast_state(const std::string& what) {
  if (!running_.load() || !rt_.jobs || rt_.jobs->other_nodes() == 0) return;
  rt_.db->broadcast(channel, rt_.jobs->node_id() + " " + what);
}

void bus_connection::on_message(std::string_view payload) {
  const std::string me = rt_.jobs->node_id();
  const std::string node(payload.substr(0, payload.find(' ')));
  if (node.empty() || node == me) return;
  const bool receives = payload.substr(node.size()).find(" " + me) != payload.npos;
  {
    std::lock_guard lock(mutex_);
    if (receives)
      receivers_[node] = std::chrono::steady_clock::now() + believed_time;
    else
      receivers_.erase(node);
  }
  update_state();
}

void bus_connection::update_state() {
  const std::vector<std::string> others = rt_.jobs ? rt_.jobs->peers() : std::vector<std::string>{};
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(receivers_, [&](const auto& o) { return o.second < now; });
  carries_.store(up_.load() && !others.empty(), std::memory_order_release);
  // Compare by id: a node that has just left may have confirmed, while its replacement has not confirmed yet.
  const bool by_all =
      std::all_of(others.begin(), others.end(), [&](const auto& id) { return receivers_.contains(id); });
  received_by_all_.store(up_.load() && by_all, std::memory_order_release);
}

void bus_connection::arm() {
  {
    std::lock_guard lock(mutex_);
    if (!running_.load() || !link_ || armed_) return;
    armed_ = true;
  }
  auto& loop = rt_.loops->at(0);
  loop.post([this, &loop] {
    auto timer = std::make_shared<boost::asio::steady_timer>(loop.ctx, tick_time);
    timer->async_wait([this, timer](const boost::system::error_code& ec) {
      if (!ec && running_.load()) tick();
    });
  });
}

void bus_connection::tick() {
  bool look = false, word = false;
  {
    std::lock_guard lock(mutex_);
    armed_ = false;
    if (polls_left_ > 0) {
      --polls_left_;
      look = true;
    }
    word = up_.load() && ++ticks_ % ticks_per_word == 0;
  }
  update_state();
  if (word) {
    send_heartbeat();
    broadcast_state(heartbeat_senders());
  }
  if (look) to_.missed();
  arm();
}

bus_stats bus_connection::stats() const {
  bus_stats s;
  s.present = current() != nullptr;
  s.up = up_.load();
  s.received_by_all = received_by_all();
  {
    std::lock_guard lock(mutex_);
    s.nodes = receivers_.size();
  }
  s.sent = sent_.load();
  s.refused = refused_.load();
  s.lost = lost_.load();
  s.received = received_.load();
  s.changes = changes_.load();
  return s;
}

std::optional<std::string> bus_connection::problem() const {
  std::lock_guard lock(mutex_);
  if (!link_ || up_.load()) return std::nullopt;
  return "the event bus " + link_->driver.name + " is unavailable (" + detail_ + "); wake-ups go through the database";
}

}  // namespace ry::events
