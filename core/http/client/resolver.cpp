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

#include "core/http/client/lookup_schedule.hpp"
#include "without_protection.hpp"

namespace ry::http {

struct resolver::state {
  struct waiting {
    std::weak_ptr<const void> who;
    ry_exec* exec;
    done_fn done;
  };
  struct name {
    explicit name(name_source b) : by(b) {}
    name_source by;  // configuration if at least one waiter is for the operator's configuration
    bool in_progress = false;
    std::vector<waiting> waiters;
  };
  // A lookup on a thread, for the operator or for the turn of an account.
  struct job {
    std::string host;
    std::optional<lookup_schedule::turn> turn;
  };
  using clock = lookup_schedule::clock;

  state(lookup_fn f, const options& o)
      : lookup(std::move(f)),
        set(o),
        users({.in_progress = max_for_users,
               .per_account = ry_test::without_protection("lookup_turns") ? max_for_users : o.per_account,
               .slow_time = o.slow_period}) {}

  std::mutex mutex;
  std::condition_variable work;
  std::unordered_map<std::string, name> names;  // queued and in progress
  std::deque<std::string> operators;  // queued
  std::unordered_map<std::string, clock::time_point> unanswered, not_found;  // negative caches of users' names
  std::size_t threads = 0, idle = 0;
  std::size_t running = 0;
  resolver_stats stats;
  bool stopped = false;
  const lookup_fn lookup;
  const options set;
  lookup_schedule users;

  // The number of queued names that may start now; counting stops at `enough`.
  std::size_t ready(std::size_t enough) const {
    return operators.size() >= enough ? operators.size()
                                      : operators.size() + users.ready(clock::now(), enough - operators.size());
  }
  bool awaited(const std::string& host) const {
    return std::ranges::any_of(names.at(host).waiters, [](const waiting& w) { return !w.who.expired(); });
  }
  void drop_unawaited();
  std::optional<job> take();
  bool queue(const std::string& host, name_source by, const std::string& account);
  void unqueue(const std::string& host, name_source by);
  bool fails_at_once(const std::string& host);
  void note(const job& j, bool found, clock::duration took);

  static bool call_thread(const std::shared_ptr<state>& s);
  static void run(const std::shared_ptr<state>& s);
};

namespace {

// Call it under the lock of the state: the loops may be destroyed after `stopped` is set.
void post_answer(ry_exec* exec, resolver::done_fn done, resolver::answer a) {
  exec->post([done = std::move(done), a = std::move(a)] { done(a); });
}

}  // namespace

void resolver::state::drop_unawaited() {
  const auto gone = [this](const auto& e) { return !e.second.in_progress && !awaited(e.first); };
  for (auto it = names.begin(); it != names.end();) {
    if (!gone(*it)) {
      ++it;
      continue;
    }
    if (it->second.by == name_source::user) users.remove(it->first);
    it = names.erase(it);
  }
  std::erase_if(operators, [this](const std::string& host) { return !names.contains(host); });
}

// The next name to look up; nullopt if no ready name has a waiter left.
std::optional<resolver::state::job> resolver::state::take() {
  while (!operators.empty()) {
    std::string host = std::move(operators.front());
    operators.pop_front();
    if (awaited(host)) return job{std::move(host), std::nullopt};
    names.erase(host);
  }
  while (auto t = users.take(clock::now())) {
    if (awaited(t->host)) return job{t->host, std::move(t)};
    names.erase(t->host);
    users.end(*t);
  }
  return std::nullopt;
}

// False if the queue is full.
bool resolver::state::queue(const std::string& host, name_source by, const std::string& account) {
  if (by == name_source::user)
    return users.queue(host, ry_test::without_protection("lookup_turns") ? std::string() : account);
  if (operators.size() >= max_waiting) return false;
  operators.push_back(host);
  return true;
}

void resolver::state::unqueue(const std::string& host, name_source by) {
  if (by == name_source::user)
    users.remove(host);
  else
    std::erase(operators, host);
}

bool resolver::state::fails_at_once(const std::string& host) {
  for (auto* book : {&unanswered, &not_found}) {
    const auto it = book->find(host);
    if (it == book->end()) continue;
    if (it->second > clock::now()) return true;
    book->erase(it);
  }
  return false;
}

// Records after a user's lookup whether its name, site and account are slow.
void resolver::state::note(const job& j, bool found, clock::duration took) {
  // A late answer occupies a thread as long as a missing one.
  const bool slow = took >= set.slow;
  if (slow) stats.unanswered++;
  if (!j.turn) return;
  users.end(*j.turn);
  const auto now = clock::now();
  if (slow) users.unanswered(*j.turn, now);
  if (found && !slow) users.answered(*j.turn);
  if (found) return;
  auto& book = slow ? unanswered : not_found;
  if (book.size() >= max_waiting) std::erase_if(book, [now](const auto& e) { return e.second <= now; });
  if (book.size() >= max_waiting) book.clear();
  book[j.host] = now + (slow ? set.slow_period : set.negative_ttl);
}

// Wakes or starts a thread for queued names; false = there are no threads.
bool resolver::state::call_thread(const std::shared_ptr<state>& s) {
  if (s->threads < max_threads && s->ready(s->idle + 1) > s->idle) {
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
    s->work.wait_for(lock, linger, [&] { return s->stopped || s->ready(1) > 0; });
    --s->idle;
    if (s->stopped || s->ready(1) == 0) break;
    const auto next = s->take();
    if (!next) continue;
    s->names.at(next->host).in_progress = true;
    ++s->running;
    // The completion of another lookup may have made several names ready.
    if (s->ready(1) > 0) call_thread(s);
    lock.unlock();
    const auto begun = clock::now();
    const auto found = s->lookup(next->host);
    const auto took = clock::now() - begun;
    lock.lock();
    --s->running;
    if (s->stopped) break;
    s->note(*next, !found.empty(), took);
    auto node = s->names.extract(next->host);
    for (auto& w : node.mapped().waiters) post_answer(w.exec, std::move(w.done), {found});
  }
  --s->threads;
}

resolver::resolver(lookup_fn lookup) : resolver(std::move(lookup), options()) {}

resolver::resolver(lookup_fn lookup, const options& o) : state_(std::make_shared<state>(std::move(lookup), o)) {}

resolver::~resolver() {
  std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->names.clear();
  state_->work.notify_all();
}

void resolver::resolve(const std::string& host, name_source by, const std::string& account, ry_exec* exec,
                       std::weak_ptr<const void> waiter, done_fn done) {
  auto& s = *state_;
  std::lock_guard lock(s.mutex);
  const bool users = by == name_source::user;
  auto it = s.names.find(host);
  if (it == s.names.end() && users && s.fails_at_once(host)) return post_answer(exec, std::move(done), {});
  const bool queued = it != s.names.end();
  // A name queued for other accounts is queued for this account too.
  const bool waits = queued && !it->second.in_progress;
  if (!queued || (waits && it->second.by == name_source::user)) {
    bool taken = s.queue(host, by, account);
    if (!taken) {
      s.drop_unawaited();
      taken = s.queue(host, by, account);
    }
    if (!taken) {
      s.stats.refused++;
      return post_answer(exec, std::move(done), {{}, true});
    }
    if (waits && !users) s.users.remove(host);
  }
  // The name must be complete before call_thread(): the thread may start the lookup immediately. drop_unawaited() may
  // have dropped the name.
  auto& name = s.names.try_emplace(host, by).first->second;
  if (!users) name.by = by;
  name.waiters.push_back({std::move(waiter), exec, std::move(done)});
  if (name.in_progress || state::call_thread(state_)) return;
  done = std::move(name.waiters.back().done);
  name.waiters.pop_back();
  if (name.waiters.empty()) {
    s.unqueue(host, name.by);
    s.names.erase(host);
  }
  post_answer(exec, std::move(done), {});
}

resolver_stats resolver::stats() const {
  std::lock_guard lock(state_->mutex);
  auto out = state_->stats;
  out.in_progress = state_->running;
  out.waiting = state_->operators.size() + state_->users.waiting();
  return out;
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
