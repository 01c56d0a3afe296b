#include "core/http/client/resolver.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>

namespace ry::http {

struct resolver::state {
  struct waiting {
    std::weak_ptr<const void> who;
    ry_exec* exec;
    done_fn done;
  };
  struct name {
    named_by by;  // the operator as soon as one waiter asks in the operator's name
    std::vector<waiting> waiters;
  };
  struct turn {
    std::string host;
    named_by by;
  };

  std::mutex mutex;
  std::condition_variable work;
  std::unordered_map<std::string, name> names;  // queued and under way
  std::deque<std::string> users, operators;     // queued
  std::size_t threads = 0, idle = 0;
  std::size_t for_users = 0;  // look-ups under way
  bool stopped = false;
  lookup_fn lookup;

  std::deque<std::string>& queue_of(named_by by) {
    return by == named_by::the_operator ? operators : users;
  }
  // How many queued names a thread may begin with now.
  std::size_t ready() const {
    return operators.size() + std::min(users.size(), max_for_users - for_users);
  }
  bool awaited(const std::string& host) const;
  void drop_unawaited(std::deque<std::string>& queue);
  std::optional<turn> take();

  static bool call_thread(const std::shared_ptr<state>& s);
  static void run(const std::shared_ptr<state>& s);
};

namespace {

// Under the state's lock: once `stopped` is set, the loops may be gone.
void answer(ry_exec* exec, resolver::done_fn done, resolver::addresses found) {
  exec->post([done = std::move(done), found = std::move(found)] { done(found); });
}

}  // namespace

bool resolver::state::awaited(const std::string& host) const {
  const auto& waiters = names.at(host).waiters;
  return std::ranges::any_of(waiters, [](const waiting& w) { return !w.who.expired(); });
}

void resolver::state::drop_unawaited(std::deque<std::string>& queue) {
  std::erase_if(queue, [this](const std::string& host) {
    if (awaited(host)) return false;
    names.erase(host);
    return true;
  });
}

// The next name to look up; none when the waiters of all that are ready have gone.
std::optional<resolver::state::turn> resolver::state::take() {
  while (ready() > 0) {
    const auto by = operators.empty() ? named_by::user : named_by::the_operator;
    auto& queue = queue_of(by);
    std::string host = std::move(queue.front());
    queue.pop_front();
    if (awaited(host)) return turn{std::move(host), by};
    names.erase(host);
  }
  return std::nullopt;
}

// Sees to it that a thread turns to what was queued; false = there are no threads at all.
bool resolver::state::call_thread(const std::shared_ptr<state>& s) {
  if (s->ready() > s->idle && s->threads < max_threads) {
    try {
      std::thread([s] { run(s); }).detach();
      ++s->threads;
    } catch (const std::system_error&) {
      if (s->threads == 0) return false;
    }
  }
  s->work.notify_one();
  return true;
}

void resolver::state::run(const std::shared_ptr<state>& s) {
  constexpr auto linger = std::chrono::seconds(10);
  std::unique_lock lock(s->mutex);
  for (;;) {
    ++s->idle;
    s->work.wait_for(lock, linger, [&] { return s->stopped || s->ready() > 0; });
    --s->idle;
    if (s->stopped || s->ready() == 0) break;
    const auto next = s->take();
    if (!next) continue;
    const std::size_t share = next->by == named_by::user ? 1 : 0;
    s->for_users += share;
    lock.unlock();
    const auto found = s->lookup(next->host);
    lock.lock();
    s->for_users -= share;
    if (s->stopped) break;
    auto node = s->names.extract(next->host);
    for (auto& w : node.mapped().waiters) answer(w.exec, std::move(w.done), found);
  }
  --s->threads;
}

resolver::resolver(lookup_fn lookup) : state_(std::make_shared<state>()) {
  state_->lookup = std::move(lookup);
}

resolver::~resolver() {
  std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->names.clear();
  state_->work.notify_all();
}

void resolver::resolve(const std::string& host, named_by by, ry_exec* exec,
                       std::weak_ptr<const void> waiter, done_fn done) {
  auto& s = *state_;
  std::lock_guard lock(s.mutex);
  if (const auto it = s.names.find(host); it != s.names.end()) {
    auto& name = it->second;
    name.waiters.push_back({std::move(waiter), exec, std::move(done)});
    if (by == named_by::user || name.by == named_by::the_operator) return;
    name.by = named_by::the_operator;
    if (std::erase(s.users, host) == 0) return;  // under way
    s.operators.push_back(host);
    state::call_thread(state_);
    return;
  }
  auto& queue = s.queue_of(by);
  if (queue.size() >= max_waiting) s.drop_unawaited(queue);
  if (queue.size() >= max_waiting) return answer(exec, std::move(done), {});
  queue.push_back(host);
  if (!state::call_thread(state_)) {
    queue.pop_back();
    return answer(exec, std::move(done), {});
  }
  auto& name = s.names[host];
  name.by = by;
  name.waiters.push_back({std::move(waiter), exec, std::move(done)});
}

resolver::addresses resolver::system_lookup(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return {};
  addresses out;
  for (const addrinfo* a = list; a; a = a->ai_next) {
    if (a->ai_family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(a->ai_addr);
      out.emplace_back(boost::asio::ip::address_v4(ntohl(in->sin_addr.s_addr)));
    } else if (a->ai_family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(a->ai_addr);
      boost::asio::ip::address_v6::bytes_type raw;
      std::memcpy(raw.data(), &in->sin6_addr, raw.size());
      out.emplace_back(boost::asio::ip::address_v6(raw, in->sin6_scope_id));
    }
  }
  ::freeaddrinfo(list);
  return out;
}

}  // namespace ry::http
