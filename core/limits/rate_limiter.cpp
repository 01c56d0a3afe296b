#include "core/limits/rate_limiter.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/db/database.hpp"
#include "core/db/migrator.hpp"

namespace ry::limits {

namespace {

using namespace std::chrono_literals;
constexpr auto tell_every = 250ms;
constexpr std::int64_t sweep_every_us = 60'000'000;
constexpr std::size_t keys_at_once = 5000;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A table key that PostgreSQL accepts for any bytes and any length: a key that it rejects would fail the whole
// batched statement.
std::string key_of(std::string_view kind, std::string_view name) {
  constexpr std::size_t longest = 200;
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  std::string key(kind);
  if (name.size() <= longest && std::all_of(name.begin(), name.end(), plain)) return key.append(" ").append(name);
  return key.append("#").append(db::sha256_hex(name));
}

std::uint32_t seconds_up(std::int64_t us) {
  return static_cast<std::uint32_t>((us + 999'999) / 1'000'000);
}

http::gate_verdict answer_of(const verdict& v, const rate& r) {
  return http::gate_verdict{v.allowed, static_cast<std::uint64_t>(r.burst), static_cast<std::uint64_t>(v.remaining),
                            seconds_up(v.full_after_us), std::max(1u, seconds_up(v.retry_after_us))};
}

}  // namespace

rate_limiter::rate_limiter(const settings& s) : settings_(s) {}
rate_limiter::~rate_limiter() {
  detach();
}

void rate_limiter::attach(db::database& db) {
  if (db_ || (!settings_.by_address.on() && !settings_.by_account.on())) return;
  db_ = &db;
  // No node notifies this channel; the callback runs at a fixed interval.
  listening_ = db.listen(
      "core.rates",
      [&db, s = state_] {
        if (s->sharing.exchange(true)) return;
        db.submit(
            [s](db::connection& c) {
              try {
                if (c.is_open()) s->report_usage(c);
              } catch (...) {
                s->sharing = false;
                throw;
              }
              s->sharing = false;
            },
            db::priority::high);
      },
      tell_every);
}

void rate_limiter::detach() {
  if (!db_) return;
  db_->unlisten(listening_);
  db_ = nullptr;
}

void rate_limiter::shared_state::report_usage(db::connection& c, bucket_table& buckets) {
  const auto all = buckets.collect(now_us());
  for (std::size_t from = 0; from < all.size(); from += keys_at_once) {
    const std::vector<spending> part(
        all.begin() + static_cast<std::ptrdiff_t>(from),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), from + keys_at_once)));
    db::text_array keys;
    std::vector<std::int64_t> spent, begun;
    for (const auto& s : part) {
      keys.add(s.key);
      spent.push_back(s.us);
      begun.push_back(s.from_us);
    }
    try {
      const auto r = c.exec("select key, ahead from core.rates_spend($1, $2, $3)",
                            {keys.value(), db::value::ints(spent), db::value::ints(begun)});
      const auto now = now_us();
      for (std::size_t i = 0; i < r.size(); ++i) buckets.learn(r.text(i, 0), r.int64(i, 1), now);
    } catch (...) {
      buckets.give_back({all.begin() + static_cast<std::ptrdiff_t>(from), all.end()});
      throw;
    }
  }
}

void rate_limiter::shared_state::report_usage(db::connection& c) {
  for (auto* buckets : {&accounts, &addresses, &networks}) report_usage(c, *buckets);
  if (now_us() - swept_us < sweep_every_us) return;
  swept_us = now_us();
  c.exec("delete from core.rate where busy_until < now()");
}

std::optional<http::gate_verdict> rate_limiter::by_address(std::string_view address) {
  if (!settings_.by_address.on()) return std::nullopt;
  const auto& r = settings_.by_address;
  const auto now = now_us();
  auto v = state_->addresses.take(key_of("address", network_of(address)), r, now);
  if (!v.counted) v = state_->networks.take(key_of("network", network_of(address, ipv6_prefix::site)), r, now);
  return answer_of(v, r);
}

std::optional<http::gate_verdict> rate_limiter::by_account(std::string_view subject) {
  const auto& r = settings_.by_account;
  if (!r.on()) return std::nullopt;
  return answer_of(state_->accounts.take(key_of("account", subject), r, now_us()), r);
}

std::shared_ptr<const void> rate_limiter::stream_permit(std::string_view subject) {
  static const int unlimited = 0;
  if (settings_.streams_per_account == 0) return {std::shared_ptr<void>(), &unlimited};
  std::string key(subject);
  std::lock_guard lock(permits_->mutex);
  auto& in_use = permits_->in_use[key];
  if (in_use >= settings_.streams_per_account) return nullptr;
  ++in_use;
  return std::shared_ptr<const void>(&unlimited, [all = permits_, key = std::move(key)](const void*) {
    std::lock_guard inner(all->mutex);
    const auto it = all->in_use.find(key);
    if (it != all->in_use.end() && --it->second == 0) all->in_use.erase(it);
  });
}

}  // namespace ry::limits
