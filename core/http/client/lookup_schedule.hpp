// Fair scheduler for the DNS lookups of users, without threads, clock or I/O. The resolver owns it and calls it under
// its lock.
//
// Accounts take turns, and the sites of one account (a site is a registered domain) take turns within it. An account
// and a site have a limited number of lookups in progress. A site with an unanswered lookup, and an account with
// several, is slow for a while: it gets one lookup at a time, and all slow ones share a small limit. A name that
// several accounts wait for is queued for each of them and looked up at the earliest of their turns.
//
// The account "" stands for requests that name no account. It takes turns like the others, but only the limits of sites
// apply to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ry::http {

class lookup_schedule {
 public:
  using clock = std::chrono::steady_clock;

  struct limits {
    std::size_t in_progress = 12;  // of all users
    std::size_t per_account = 4;
    std::size_t per_site = 3;
    std::size_t slow_total = 4;  // of all slow accounts and sites together
    std::size_t waiting = 4096;
    std::size_t waiting_per_account = 256;  // also per site of the account ""
    std::size_t waiting_when_full = 8;  // per account, even if `waiting` is reached
    std::size_t slow_account = 4;  // unanswered lookups that make an account slow
    std::chrono::milliseconds slow_time{60'000};
  };
  struct turn {
    std::string host, account, site;
    bool slow = false;
  };

  explicit lookup_schedule(const limits& l) : limits_(l) {}

  // Queues the name for the account. False: the queue is full. A name that the account has queued keeps its position.
  bool queue(const std::string& host, const std::string& account);
  // Removes the name from all queues. False: it was not queued.
  bool remove(const std::string& host);
  // Removes the next name from all queues and marks it as in progress. nullopt: no lookup may start now.
  std::optional<turn> take(clock::time_point now);
  // The lookup of a name that take() returned has ended.
  void end(const turn& t);
  // Records whether the lookup was answered within the time that a responsive name server needs.
  void unanswered(const turn& t, clock::time_point now);
  void answered(const turn& t);

  // An estimate of the number of lookups that may start now, counted up to `enough` and at most one per account and site.
  // It is 0 only if take() would return nullopt.
  std::size_t ready(clock::time_point now, std::size_t enough) const;
  std::size_t waiting() const noexcept { return queued_.size(); }
  std::size_t in_progress() const noexcept { return in_progress_; }

  // The registered domain of a name, estimated without a public suffix list: its last two labels, or three below common
  // country-code second levels (co.uk).
  static std::string site_of(const std::string& host);

 private:
  struct account {
    std::unordered_map<std::string, std::deque<std::string>> names;  // by site; no empty queues
    std::deque<std::string> turns;  // the sites of `names`; the first one is next
    std::size_t waiting = 0, in_progress = 0;
  };
  struct slowness {
    std::size_t unanswered = 0;
    clock::time_point until;
  };
  using slow_map = std::unordered_map<std::string, slowness>;

  bool is_slow(const slow_map& book, const std::string& name, std::size_t least, clock::time_point now) const;
  bool slow_account(const std::string& name, clock::time_point now) const;
  bool may_begin(const std::string& name, const account& a, clock::time_point now) const;
  bool may_begin(const std::string& site, clock::time_point now) const;
  void remember(slow_map& book, const std::string& name, clock::time_point now) const;
  std::string pop(const std::string& name, account& a, const std::string& site);
  void drop_unused(const std::string& name);

  const limits limits_;
  std::unordered_map<std::string, account> accounts_;  // with a name that waits or is in progress
  std::deque<std::string> turns_;  // accounts with waiting names; the first one is next
  std::unordered_map<std::string, std::vector<std::string>> queued_;  // accounts by queued name
  std::unordered_map<std::string, std::size_t> sites_;  // lookups in progress
  slow_map slow_accounts_, slow_sites_;
  std::size_t in_progress_ = 0, slow_in_progress_ = 0;
};

}  // namespace ry::http
