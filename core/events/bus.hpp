// Uses the driver of "ry.event_bus/1", if there is one, to carry live topics to other nodes, and tracks which nodes
// receive them.
//
// Once a second each node whose bus is up sends a heartbeat over the bus. Through the database, it tells all nodes whose
// heartbeats it receives. The bus alone is used only while all other nodes have recently confirmed this node's
// heartbeats; otherwise wake-ups also go through the database. A wrong decision can therefore duplicate a wake-up, but
// not lose one.
#pragma once

#include <ry/ext/event_bus.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/module/host.hpp"

namespace ry::events {

struct bus_driver {
  std::string name;
  ry_host* owner = nullptr;
  const ry_event_bus_v1* table = nullptr;
  void* self = nullptr;
};

struct bus_stats {
  bool present = false, up = false, received_by_all = false;
  std::size_t nodes = 0;  // other nodes that confirm this node's heartbeats
  std::uint64_t sent = 0, refused = 0, lost = 0, received = 0, changes = 0;
};

class bus_connection {
 public:
  // Callbacks for what the bus delivers; called from any thread.
  struct receiver {
    std::function<void(std::string_view topic, std::uint64_t cursor, std::string_view bytes)> message;
    std::function<void()> missed;  // every subscriber must read its log again
    std::function<void(std::string_view topic, std::uint64_t cursor)> wake;  // send a wake-up through the database
  };
  bus_connection(module::runtime& rt, receiver to);
  ~bus_connection();
  bus_connection(const bus_connection&) = delete;
  bus_connection& operator=(const bus_connection&) = delete;

  // Adds and removes drivers, [lifecycle]. The driver that was added first is used. `on_removed` runs when the driver
  // is no longer in use and makes no more calls.
  void add(bus_driver driver);
  void remove(std::string_view name, std::function<void()> on_removed);

  // Starts and stops the exchange with other nodes. Without a driver nothing is sent.
  void start();
  void stop();

  // [any] from here on.
  // Whether publish() can reach another node: the bus is up and there are other nodes.
  bool carries() const noexcept { return carries_.load(std::memory_order_acquire); }
  bool received_by_all() const noexcept { return received_by_all_.load(std::memory_order_acquire); }
  ry_status publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes);
  bus_stats stats() const;
  // Why the bus is down; nullopt if it is up or there is no driver.
  std::optional<std::string> problem() const;

 private:
  struct link;
  std::shared_ptr<link> current() const;
  void changed(link& l, bool up, std::string detail);
  void use_first();
  void tick();
  void arm();
  void on_message(std::string_view payload);
  void on_heartbeat(std::string_view node);
  void send_heartbeat();
  void broadcast_state(const std::string& what);
  std::string heartbeat_senders();
  void update_state();

  module::runtime& rt_;
  const receiver to_;
  mutable std::mutex mutex_;
  std::vector<bus_driver> waiting_;  // unused drivers
  std::shared_ptr<link> link_;  // the driver in use
  std::string detail_;  // its state, for people
  // Node id -> until when we assume that it receives this node's heartbeats, and that this node receives its
  // heartbeats.
  using peer_states = std::unordered_map<std::string, std::chrono::steady_clock::time_point>;
  peer_states receivers_, senders_;
  std::uint64_t heartbeats_ = 0;
  unsigned polls_left_ = 0;  // ticks at which subscribers still poll after the bus went down
  unsigned ticks_ = 0;
  bool armed_ = false;
  std::uint64_t listen_id_ = 0;
  std::atomic<bool> running_{false};
  std::atomic<bool> up_{false}, carries_{false}, received_by_all_{false};
  std::atomic<std::uint64_t> sent_{0}, refused_{0}, lost_{0}, received_{0}, changes_{0};
};

}  // namespace ry::events
