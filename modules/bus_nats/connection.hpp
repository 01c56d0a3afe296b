// One connection to the NATS servers: the stream, this node's consumer, and the wake-ups that await an acknowledgement.
// A connection is never repaired: a new one replaces it after an error. A wake-up is a message without content that
// contains the last position of the log.
//
// Thread: open(), send(), check(), unacknowledged() and the destructor run on the driver's thread. Callbacks run on
// threads of libnats; the destructor waits until they have returned.
#pragma once

#include <nats/nats.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "outbox.hpp"
#include "settings.hpp"

namespace bus_nats {

// A node's position in the stream, from which the next connection continues.
struct stream_position {
  std::int64_t created = 0;  // identifies the stream: a recreated one counts from 1 again
  std::uint64_t received = 0;  // last message received, or last one in the stream when the node started
};

class connection {
 public:
  struct callbacks {
    std::function<void(std::string_view subject, std::string_view data)> message;
    std::function<void()> missed;  // messages of the stream were missed
    std::function<void()> broken;  // check() returns the cause; called from any thread at any time
  };
  connection(const settings& s, callbacks to);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // Connects, creates the stream if it does not exist, and consumes from the position `from`. Blocks for a few seconds
  // at most. Returns an empty string or an error message. Sets `messages_lost` if the stream no longer has the messages
  // since `from`.
  std::string open(const std::string& name, const stream_position& from, bool& messages_lost);
  std::string server() const;
  stream_position at() const;

  // Blocks until the socket accepts the data, for two seconds at most. `id`, if not empty, identifies the message for
  // de-duplication by the servers. A wake-up is kept for unacknowledged() until the servers acknowledge it; send() does not wait for that. Returns false if nothing was sent, because of
  // an error or because the message exceeds the servers' limit.
  bool send(const outgoing_message& what, const std::string& subject, const std::string& id, std::string_view data);
  // Queries the state of the stream and the consumer. Returns an empty string, or the reason why the connection must be
  // replaced.
  std::string check();
  // Whether an error has been detected. If so, call check() immediately.
  bool has_failed() const;
  // Removes and returns the wake-ups without an acknowledgement.
  std::vector<outgoing_message> unacknowledged();

 private:
  struct callback_counter {  // counts callbacks that libnats may still make
    std::mutex mutex;
    std::condition_variable none;
    int running = 0;
    void add();
    void remove();
  };
  struct callback_guard {  // marks a running callback; also needed for a subscription without a completion callback
    explicit callback_guard(callback_counter& e) : e(e) { e.add(); }
    ~callback_guard() { e.remove(); }
    callback_guard(const callback_guard&) = delete;
    callback_counter& e;
  };
  static void on_message(natsConnection*, natsSubscription*, natsMsg* msg, void* self);
  static void on_ack(natsConnection*, natsSubscription*, natsMsg* msg, void* self);
  static void on_complete(void* self);
  static void on_closed(natsConnection*, void* self);
  std::string set_options(const std::string& name);
  std::string ensure_stream(stream_position& now, std::uint64_t& first);
  natsStatus await_completion_of(natsSubscription* sub);
  void fail(const std::string& reason);

  const settings& settings_;
  const callbacks to_;
  natsOptions* options_ = nullptr;
  natsConnection* nc_ = nullptr;
  jsCtx* js_ = nullptr;
  natsSubscription* consumer_ = nullptr;
  natsSubscription* acks_ = nullptr;
  std::string ack_inbox_;
  std::int64_t created_ = 0;
  std::atomic<std::uint64_t> received_{0};
  std::uint64_t last_missing_ = 0;  // the stream's last message at the last check() if it had not arrived; otherwise 0
  std::uint64_t received_at_last_check_ = 0;

  mutable std::mutex mutex_;
  std::string failure_;
  struct sent {
    outgoing_message what;
    std::chrono::steady_clock::time_point at;
  };
  std::map<std::uint64_t, sent> unacknowledged_;
  std::uint64_t next_ack_ = 1;
  callback_counter callbacks_;
};

}  // namespace bus_nats
