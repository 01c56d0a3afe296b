// Domain events and live topics of one node.
//
// The publisher's transaction turns each domain event into jobs (core/schema/migrations/0002_events.sql); this class
// registers the consumers and runs those jobs. It fans live topics out in memory: one message per loop crosses threads,
// regardless of the number of subscribers. Other nodes receive the bytes over the event bus (bus.hpp) if there is one,
// otherwise merged wake-ups through the database.
#pragma once

#include <ry/if/events.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/events/bus.hpp"
#include "core/exec/buffer.hpp"
#include "core/jobs/queue.hpp"
#include "core/module/host.hpp"
#include "core/module/registration.hpp"

struct ry_subscription {
  ry_subscription(ry::module::hold owner, std::string topic, ry_exec* exec, ry_live_fn fn, void* ctx)
      : owner(std::move(owner)), topic(std::move(topic)), exec(exec), fn(fn), ctx(ctx) {}
  ry::module::hold owner;
  const std::string topic;
  ry_exec* const exec;
  const ry_live_fn fn;
  void* const ctx;
  std::atomic<bool> closed{false};
};

namespace ry::events {

struct hub_stats {
  std::uint64_t published = 0, delivered = 0, wakeups_sent = 0, wakeups_received = 0, lagged = 0;
  std::size_t subscriptions = 0;
  bus_stats bus;
};

class hub {
 public:
  // `keep`: how long published events stay in core.event for operators. Consumers do not depend on it: they have
  // jobs.
  explicit hub(module::runtime& rt, std::chrono::seconds keep = std::chrono::hours(24 * 30));
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  // Registers consumers in the database and as job kinds. Call it after the migrations and before the queue starts,
  // or for a module that is hot-swapped in. Blocks. Returns an empty string, or an error message.
  std::string add_consumers(const std::vector<module::consumer>& consumers);
  // For a module that is removed. Later events wait as jobs until a node consumes them again.
  void remove_consumers(const std::vector<module::consumer>& consumers);
  // Starts receiving wake-ups and messages from other nodes. Call it once the database is up.
  void start();
  // Stops sending and receiving wake-ups. Subscriptions remain; their owners must end them.
  void stop();

  // See ry.events/1.
  ry_subscription* subscribe(const ry_host* host, std::string_view topic, ry_exec* exec, ry_live_fn fn, void* ctx);
  void unsubscribe(ry_subscription* subscription);
  ry_status publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes, std::uint32_t flags);
  hub_stats stats() const;
  bus_connection& bus() noexcept { return bus_; }
  const bus_connection& bus() const noexcept { return bus_; }

 private:
  struct message {
    std::string topic;
    std::uint64_t cursor;
    exec::buffer_ref buffer;  // empty: a wake-up
  };
  // Inbox and subscribers of one loop; only that loop accesses `topics`.
  struct loop_inbox {
    std::mutex mutex;  // guards inbox, remote_messages, remote_bytes and lagging
    std::vector<message> inbox;
    std::size_t remote_messages = 0, remote_bytes = 0;  // in the inbox, from other nodes
    std::unordered_map<std::string, std::uint64_t>
        lagging;  // topics whose messages exceeded the limits; they get a wake-up
    std::unordered_map<std::string, std::vector<std::shared_ptr<ry_subscription>>> topics;
  };
  // The number of subscriptions per topic and loop, so that a publisher wakes only loops with subscribers.
  struct alignas(64) shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, std::vector<std::uint32_t>> loops;
  };

  shard& shard_of(std::string_view topic) { return shards_[std::hash<std::string_view>{}(topic) % shards_.size()]; }
  enum class origin { local, remote };
  void deliver(std::string_view topic, std::uint64_t cursor, std::string_view bytes, origin where);
  void call(const std::shared_ptr<ry_subscription>& s, std::string_view topic, std::uint64_t cursor,
            const exec::buffer_ref& buffer);
  // Wakes every local subscription so that it reads its log again.
  void wake_all();
  void drain(std::size_t loop);
  void forget(const std::shared_ptr<ry_subscription>& s);
  void notify_nodes(std::string_view topic, std::uint64_t cursor);
  void flush_wakeups();
  void on_notification(std::string_view payload);
  void trim_consumers(db::connection& c);

  module::runtime& rt_;
  const std::chrono::seconds keep_;
  std::vector<std::unique_ptr<loop_inbox>> inboxes_;
  std::array<shard, 64> shards_;

  std::mutex owned_mutex_;  // guards owned_ and consumers_
  std::set<std::pair<std::string, std::string>> consumers_;  // module, name
  std::unordered_map<ry_subscription*, std::shared_ptr<ry_subscription>> owned_;

  std::mutex wakeups_mutex_;  // guards wakeups_ and wakeups_armed_
  std::unordered_map<std::string, std::uint64_t> wakeups_;
  bool wakeups_armed_ = false;
  std::atomic<bool> stopped_{false};
  std::uint64_t listen_id_ = 0, reconnect_id_ = 0;
  std::atomic<std::uint64_t> published_{0}, delivered_{0}, wakeups_sent_{0}, wakeups_received_{0}, lagged_{0};
  bus_connection bus_;
};

}  // namespace ry::events
