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
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>
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
    std::string site;  // empty for the operator's names
    bool slow = false;
  };
  // Names of one site that users asked for. Exists while a look-up is queued or running.
  struct site {
    std::deque<std::string> queued;
    std::size_t under_way = 0;
  };
  using clock = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable work;
  std::unordered_map<std::string, name> names;  // queued and running
  std::deque<std::string> operators;            // queued
  std::unordered_map<std::string, site> sites;
  std::deque<std::string> turns;  // sites with queued names, in round-robin order
  std::size_t users_queued = 0;
  std::unordered_map<std::string, clock::time_point> unanswered, slow_sites;  // with expiry
  std::size_t threads = 0, idle = 0;
  std::size_t for_users = 0, for_slow = 0;  // running look-ups
  bool stopped = false;
  lookup_fn lookup;
  timing when;

  bool is_slow(const std::string& name) const {
    const auto it = slow_sites.find(name);
    return it != slow_sites.end() && it->second > clock::now();
  }
  bool may_begin(const std::string& name, const site& s) const {
    if (s.queued.empty()) return false;
    return is_slow(name) ? s.under_way == 0 && for_slow < max_for_slow_sites : s.under_way < max_of_site;
  }
  // The number of queued names that may start now; counting stops at `enough`.
  std::size_t ready(std::size_t enough) const {
    std::size_t n = operators.size();
    if (for_users >= max_for_users) return n;
    const auto most = std::min(enough, n + max_for_users - for_users);
    for (auto i = turns.begin(); i != turns.end() && n < most; ++i)
      if (may_begin(*i, sites.at(*i))) ++n;
    return n;
  }
  bool awaited(const std::string& host) const;
  void drop_unawaited();
  std::optional<turn> take();
  std::optional<turn> take_of_users();
  bool queue_for_users(const std::string& host);
  bool unqueue_for_users(const std::string& host);
  void note(const turn& t, bool answered, clock::duration took);

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

void resolver::state::drop_unawaited() {
  const auto gone = [this](const std::string& host) {
    if (awaited(host)) return false;
    names.erase(host);
    return true;
  };
  std::erase_if(operators, gone);
  for (auto& [name, s] : sites) users_queued -= std::erase_if(s.queued, gone);
  std::erase_if(turns, [this](const std::string& name) { return sites.at(name).queued.empty(); });
  std::erase_if(sites, [](const auto& s) { return s.second.queued.empty() && s.second.under_way == 0; });
}

// The next name to look up; none when the waiters of all that are ready have gone.
std::optional<resolver::state::turn> resolver::state::take() {
  while (!operators.empty()) {
    std::string host = std::move(operators.front());
    operators.pop_front();
    if (awaited(host)) return turn{std::move(host), named_by::the_operator, {}};
    names.erase(host);
  }
  return for_users < max_for_users ? take_of_users() : std::nullopt;
}

std::optional<resolver::state::turn> resolver::state::take_of_users() {
  for (std::size_t n = turns.size(); n > 0; --n) {
    std::string name = std::move(turns.front());
    turns.pop_front();
    auto& s = sites.at(name);
    std::optional<turn> out;
    while (!out && may_begin(name, s)) {
      std::string host = std::move(s.queued.front());
      s.queued.pop_front();
      --users_queued;
      if (awaited(host))
        out = turn{std::move(host), named_by::user, name, is_slow(name)};
      else
        names.erase(host);
    }
    if (out) ++s.under_way;
    if (!s.queued.empty())
      turns.push_back(name);
    else if (s.under_way == 0)
      sites.erase(name);
    if (out) return out;
  }
  return std::nullopt;
}

// False if the queue of this site is full.
bool resolver::state::queue_for_users(const std::string& host) {
  const auto name = site_of(host);
  auto& s = sites[name];
  if (s.queued.size() >= max_waiting_of_site) return false;
  if (s.queued.empty()) turns.push_back(name);
  s.queued.push_back(host);
  ++users_queued;
  return true;
}

// False if the look-up is already running.
bool resolver::state::unqueue_for_users(const std::string& host) {
  const auto name = site_of(host);
  const auto it = sites.find(name);
  if (it == sites.end() || std::erase(it->second.queued, host) == 0) return false;
  --users_queued;
  if (it->second.queued.empty()) {
    std::erase(turns, name);
    if (it->second.under_way == 0) sites.erase(it);
  }
  return true;
}

// Records after a look-up for a user whether its name is unanswered and its site is slow.
void resolver::state::note(const turn& t, bool answered, clock::duration took) {
  if (answered) {
    slow_sites.erase(t.site);
    return;
  }
  if (took < when.slow) return;
  const auto now = clock::now();
  for (auto* book : {&unanswered, &slow_sites}) {
    if (book->size() >= max_waiting) std::erase_if(*book, [now](const auto& e) { return e.second <= now; });
    if (book->size() >= max_waiting) book->clear();
  }
  unanswered[t.host] = slow_sites[t.site] = now + when.remembered;
}

// Sees to it that a thread turns to what was queued; false = there are no threads at all.
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
    const std::size_t share = next->by == named_by::user ? 1 : 0;
    s->for_users += share;
    s->for_slow += next->slow ? 1 : 0;
    lock.unlock();
    const auto begun = clock::now();
    const auto found = s->lookup(next->host);
    const auto took = clock::now() - begun;
    lock.lock();
    s->for_users -= share;
    s->for_slow -= next->slow ? 1 : 0;
    if (s->stopped) break;
    if (share != 0) {
      s->note(*next, !found.empty(), took);
      const auto at = s->sites.find(next->site);
      if (--at->second.under_way == 0 && at->second.queued.empty()) s->sites.erase(at);
      // The end of this look-up may make a queued name ready, and call_thread() did not count that name.
      s->work.notify_one();
    }
    auto node = s->names.extract(next->host);
    for (auto& w : node.mapped().waiters) answer(w.exec, std::move(w.done), found);
  }
  --s->threads;
}

resolver::resolver(lookup_fn lookup) : resolver(std::move(lookup), timing()) {}

resolver::resolver(lookup_fn lookup, timing when) : state_(std::make_shared<state>()) {
  state_->lookup = std::move(lookup);
  state_->when = when;
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
    if (!s.unqueue_for_users(host)) return;  // already running
    s.operators.push_back(host);
    state::call_thread(state_);
    return;
  }
  const bool users = by == named_by::user;
  if (users) {
    const auto it = s.unanswered.find(host);
    if (it != s.unanswered.end() && it->second > state::clock::now()) return answer(exec, std::move(done), {});
    if (it != s.unanswered.end()) s.unanswered.erase(it);
  }
  const auto queued = [&] { return users ? s.users_queued : s.operators.size(); };
  if (queued() >= max_waiting) s.drop_unawaited();
  if (queued() >= max_waiting) return answer(exec, std::move(done), {});
  if (!users) {
    s.operators.push_back(host);
  } else if (!s.queue_for_users(host)) {
    return answer(exec, std::move(done), {});
  }
  // The name must be complete before call_thread(): the thread may start the look-up at once.
  auto& name = s.names[host];
  name.by = by;
  name.waiters.push_back({std::move(waiter), exec, std::move(done)});
  if (state::call_thread(state_)) return;
  done = std::move(name.waiters.back().done);
  s.names.erase(host);
  if (users)
    s.unqueue_for_users(host);
  else
    s.operators.pop_back();
  answer(exec, std::move(done), {});
}

std::string resolver::site_of(const std::string& host) {
  const auto last = host.rfind('.');
  if (last == host.npos || last == 0) return host;
  auto from = host.rfind('.', last - 1);
  if (from == host.npos) return host;
  static constexpr std::string_view shared[] = {"ac", "co",  "com", "edu", "go",  "gob", "gov", "info",
                                                "mil", "ne", "net", "nom", "or", "org", "web"};
  const auto second = std::string_view(host).substr(from + 1, last - from - 1);
  const bool country = host.size() - last - 1 == 2 && std::ranges::find(shared, second) != std::end(shared);
  if (country && from > 0) {
    from = host.rfind('.', from - 1);
    if (from == host.npos) return host;
  }
  return host.substr(from + 1);
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
