// One connection to the servers: the stream, this node's consumer of it, and what was sent and not
// yet acknowledged. It is never mended: when it is in trouble a new one takes its place.
//
// Thread: open(), send(), look(), unacknowledged() and the destructor on the driver's thread; the reports come on
// threads of libnats until the destructor returned, which waits for them.
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

// Where in the stream a node is, so that the next connection goes on there.
struct place {
  std::int64_t created = 0;    // the stream: another one counts from 1 again
  std::uint64_t received = 0;  // its last message that came, or that was there when the node began
};

class connection {
 public:
  struct reports {
    std::function<void(std::string_view subject, std::string_view data)> message;
    std::function<void()> missed;  // messages of the stream did not come
    std::function<void()> broken;  // look() says more; anything may call it at any time
  };
  connection(const settings& s, reports to);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // Connects, makes the stream if it is not there, consumes from where `from` is. Blocks for a few
  // seconds at most. Empty: fine; else why not, for people. `forgot`: what came since `from` is not
  // to be had any more.
  std::string open(const std::string& name, const place& from, bool& forgot);
  std::string server() const;
  place at() const;

  // May block until the socket takes it, two seconds at most. `id` names the message for the servers'
  // de-duplication, if it is not empty. A hint waits for an acknowledgement. False: it was not sent, because
  // of trouble, or because it is larger than what the servers take.
  bool send(const piece& what, const std::string& subject, const std::string& id, std::string_view data);
  // Asks the servers how things are: empty, or why it is of no more use.
  std::string look();
  // Something is amiss already: look() at once.
  bool in_trouble() const;
  // Hints without an acknowledgement; they are forgotten here.
  std::vector<piece> unacknowledged();

 private:
  struct ended {  // counts what of libnats may still call back
    std::mutex mutex;
    std::condition_variable none;
    int running = 0;
    void one_more();
    void one_less();
  };
  struct inside {  // a callback, also of a subscription that could not be watched
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
  std::uint64_t behind_ = 0;  // the stream's last message when look() saw that it had not come
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
