// Domain events and live topics of one node.
//
// Domain events become jobs in the publisher's transaction (migrations/0002_events.sql); this class
// only registers the consumers and turns those jobs into calls. Live topics are fanned out in memory:
// one message per loop crosses threads, however many subscribers the loop has; other nodes get the
// bytes by the bus (bus.hpp) where there is one, else a merged hint through the database.
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
  std::uint64_t published = 0, delivered = 0, hints_sent = 0, hints_received = 0, lagged = 0;
  std::size_t subscriptions = 0;
  bus_stats bus;
};

class hub {
 public:
  // keep: how long published events stay in core.event, where operators find them; consumers have their own.
  explicit hub(module::runtime& rt, std::chrono::seconds keep = std::chrono::hours(24 * 30));
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  // Registers consumers in the database and as job kinds. The database must be migrated and the queue
  // not started yet, or the call made for a module that is swapped in. Blocks. Empty: fine; else the
  // error in one sentence.
  std::string add_consumers(const std::vector<module::consumer>& consumers);
  // Of a module that is taken out. What is published for them waits until somebody consumes it again.
  void remove_consumers(const std::vector<module::consumer>& consumers);
  // Begins to listen to other nodes. After the database is up.
  void start();
  // No more hints in or out. Subscriptions end by their owners.
  void stop();

  // See ry.events/1.
  ry_subscription* subscribe(const ry_host* host, std::string_view topic, ry_exec* exec,
                             ry_live_fn fn, void* ctx);
  void unsubscribe(ry_subscription* subscription);
  ry_status publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes,
                    std::uint32_t flags);
  hub_stats stats() const;
  bus_line& bus() noexcept { return bus_; }
  const bus_line& bus() const noexcept { return bus_; }

 private:
  struct message {
    std::string topic;
    std::uint64_t cursor;
    exec::buffer_ref buffer;  // empty: a hint
  };
  // Subscribers of one loop; `topics` is touched on that loop only.
  struct lane {
    std::mutex mutex;  // guards the next four
    std::vector<message> inbox;
    std::size_t far_messages = 0, far_bytes = 0;  // in the inbox, of other nodes
    std::unordered_map<std::string, std::uint64_t> lagging;  // what there was no room for: hints
    std::unordered_map<std::string, std::vector<std::shared_ptr<ry_subscription>>> topics;
  };
  // How many subscriptions each loop has per topic, so that a publisher wakes only those.
  struct alignas(64) shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, std::vector<std::uint32_t>> loops;
  };

  shard& shard_of(std::string_view topic) {
    return shards_[std::hash<std::string_view>{}(topic) % shards_.size()];
  }
  enum class from { here, elsewhere };
  void deliver(std::string_view topic, std::uint64_t cursor, std::string_view bytes, from where);
  void call(const std::shared_ptr<ry_subscription>& s, std::string_view topic, std::uint64_t cursor,
            const exec::buffer_ref& buffer);
  // Every subscription of this node is told to look into its log.
  void wake_all();
  void drain(std::size_t loop);
  void forget(const std::shared_ptr<ry_subscription>& s);
  void hint_others(std::string_view topic, std::uint64_t cursor);
  void flush_hints();
  void hinted(std::string_view payload);
  // A job of the host that does `work` on a connection, by `cron`.
  void housekeeping(const char* kind, const char* cron, std::function<void(db::connection&)> work);
  void trim(db::connection& c);

  module::runtime& rt_;
  const std::chrono::seconds keep_;
  std::vector<std::unique_ptr<lane>> lanes_;
  std::array<shard, 64> shards_;

  std::mutex owned_mutex_;  // guards owned_ and consumers_
  std::set<std::pair<std::string, std::string>> consumers_;  // module, name
  std::unordered_map<ry_subscription*, std::shared_ptr<ry_subscription>> owned_;

  std::mutex hints_mutex_;  // guards the two below
  std::unordered_map<std::string, std::uint64_t> hints_;
  bool hints_armed_ = false;
  std::atomic<bool> stopped_{false};
  std::uint64_t listen_ = 0, again_ = 0;
  std::atomic<std::uint64_t> published_{0}, delivered_{0}, hints_sent_{0}, hints_received_{0},
      lagged_{0};
  bus_line bus_;
};

}  // namespace ry::events
