// Driver `novu` of notify.orchestrator/1: sends notifications through the REST interface of Novu, in the cloud or
// self-hosted. It lives as long as the module; every function is [any].
#pragma once

#include <ry/cpp/notify.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rate_limiter.hpp"
#include "requested_channels.hpp"
#include "settings.hpp"
#include "wire.hpp"

namespace notify_novu {

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP |
                                                RY_NOTIFY_STORES_SUBSCRIBERS | RY_NOTIFY_STORES_TOKENS |
                                                RY_NOTIFY_WITHDRAWS | RY_NOTIFY_FOLLOWS | RY_NOTIFY_REPORTS;

  driver(const ry::context& ctx, settings s) : ctx_(ctx), settings_(std::move(s)) {}

  const ry::context& host() const { return ctx_; }
  std::string accepts(const ry::notify::token& t) const {
    check_token(t);
    return {};
  }
  ry::task<ry::notify::results> trigger(ry::notify::notification n);
  ry::task<bool> withdraw(std::string key);
  ry::task<void> put_subscriber(ry::notify::subscriber who);
  ry::task<void> forget(std::string account_id);
  ry::task<void> put_tokens(std::string account_id, std::string provider, std::vector<ry::notify::token> all);
  ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> all);
  std::vector<ry::notify::report> read_report(std::string_view body) const { return read_webhook(body); }

 private:
  // Triggers that are sent in one request; belongs to one executor.
  struct batch;

  // Returns every response, also failures. Error RY_RESOURCE_EXHAUSTED with retry_after: the rate limit does not allow
  // the request before the deadline, and nothing was sent. Other errors: there was no response.
  ry::task<ry::result<response>> send(call c, std::int64_t deadline_us);
  ry::task<response> call_api(call c);  // throws if there is no response within the configured time
  std::int64_t deadline(std::uint64_t timeout_ms) const;
  ry::task<ry::notify::result> trigger_single(ry::notify::notification n, std::uint32_t channels);
  ry::task<ry::notify::result> trigger_in_batch(ry::notify::notification n, std::uint32_t channels);
  ry::task<void> send_batch_later(std::shared_ptr<batch> b);
  ry::task<void> send_batch(std::shared_ptr<batch> b);
  bool close_batch(const std::shared_ptr<batch>& b);
  // Removes the API key from a text, in case Novu or a proxy repeats it.
  std::string without_api_key(std::string text) const;

  const ry::context& ctx_;
  const settings settings_;
  rate_limiter rate_limiter_;
  std::atomic<subscribers_api> api_{subscribers_api::v2};
  std::atomic<bool> warned_about_conditions_{false};  // the log has the warning about missing step conditions
  requested_channels requested_channels_;
  std::mutex mutex_;
  std::map<ry_exec*, std::shared_ptr<batch>> open_;
};

}  // namespace notify_novu
