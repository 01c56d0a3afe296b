#include "core/db/notifier.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/observe/log.hpp"

namespace ry::db {

namespace {
using namespace std::chrono_literals;
constexpr auto merge_time = 10ms;
constexpr std::size_t max_channel = 63;  // NAMEDATALEN - 1
constexpr std::size_t max_messages = 1000;  // outgoing while disconnected; beyond it the oldest are dropped
}  // namespace

notifier::notifier(connect_settings s) : conn_(std::move(s)), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) throw std::bad_alloc();
  thread_ = std::thread([this] { loop(); });
}

notifier::~notifier() {
  stop();
  ::close(wake_fd_);
}

void notifier::stop() {
  stopping_ = true;
  wake();
  {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, 1s, [this] { return has_ended_; })) conn_.sever();
  }
  if (thread_.joinable()) thread_.join();
}

void notifier::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(wake_fd_, &one, sizeof one);
}

std::uint64_t notifier::listen(std::string_view channel, std::function<void()> fn, std::chrono::milliseconds poll) {
  if (channel.empty() || channel.size() > max_channel || channel.find('\0') != std::string_view::npos)
    throw failure({RY_INVALID_ARGUMENT, "db.channel", "A channel name has 1 to 63 bytes.", {}, 0, 0});
  auto s = std::make_shared<subscription>();
  s->channel = channel;
  s->fn = std::move(fn);
  s->poll = std::clamp<std::chrono::milliseconds>(poll, 1ms, 1h);
  return add(std::move(s));
}

std::uint64_t notifier::on_message(std::string_view channel, std::function<void(std::string_view)> fn) {
  auto s = std::make_shared<subscription>();
  s->channel = channel;
  s->message = std::move(fn);
  s->poll = 1h;
  return add(std::move(s));
}

std::uint64_t notifier::add(subscription_ptr s) {
  s->due = clock::now() + s->poll;
  std::uint64_t id;
  {
    std::lock_guard lock(mutex_);
    id = ++next_id_;
    subscriptions_.emplace(id, std::move(s));
  }
  wake();
  return id;
}

void notifier::unlisten(std::uint64_t id) {
  subscription_ptr s;
  {
    std::lock_guard lock(mutex_);
    const auto it = subscriptions_.find(id);
    if (it == subscriptions_.end()) return;
    s = std::move(it->second);
    subscriptions_.erase(it);
  }
  wake();
  std::lock_guard lock(s->running);
  s->ended = true;
  s->fn = nullptr;
  s->message = nullptr;
}

void notifier::broadcast(std::string_view channel, std::string payload) {
  {
    std::lock_guard lock(mutex_);
    if (messages_.size() >= max_messages) messages_.erase(messages_.begin());
    messages_.push_back({std::string(channel), std::move(payload)});
  }
  wake();
}

void notifier::notify(std::string_view channel) {
  if (channel.empty() || channel.size() > max_channel || channel.find('\0') != std::string_view::npos) {
    observe::log(observe::level::warn, "db", "notification dropped: PostgreSQL does not accept this channel name");
    return;
  }
  bool first;
  {
    std::lock_guard lock(mutex_);
    first = local_.empty();
    local_.emplace(channel);
    remote_.emplace(channel);
  }
  if (first) wake();
}

void notifier::call(subscription& s) {
  std::lock_guard lock(s.running);
  if (s.ended || !s.fn) return;
  try {
    s.fn();
  } catch (const std::exception& e) {
    observe::log(observe::level::error, "db", "a LISTEN callback threw an exception",
                 {{"channel", s.channel}, {"error", e.what()}});
  }
}

void notifier::fire(const std::set<std::string>& channels) {
  std::vector<subscription_ptr> due;
  const auto now = clock::now();
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, s] : subscriptions_) {
      if (!channels.contains(s->channel)) continue;
      s->due = now + s->poll;
      due.push_back(s);
    }
  }
  for (auto& s : due) call(*s);
}

bool notifier::connect() {
  if (conn_.check_alive()) return true;
  listening_.clear();
  if (clock::now() < connect_at_) return false;
  try {
    conn_.open();
    pause_ = 50ms;
    send_listens();
    return conn_.is_open();
  } catch (const failure& e) {
    conn_.close();
    connect_at_ = clock::now() + pause_;
    pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, 2s);
    return false;
  }
}

void notifier::send_listens() {
  std::set<std::string> wanted;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, s] : subscriptions_) wanted.insert(s->channel);
  }
  const auto quoted = [&](const std::string& name) {
    std::string out = "\"";
    for (const char c : name) {
      if (c == '"') out.push_back('"');
      out.push_back(c);
    }
    return out + '"';
  };
  std::set<std::string> fresh;
  for (const auto& c : wanted) {
    if (listening_.contains(c)) continue;
    conn_.exec("listen " + quoted(c), {}, RY_DB_NO_PREPARE);
    fresh.insert(c);
  }
  for (const auto& c : listening_)
    if (!wanted.contains(c)) conn_.exec("unlisten " + quoted(c), {}, RY_DB_NO_PREPARE);
  listening_ = std::move(wanted);
  if (!fresh.empty()) fire(fresh);  // wake-ups sent before LISTEN are lost
}

void notifier::take_notifications() {
  std::set<std::string> channels;
  std::vector<message> messages;
  const int own = conn_.backend_pid();
  while (PGnotify* n = PQnotifies(conn_.native())) {
    // Local listeners got the wake-ups of this process directly.
    if (n->be_pid != own) {
      channels.insert(n->relname);
      if (n->extra && *n->extra) messages.push_back({n->relname, n->extra});
    }
    PQfreemem(n);
  }
  if (!channels.empty()) fire(channels);
  for (const auto& m : messages) receive(m);
}

void notifier::receive(const message& m) {
  std::vector<subscription_ptr> targets;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, s] : subscriptions_)
      if (s->channel == m.channel) targets.push_back(s);
  }
  for (auto& s : targets) {
    std::lock_guard lock(s->running);
    if (s->ended || !s->message) continue;
    try {
      s->message(m.payload);
    } catch (const std::exception& e) {
      observe::log(observe::level::error, "db", "a LISTEN callback threw an exception",
                   {{"channel", s->channel}, {"error", e.what()}});
    }
  }
}

void notifier::send_messages(const std::vector<message>& messages) {
  text_array channels, payloads;
  for (const auto& m : messages) {
    channels.add(m.channel);
    payloads.add(m.payload);
  }
  conn_.exec("select pg_notify(c, p) from unnest($1, $2) t(c, p)", {channels.value(), payloads.value()});
}

void notifier::send_notifications(const std::set<std::string>& channels) {
  text_array names;
  for (const auto& c : channels) names.add(c);
  conn_.exec("select pg_notify(c, '') from unnest($1) c", {names.value()});
}

void notifier::loop() {
  while (!stopping_) {
    const bool connected = connect();
    std::set<std::string> local, remote;
    std::vector<subscription_ptr> polled;
    std::vector<message> messages;
    auto next = clock::now() + 1s;
    {
      std::lock_guard lock(mutex_);
      local.swap(local_);
      if (connected) messages.swap(messages_);
      const auto now = clock::now();
      if (!remote_.empty() && send_at_ == clock::time_point::max()) send_at_ = now + merge_time;
      if (now >= send_at_ && connected) {
        remote.swap(remote_);
        send_at_ = clock::time_point::max();
      }
      if (!remote_.empty() && connected) next = std::min(next, send_at_);
      for (auto& [id, s] : subscriptions_) {
        if (now >= s->due) {
          s->due = now + s->poll;
          polled.push_back(s);
        }
        next = std::min(next, s->due);
      }
    }
    if (!connected) next = std::min(next, connect_at_);
    if (!local.empty()) fire(local);
    for (auto& s : polled) call(*s);
    try {
      if (connected) {
        send_listens();
        if (!remote.empty()) send_notifications(remote);
        remote.clear();
        if (!messages.empty()) send_messages(messages);
        messages.clear();
        take_notifications();
      }
    } catch (const failure& e) {
      observe::log(observe::level::warn, "db", "the listener's connection failed", {{"error", e.what()}});
      if (!e.connection_lost) {
        conn_.close();
        continue;
      }
      // Send them after reconnecting; duplicates are harmless.
      std::lock_guard lock(mutex_);
      remote_.merge(remote);
      messages_.insert(messages_.begin(), std::make_move_iterator(messages.begin()),
                       std::make_move_iterator(messages.end()));
      if (messages_.size() > max_messages)
        messages_.erase(messages_.begin(), messages_.end() - static_cast<std::ptrdiff_t>(max_messages));
      continue;
    }
    pollfd fds[2] = {{wake_fd_, POLLIN, 0}, {connected ? PQsocket(conn_.native()) : -1, POLLIN, 0}};
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
    ::poll(fds, 2, static_cast<int>(std::clamp<std::int64_t>(wait, 0, 1000)));
    if (fds[0].revents) {
      std::uint64_t n;
      [[maybe_unused]] const auto r = ::read(wake_fd_, &n, sizeof n);
    }
  }
  conn_.close();
  std::lock_guard lock(mutex_);
  has_ended_ = true;
  ended_.notify_all();
}

}  // namespace ry::db
