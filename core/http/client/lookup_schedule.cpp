#include "core/http/client/lookup_schedule.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ry::http {

bool lookup_schedule::queue(const std::string& host, const std::string& name) {
  const auto known = queued_.find(host);
  if (known != queued_.end() && std::ranges::find(known->second, name) != known->second.end()) return true;
  const auto site = site_of(host);
  auto& a = accounts_[name];
  const auto at = a.names.find(site);
  const auto queued = at == a.names.end() ? 0 : at->second.size();
  const bool many = name.empty() ? queued >= limits_.waiting_per_account : a.waiting >= limits_.waiting_per_account;
  if (many || (queued_.size() >= limits_.waiting && a.waiting >= limits_.waiting_when_full)) {
    drop_unused(name);
    return false;
  }
  if (a.waiting == 0) turns_.push_back(name);
  if (queued == 0) a.turns.push_back(site);
  a.names[site].push_back(host);
  ++a.waiting;
  queued_[host].push_back(name);
  return true;
}

bool lookup_schedule::remove(const std::string& host) {
  const auto it = queued_.find(host);
  if (it == queued_.end()) return false;
  const auto names = std::move(it->second);
  queued_.erase(it);
  const auto site = site_of(host);
  for (const auto& name : names) {
    auto& a = accounts_.at(name);
    auto& queue = a.names.at(site);
    --a.waiting;
    std::erase(queue, host);
    if (queue.empty()) {
      a.names.erase(site);
      std::erase(a.turns, site);
    }
    if (a.waiting == 0) std::erase(turns_, name);
    drop_unused(name);
  }
  return true;
}

void lookup_schedule::drop_unused(const std::string& name) {
  const auto it = accounts_.find(name);
  if (it->second.waiting == 0 && it->second.in_progress == 0) accounts_.erase(it);
}

bool lookup_schedule::is_slow(const slow_map& book, const std::string& name, std::size_t least,
                              clock::time_point now) const {
  const auto it = book.find(name);
  return it != book.end() && it->second.until > now && it->second.unanswered >= least;
}

bool lookup_schedule::slow_account(const std::string& name, clock::time_point now) const {
  return !name.empty() && is_slow(slow_accounts_, name, limits_.slow_account, now);
}

bool lookup_schedule::may_begin(const std::string& name, const account& a, clock::time_point now) const {
  if (name.empty()) return true;
  if (slow_account(name, now)) return a.in_progress == 0 && slow_in_progress_ < limits_.slow_total;
  return a.in_progress < limits_.per_account;
}

bool lookup_schedule::may_begin(const std::string& site, clock::time_point now) const {
  const auto it = sites_.find(site);
  const auto n = it == sites_.end() ? 0 : it->second;
  if (is_slow(slow_sites_, site, 1, now)) return n == 0 && slow_in_progress_ < limits_.slow_total;
  return n < limits_.per_site;
}

std::size_t lookup_schedule::ready(clock::time_point now, std::size_t enough) const {
  if (in_progress_ >= limits_.in_progress) return 0;
  enough = std::min(enough, limits_.in_progress - in_progress_);
  std::size_t n = 0;
  for (const auto& name : turns_) {
    if (n >= enough) break;
    const auto& a = accounts_.at(name);
    if (!may_begin(name, a, now)) continue;
    // A slow account gets only one lookup.
    auto left = slow_account(name, now) ? 1 : name.empty() ? enough : limits_.per_account - a.in_progress;
    for (auto site = a.turns.begin(); site != a.turns.end() && left > 0 && n < enough; ++site) {
      if (!may_begin(*site, now)) continue;
      ++n;
      --left;
    }
  }
  return n;
}

std::string lookup_schedule::pop(const std::string& name, account& a, const std::string& site) {
  auto host = a.names.at(site).front();
  remove(host);  // from the queues of all accounts
  // Move it behind the others (round-robin).
  const auto to_end = [](std::deque<std::string>& turns, const std::string& one) {
    const auto at = std::ranges::find(turns, one);
    if (at != turns.end()) std::rotate(at, at + 1, turns.end());
  };
  to_end(a.turns, site);
  to_end(turns_, name);
  return host;
}

std::optional<lookup_schedule::turn> lookup_schedule::take(clock::time_point now) {
  if (in_progress_ >= limits_.in_progress) return std::nullopt;
  for (const auto& each : turns_) {
    auto& a = accounts_.at(each);
    if (!may_begin(each, a, now)) continue;
    const auto next = std::ranges::find_if(a.turns, [&](const auto& site) { return may_begin(site, now); });
    if (next == a.turns.end()) continue;
    turn t{{}, each, *next, slow_account(each, now) || is_slow(slow_sites_, *next, 1, now)};
    ++a.in_progress;  // before pop(), which drops accounts without a name
    ++sites_[t.site];
    ++in_progress_;
    if (t.slow) ++slow_in_progress_;
    t.host = pop(t.account, a, t.site);
    return t;
  }
  return std::nullopt;
}

void lookup_schedule::end(const turn& t) {
  --accounts_.at(t.account).in_progress;
  drop_unused(t.account);
  const auto site = sites_.find(t.site);
  if (--site->second == 0) sites_.erase(site);
  --in_progress_;
  if (t.slow) --slow_in_progress_;
}

void lookup_schedule::remember(slow_map& book, const std::string& name, clock::time_point now) const {
  if (book.size() >= limits_.waiting) std::erase_if(book, [now](const auto& e) { return e.second.until <= now; });
  if (book.size() >= limits_.waiting) book.clear();
  auto& s = book[name];
  if (s.until <= now) s.unanswered = 0;
  ++s.unanswered;
  s.until = now + limits_.slow_time;
}

void lookup_schedule::unanswered(const turn& t, clock::time_point now) {
  remember(slow_sites_, t.site, now);
  if (!t.account.empty()) remember(slow_accounts_, t.account, now);
}

// Answered names do not clear the slow state of the account: an attacker could alternate them with unanswered ones.
void lookup_schedule::answered(const turn& t) {
  slow_sites_.erase(t.site);
}

std::string lookup_schedule::site_of(const std::string& host) {
  const auto last = host.rfind('.');
  if (last == host.npos || last == 0) return host;
  auto from = host.rfind('.', last - 1);
  if (from == host.npos) return host;
  static constexpr std::string_view shared[] = {"ac",  "co", "com", "edu", "go", "gob", "gov", "info",
                                                "mil", "ne", "net", "nom", "or", "org", "web"};
  const auto second = std::string_view(host).substr(from + 1, last - from - 1);
  const bool country = host.size() - last - 1 == 2 && std::ranges::find(shared, second) != std::end(shared);
  if (country && from > 0) {
    from = host.rfind('.', from - 1);
    if (from == host.npos) return host;
  }
  return host.substr(from + 1);
}

}  // namespace ry::http
