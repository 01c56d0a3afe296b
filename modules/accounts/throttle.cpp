#include "throttle.hpp"

namespace accounts {

ry::task<std::int64_t> take_tokens(const ry::context& ctx, std::vector<bucket> buckets) {
  std::vector<std::string> keys;
  std::vector<std::int64_t> capacities, seconds;
  for (auto& b : buckets) {
    keys.push_back(std::move(b.key));
    capacities.push_back(b.capacity);
    seconds.push_back(b.seconds);
  }
  const auto rows =
      (co_await ctx.db().query("select accounts.throttle_take($1, $2, $3)", keys, capacities, seconds)).value();
  co_return rows.front().int64(0);
}

ry::task<void> throttle(const ry::context& ctx, std::vector<bucket> buckets) {
  const auto wait = co_await take_tokens(ctx, std::move(buckets));
  if (wait == 0) co_return;
  throw ry::http_error(429, RY_RESOURCE_EXHAUSTED, "accounts.too_many_attempts", "Too many attempts; try again later")
      .with_retry_after(static_cast<std::uint32_t>(wait));
}

}  // namespace accounts
