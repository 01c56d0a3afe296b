// The driver of "ry.event_bus/1": an outgoing queue, and one thread that connects, sends and reconnects. The host never
// waits for NATS.
//
// Thread: the functions of the table as in ry/ext/event_bus.h, on a `driver` that lives until the module is destroyed.
// Errors: problems with NATS are a state, which is reported to the host.
#pragma once

#include <ry/ext/event_bus.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "connection.hpp"
#include "envelope.hpp"
#include "outbox.hpp"
#include "settings.hpp"

namespace bus_nats {

class driver {
 public:
  driver(const ry::context& ctx, settings s);
  ~driver();
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  static const ry_event_bus_v1* table();
  // Must be called before the driver is opened.
  void set_key(const seal_key& key) { key_ = key; }

 private:
  ry_status open(const ry_bus_sink* sink, void* ctx);
  void close();
  ry_status publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes);
  void work();
  bool serve(std::string& failure);
  void send(connection& c, const outgoing_message& p);
  void received(std::string_view subject, std::string_view data);
  void refuse(const char* reason, std::string_view subject);
  void report_lost(const std::vector<outgoing_message>& messages);
  void report_state(std::uint32_t up, const std::string& detail);

  const ry::context& ctx_;
  const settings settings_;
  seal_key key_{};
  node_id node_{};
  const ry_bus_sink* sink_ = nullptr;
  void* sink_ctx_ = nullptr;
  outbox outbox_;
  stream_position position_;
  std::uint64_t sent_ = 0;  // only used by the sending thread
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  ry::metric connects_, bytes_sent_, refused_forged_, refused_malformed_, refused_subject_, refused_large_;
  std::mutex refusals_mutex_;  // protects the two members below
  std::int64_t refusals_logged_at_us_ = 0;
  std::uint64_t refusals_unlogged_ = 0;
};

}  // namespace bus_nats
