#include "webhook_delivery.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "webhook_signature.hpp"

namespace standard_webhooks {

namespace {

constexpr std::uint64_t answer_ms = 15'000;
constexpr std::uint64_t max_answer_bytes = 64 * 1024;
constexpr std::uint64_t max_wait_s = 24 * 3600;
constexpr std::uint64_t first_pause_ms = 5'000, max_pause_ms = 300'000;

// nullopt if the failure says nothing about the receiver: cancelled, refused by this server, or a response that is too
// large.
std::optional<bool> answered(const ry::result<ry::client_response>& r) {
  if (r) return true;
  const std::int32_t status = r.error().status();
  if (status == RY_UNAVAILABLE || status == RY_DEADLINE_EXCEEDED) return false;
  return std::nullopt;
}

// Calls over() at the end of an attempt, also if it ended with an exception.
class attempt {
 public:
  attempt(receivers& all, const std::string& name, const receivers::entry& e) : all_(all), name_(name), entry_(e) {}
  ~attempt() { all_.over(name_, entry_, answered_); }
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;
  void ended(std::optional<bool> answered) { answered_ = answered; }

 private:
  receivers& all_;
  const std::string& name_;
  const receivers::entry entry_;
  std::optional<bool> answered_;
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
  const std::uint64_t pause = std::min(first_pause_ms << std::min(r.failed_trials, 8), max_pause_ms);
  thread_local std::minstd_rand random{std::random_device{}()};
  return {pause / 2 + std::uniform_int_distribution<std::uint64_t>(0, pause / 2)(random), false};
}

void receivers::over(const std::string& name, const entry& e, std::optional<bool> answered) {
  std::lock_guard lock(mutex_);
  state& r = states_[name];
  if (e.trial) r.trying = false;
  if (answered == true) {
    r.silent = false;
    r.failed_trials = 0;
  } else if (answered == false) {
    r.silent = true;
    if (e.trial) ++r.failed_trials;
  }
}

ry::task<ry::job_outcome> deliver(const ry::context& ctx, receivers& known, const endpoint& to, std::string id,
                                  std::string body) {
  const std::int64_t now = ctx.now_unix_us() / 1'000'000;
  std::string mark;
  for (const auto& key : to.keys) mark += (mark.empty() ? "" : " ") + signature(key, id, now, body);
  ry::client_request request("POST", to.url);
  request.header("webhook-id", std::move(id))
      .header("webhook-timestamp", std::to_string(now))
      .header("webhook-signature", std::move(mark))
      .body(std::move(body), "application/json")
      .total_timeout(answer_ms)
      .max_response(max_answer_bytes)
      .pool_key(to.name)
      .flags(RY_CLIENT_REPEATABLE);  // the receiver recognises a repeated message by its id
  const receivers::entry entered = known.enter(to.name);
  if (entered.later_ms) co_return ry::job_outcome::snooze(*entered.later_ms);
  attempt mine(known, to.name, entered);
  ry::result<ry::client_response> answer = co_await ctx.http_client().fetch(std::move(request));
  mine.ended(answered(answer));
  // Cancelled because this server is stopping, which says nothing about the message.
  if (!answer && answer.error().status() == RY_CANCELLED) co_return ry::job_outcome::release();
  if (!answer) co_return ry::job_outcome::retry(answer.error());
  if (answer->status >= 200 && answer->status < 300) co_return ry::job_outcome::done();
  ry::error refused(RY_UNAVAILABLE, "webhook.refused", to.name + " answered " + std::to_string(answer->status));
  if (answer->status == 410) co_return ry::job_outcome::dead(std::move(refused));
  const auto wait = retry_after_ms(answer->header("Retry-After"), now);
  co_return ry::job_outcome::retry(std::move(refused), wait.value_or(0));
}

}  // namespace standard_webhooks
