// One connection to the NATS servers: the stream, this node's consumer, and the wake-ups that await an acknowledgement. A
// connection is never repaired: a new one replaces it after an error. A wake-up is a message without content, which says
// up to which cursor the log has grown.
//
// Thread: open(), send(), look(), unacknowledged() and the destructor run on the driver's thread. Reports are called on
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
struct place {
  std::int64_t created = 0;  // identifies the stream: a recreated one counts from 1 again
  std::uint64_t received = 0;  // last message received, or last one in the stream when the node started
};

class connection {
 public:
  struct reports {
    std::function<void(std::string_view subject, std::string_view data)> message;
    std::function<void()> missed;  // messages of the stream were missed
    std::function<void()> broken;  // look() returns the cause; called from any thread at any time
  };
  connection(const settings& s, reports to);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // Connects, creates the stream if it does not exist, and consumes from the position `from`. Blocks for a few seconds
  // at most. Returns an empty string or an error message. `forgot`: set if the stream no longer has the messages since
  // `from`.
  std::string open(const std::string& name, const place& from, bool& forgot);
  std::string server() const;
  place at() const;

  // May block for two seconds at most until the socket accepts the data. `id`, if not empty, names the message for
  // de-duplication by the servers. A wake-up waits for an acknowledgement. Returns false if nothing was sent, because of
  // an error or because the message exceeds the servers' limit.
  bool send(const piece& what, const std::string& subject, const std::string& id, std::string_view data);
  // Queries the state of the stream and the consumer. Returns an empty string, or why the connection must be replaced.
  std::string look();
  // Whether an error has been detected: call look() at once.
  bool in_trouble() const;
  // Returns the wake-ups without an acknowledgement and drops them here.
  std::vector<piece> unacknowledged();

 private:
  struct ended {  // counts callbacks that libnats may still make
    std::mutex mutex;
    std::condition_variable none;
    int running = 0;
    void one_more();
    void one_less();
  };
  struct inside {  // a running callback, also of a subscription that could not be watched
    explicit inside(ended& e) : e(e) { e.one_more(); }
    ~inside() { e.one_less(); }
    inside(const inside&) = delete;
    ended& e;
  };
  static void on_message(natsConnection*, natsSubscription*, natsMsg* msg, void* self);
  static void on_ack(natsConnection*, natsSubscription*, natsMsg* msg, void* self);
  static void on_complete(void* self);
  static void on_closed(natsConnection*, void* self);
  std::string set_options(const std::string& name);
  std::string make_stream(place& now, std::uint64_t& first);
  natsStatus watch(natsSubscription* sub);
  void trouble(const std::string& why);

  const settings& settings_;
  const reports to_;
  natsOptions* options_ = nullptr;
  natsConnection* nc_ = nullptr;
  jsCtx* js_ = nullptr;
  natsSubscription* consumer_ = nullptr;
  natsSubscription* acks_ = nullptr;
  std::string ack_inbox_;
  std::int64_t created_ = 0;
  std::atomic<std::uint64_t> received_{0};
  std::uint64_t behind_ = 0;  // the stream's last message at the last look(), if it had not arrived
  std::uint64_t received_then_ = 0;

  mutable std::mutex mutex_;
  std::string trouble_;
  struct sent {
    piece what;
    std::chrono::steady_clock::time_point at;
  };
  std::map<std::uint64_t, sent> waiting_;
  std::uint64_t next_ = 1;
  ended ended_;
};

}  // namespace bus_nats
