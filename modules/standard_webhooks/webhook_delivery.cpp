#include "webhook_delivery.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "webhook_signature.hpp"

namespace standard_webhooks {

namespace {

constexpr std::uint64_t timeout_ms = 15'000;
constexpr std::uint64_t max_response_bytes = 64 * 1024;
constexpr std::uint64_t max_wait_s = 24 * 3600;
constexpr std::uint64_t min_pause_ms = 5'000, max_pause_ms = 300'000;

// nullopt if the failure says nothing about the receiver: cancelled, refused by this server, or a response that is too
// large.
std::optional<bool> responded(const ry::result<ry::client_response>& r) {
  if (r) return true;
  const std::int32_t status = r.error().status();
  if (status == RY_UNAVAILABLE || status == RY_DEADLINE_EXCEEDED) return false;
  return std::nullopt;
}

// Calls leave() at the end of an attempt, even if it ended with an exception.
class attempt {
 public:
  attempt(receivers& all, const std::string& name, const receivers::entry& e) : all_(all), name_(name), entry_(e) {}
  ~attempt() { all_.leave(name_, entry_, responded_); }
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;
  void set_responded(std::optional<bool> responded) { responded_ = responded; }

 private:
  receivers& all_;
  const std::string& name_;
  const receivers::entry entry_;
  std::optional<bool> responded_;
};

}  // namespace

std::optional<std::uint64_t> retry_after_ms(std::string_view value, std::int64_t now_unix_s) {
  const std::optional<std::uint64_t> seconds = ry::retry_after_s(value, now_unix_s);
  if (!seconds) return std::nullopt;
  return std::min(*seconds, max_wait_s) * 1000;
}

receivers::entry receivers::enter(const std::string& name) {
  std::lock_guard lock(mutex_);
  state& r = states_[name];
  if (!r.silent) return {};
  if (!std::exchange(r.trying, true)) return {std::nullopt, true};
  const std::uint64_t pause = std::min(min_pause_ms << std::min(r.failed_trials, 8), max_pause_ms);
  thread_local std::minstd_rand random{std::random_device{}()};
  return {pause / 2 + std::uniform_int_distribution<std::uint64_t>(0, pause / 2)(random), false};
}

void receivers::leave(const std::string& name, const entry& e, std::optional<bool> responded) {
  std::lock_guard lock(mutex_);
  state& r = states_[name];
  if (e.trial) r.trying = false;
  if (responded == true) {
    r.silent = false;
    r.failed_trials = 0;
  } else if (responded == false) {
    r.silent = true;
    if (e.trial) ++r.failed_trials;
  }
  // Receivers of accounts are many, and most respond.
  if (!r.silent && !r.trying) states_.erase(name);
}

ry::task<ry::job_outcome> deliver(const ry::context& ctx, receivers& all, const endpoint& to, std::string id,
                                  std::string body) {
  const std::int64_t now = ctx.now_unix_us() / 1'000'000;
  std::string signatures;
  for (const auto& key : to.keys) signatures += (signatures.empty() ? "" : " ") + signature(key, id, now, body);
  ry::client_request request("POST", to.url);
  request.header("webhook-id", std::move(id))
      .header("webhook-timestamp", std::to_string(now))
      .header("webhook-signature", std::move(signatures))
      .body(std::move(body), "application/json")
      .total_timeout(timeout_ms)
      .max_response(max_response_bytes)
      .pool_key(to.name)
      .account(to.account)
      .flags(RY_CLIENT_REPEATABLE);  // the receiver recognises a repeated message by its id
  const receivers::entry entered = all.enter(to.name);
  if (entered.snooze_ms) co_return ry::job_outcome::snooze(*entered.snooze_ms);
  attempt mine(all, to.name, entered);
  ry::result<ry::client_response> response = co_await ctx.http_client().fetch(std::move(request));
  mine.set_responded(responded(response));
  // Cancelled because this server is stopping, which says nothing about the message.
  if (!response && response.error().status() == RY_CANCELLED) co_return ry::job_outcome::release();
  if (!response && to.account.empty()) co_return ry::job_outcome::retry(response.error());
  // The text of the error may contain the host of the account's URL, which neither logs nor jobs may contain.
  if (!response)
    co_return ry::job_outcome::retry(ry::error(response.error().status(), std::string(response.error().reason()),
                                               to.name + " could not be reached"));
  if (response->status >= 200 && response->status < 300) co_return ry::job_outcome::done();
  ry::error refused(RY_UNAVAILABLE, "webhook.refused", to.name + " answered " + std::to_string(response->status));
  if (response->status == 410) co_return ry::job_outcome::dead(std::move(refused));
  const auto wait = retry_after_ms(response->header("Retry-After"), now);
  co_return ry::job_outcome::retry(std::move(refused), wait.value_or(0));
}

}  // namespace standard_webhooks
