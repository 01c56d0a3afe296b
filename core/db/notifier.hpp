// LISTEN and NOTIFY of the process: one connection on its own thread, wake-ups merged per channel. Internal to core/db;
// database.hpp documents the contract.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/db/connection.hpp"

namespace ry::db {

class notifier {
 public:
  explicit notifier(connect_settings s);
  ~notifier();

  std::uint64_t listen(std::string_view channel, std::function<void()> fn, std::chrono::milliseconds poll);
  std::uint64_t on_message(std::string_view channel, std::function<void(std::string_view)> fn);
  void unlisten(std::uint64_t id);
  void notify(std::string_view channel);
  void broadcast(std::string_view channel, std::string payload);
  // Ends the thread; severs the connection if the server does not answer within a second.
  void stop();
  // For the watchdog.
  connection& link() noexcept { return conn_; }

 private:
  using clock = std::chrono::steady_clock;
  struct subscription {
    std::string channel;
    std::function<void()> fn;
    std::function<void(std::string_view)> message;  // set instead of fn for broadcasts
    std::chrono::milliseconds poll;
    clock::time_point due;
    std::mutex running;  // held while fn runs; unlisten waits for it
    bool ended = false;  // under `running`
  };
  using subscription_ptr = std::shared_ptr<subscription>;
  struct message {
    std::string channel, payload;
  };

  void loop();
  void wake() noexcept;
  bool connect();
  void send_listens();
  void take_notifications();
  void send_notifications(const std::set<std::string>& channels);
  void send_messages(const std::vector<message>& messages);
  void receive(const message& m);
  std::uint64_t add(subscription_ptr s);
  void fire(const std::set<std::string>& channels);
  static void call(subscription& s);

  connection conn_;
  int wake_fd_ = -1;
  std::mutex mutex_;
  std::map<std::uint64_t, subscription_ptr> subscriptions_;
  std::set<std::string> local_, remote_;
  std::vector<message> messages_;  // outgoing; bounded, because delivery is best-effort
  std::uint64_t next_id_ = 0;
  std::atomic<bool> stopping_{false};
  std::condition_variable ended_;
  bool has_ended_ = false;  // under mutex_

  // Only accessed by the thread.
  std::set<std::string> listening_;
  clock::time_point send_at_ = clock::time_point::max(), connect_at_{};
  std::chrono::milliseconds pause_{50};
  std::thread thread_;
};

}  // namespace ry::db
