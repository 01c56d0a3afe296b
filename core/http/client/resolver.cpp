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
#include <system_error>
#include <thread>
#include <unordered_map>

namespace ry::http {

struct resolver::state {
  struct waiter {
    ry_exec* exec;
    done_fn done;
  };
  std::mutex mutex;
  std::condition_variable work;
  std::deque<std::string> queue;
  std::unordered_map<std::string, std::vector<waiter>> waiting;
  std::size_t threads = 0, idle = 0;
  bool stopped = false;
  lookup_fn lookup;

  static void run(const std::shared_ptr<state>& s);
};

namespace {

// Under the state's lock: once `stopped` is set, the loops may be gone.
void answer(ry_exec* exec, resolver::done_fn done, resolver::addresses found) {
  exec->post([done = std::move(done), found = std::move(found)] { done(found); });
}

}  // namespace

void resolver::state::run(const std::shared_ptr<state>& s) {
  constexpr auto linger = std::chrono::seconds(10);
  std::unique_lock lock(s->mutex);
  for (;;) {
    ++s->idle;
    s->work.wait_for(lock, linger, [&] { return s->stopped || !s->queue.empty(); });
    --s->idle;
    if (s->stopped || s->queue.empty()) break;
    const std::string host = std::move(s->queue.front());
    s->queue.pop_front();
    lock.unlock();
    const auto found = s->lookup(host);
    lock.lock();
    if (s->stopped) break;
    auto node = s->waiting.extract(host);
    for (auto& w : node.mapped()) answer(w.exec, std::move(w.done), found);
  }
  --s->threads;
}

resolver::resolver(lookup_fn lookup) : state_(std::make_shared<state>()) {
  state_->lookup = std::move(lookup);
}

resolver::~resolver() {
  std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->waiting.clear();
  state_->work.notify_all();
}

void resolver::resolve(const std::string& host, ry_exec* exec, done_fn done) {
  auto& s = *state_;
  std::lock_guard lock(s.mutex);
  if (auto it = s.waiting.find(host); it != s.waiting.end()) {
    it->second.push_back({exec, std::move(done)});
    return;
  }
  if (s.queue.size() >= max_waiting) return answer(exec, std::move(done), {});
  if (s.idle <= s.queue.size() && s.threads < max_threads) {
    try {
      std::thread([state = state_] { state::run(state); }).detach();
      ++s.threads;
    } catch (const std::system_error&) {
      if (s.threads == 0) return answer(exec, std::move(done), {});
    }
  }
  s.waiting[host].push_back({exec, std::move(done)});
  s.queue.push_back(host);
  s.work.notify_one();
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
