#include "driver.hpp"

#include <algorithm>
#include <charconv>

namespace notify_novu {

using ry::notify::notification;
using ry::notify::result;
using ry::notify::results;

namespace {

constexpr std::uint64_t max_response_bytes = 4 * 1024 * 1024;
constexpr std::uint32_t misconfigured_pause_s = 60;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// The result of a trigger without a response: it is unknown whether Novu executed it.
result failed_call_result(const ry::error& e, std::uint32_t channels) {
  result r(channels, RY_NOTIFY_RETRY, "novu");
  r.detail = std::string(e.message());
  r.retry_after_s = e.retry_after_s();
  // The configured URL is wrong.
  if (e.status() == RY_INVALID_ARGUMENT || e.status() == RY_FAILED_PRECONDITION) {
    r.outcome = RY_NOTIFY_PAUSED;
    r.retry_after_s = misconfigured_pause_s;
  }
  return r;
}

}  // namespace

struct driver::batch {
  explicit batch(ry_exec* exec) : exec(exec) {}
  ry_exec* exec;
  std::vector<notification> items;
  std::vector<std::uint32_t> channels;
  results out;  // one for each finished item
  bool done = false;
  ry::signal changed;
};

std::int64_t driver::deadline(std::uint64_t timeout_ms) const {
  const auto ms = timeout_ms == 0 ? settings_.timeout_ms : std::min(timeout_ms, settings_.timeout_ms);
  return ctx_.mono_us() + static_cast<std::int64_t>(ms) * 1000;
}

std::string driver::without_api_key(std::string text) const {
  if (settings_.api_key.empty()) return text;
  for (std::size_t i; (i = text.find(settings_.api_key)) != text.npos;) {
    text.replace(i, settings_.api_key.size(), "***");
  }
  return text;
}

ry::task<ry::result<response>> driver::send(call c, std::int64_t deadline_us) {
  if (settings_.api_key.empty()) {
    co_return ry::precondition("notify_novu.api_key", "notify_novu.api_key is not set");
  }
  for (;;) {
    const std::int64_t now = ctx_.mono_us();
    const std::int64_t wait = rate_limiter_.acquire(c.counted_as, c.cost, now);
    if (wait == 0) break;
    if (now + wait >= deadline_us) {
      const auto seconds = static_cast<std::uint32_t>((wait + 999'999) / 1'000'000);
      const auto limit_reached = ry::exhausted("notify_novu.rate", "Novu's rate limit is reached");
      co_return limit_reached.with_retry_after(seconds);
    }
    ry::result<void> slept = co_await ctx_.sleep(static_cast<std::uint64_t>((wait + 999) / 1000));
    if (!slept) co_return slept.error();
  }
  const std::int64_t remaining_ms = std::max<std::int64_t>((deadline_us - ctx_.mono_us()) / 1000, 1);
  ry::client_request request(c.method, settings_.base_url + c.path);
  request.header("Authorization", "ApiKey " + settings_.api_key)
      .header("Accept", "application/json")
      .total_timeout(static_cast<std::uint64_t>(remaining_ms))
      .max_response(max_response_bytes)
      .pool_key("notify_novu")
      .flags(RY_CLIENT_OPERATOR_URL);
  if (!c.idempotency_key.empty()) request.header("Idempotency-Key", c.idempotency_key);
  if (!c.body.empty()) request.body(std::move(c.body), "application/json");
  ry::result<ry::client_response> reply = co_await ctx_.http_client().fetch(std::move(request));
  if (!reply) {
    rate_limiter_.on_no_response(c.counted_as, c.cost);
    co_return reply.error();
  }
  response a;
  a.status = reply->status;
  a.body = std::move(reply->body);
  const auto after = number_of(reply->header("Retry-After"));
  if (after && *after >= 0) a.retry_after_s = static_cast<std::uint32_t>(std::min<std::int64_t>(*after, 86'400));
  rate_report rate;
  rate.remaining = number_of(reply->header("RateLimit-Remaining"));
  rate.reset_s = number_of(reply->header("RateLimit-Reset"));
  if (a.status == 429) rate.retry_after_s = after.value_or(1);
  rate_limiter_.on_response(c.counted_as, c.cost, rate, ctx_.mono_us());
  co_return std::move(a);
}

ry::task<response> driver::call_api(call c) {
  ry::result<response> reply = co_await send(std::move(c), deadline(0));
  if (!reply) throw reply.error();
  reply->body = without_api_key(std::move(reply->body));
  co_return *std::move(reply);
}

// ---- triggers ---------------------------------------------------------------------------------

ry::task<results> driver::trigger(notification n) {
  const std::uint32_t requested = n.channels;
  const std::uint32_t deliverable = deliverable_channels(n);
  const std::uint32_t undeliverable = requested & ~deliverable;
  if (deliverable != 0 && has_disabled_channel(n) && !settings_.step_conditions) {
    if (!warned_about_conditions_.exchange(true)) {
      ctx_.warn(
          "notifications with a disabled channel are not sent through Novu. Add conditions on payload.channels to the "
          "steps of its workflows, then set notify_novu.step_conditions = true");
    }
    result r(requested, RY_NOTIFY_SKIPPED, "novu");
    r.detail = "a channel is disabled, and Novu would send on all channels: notify_novu.step_conditions is not set";
    results out;
    out.push_back(std::move(r));
    co_return std::move(out);
  }
  requested_channels_.record(n.key, requested);
  // Retries are sent individually, because the idempotency key distinguishes the attempts.
  const bool in_batch = settings_.bulk_size > 1 && n.attempt <= 1 && n.epoch == 0;
  results out;
  if (deliverable != 0) {
    result r;
    if (in_batch) {
      r = co_await trigger_in_batch(std::move(n), deliverable);
    } else {
      r = co_await trigger_single(std::move(n), deliverable);
    }
    r.detail = without_api_key(std::move(r.detail));
    // A retry must be unchanged, because Novu would treat a request with fewer channels as a different one.
    const bool is_final = r.outcome == RY_NOTIFY_ACCEPTED || r.outcome == RY_NOTIFY_REFUSED;
    if (!is_final) r.channels = requested;
    out.push_back(std::move(r));
    if (!is_final) co_return std::move(out);
  }
  if (undeliverable != 0) {
    result r(undeliverable, RY_NOTIFY_SKIPPED, "novu");
    r.detail = "there is no address or device";
    out.push_back(std::move(r));
  }
  co_return std::move(out);
}

ry::task<result> driver::trigger_single(notification n, std::uint32_t channels) {
  call c = trigger_call(n);
  ry::result<response> reply = co_await send(std::move(c), deadline(n.timeout_ms));
  if (!reply) {
    if (reply.status() == RY_CANCELLED) throw reply.error();
    co_return failed_call_result(reply.error(), channels);
  }
  co_return read_trigger(*reply, channels);
}

ry::task<result> driver::trigger_in_batch(notification n, std::uint32_t channels) {
  ry_exec* exec = co_await ry::this_exec();
  std::shared_ptr<batch> b;
  bool first = false, complete = false;
  std::size_t index = 0;
  {
    std::lock_guard lock(mutex_);
    auto& slot = open_[exec];
    first = slot == nullptr;
    if (first) slot = std::make_shared<batch>(exec);
    b = slot;
    index = b->items.size();
    b->items.push_back(std::move(n));
    b->channels.push_back(channels);
    complete = b->items.size() == settings_.bulk_size;
    if (complete) open_.erase(exec);
  }
  bool started = true;
  if (complete) {
    started = ctx_.spawn(send_batch(b), exec);
  } else if (first) {
    started = ctx_.spawn(send_batch_later(b), exec);
  }
  if (!started) throw ry::error(RY_CANCELLED, "module.stopping", "The module is stopping");
  while (!b->done) {
    ry::result<void> woken = co_await b->changed.wait();
    if (!woken) throw woken.error();
  }
  if (index >= b->out.size()) throw ry::error(RY_CANCELLED, "module.stopping", "The module is stopping");
  co_return b->out[index];
}

bool driver::close_batch(const std::shared_ptr<batch>& b) {
  std::lock_guard lock(mutex_);
  const auto it = open_.find(b->exec);
  if (it == open_.end() || it->second != b) return false;
  open_.erase(it);
  return true;
}

ry::task<void> driver::send_batch_later(std::shared_ptr<batch> b) {
  (void)co_await ctx_.sleep(settings_.bulk_wait_ms);
  if (close_batch(b)) co_await send_batch(b);
}

ry::task<void> driver::send_batch(std::shared_ptr<batch> b) {
  std::vector<const notification*> all;
  std::uint64_t timeout_ms = settings_.timeout_ms;
  for (const auto& n : b->items) {
    all.push_back(&n);
    if (n.timeout_ms != 0) timeout_ms = std::min(timeout_ms, n.timeout_ms);
  }
  // Subtract the time that the batch has already waited.
  timeout_ms -= std::min(timeout_ms / 2, settings_.bulk_wait_ms * 2);
  try {
    call c;
    if (all.size() == 1) {
      c = trigger_call(*all.front());
    } else {
      c = bulk_call(all);
    }
    ry::result<response> reply = co_await send(std::move(c), deadline(timeout_ms));
    if (!reply && reply.status() != RY_CANCELLED) {
      for (const auto channels : b->channels) b->out.push_back(failed_call_result(reply.error(), channels));
    } else if (reply && all.size() == 1) {
      b->out.push_back(read_trigger(*reply, b->channels.front()));
    } else if (reply) {
      b->out = read_bulk(*reply, b->channels);
    }
  } catch (...) {
    const ry::error e = ry::current_error();
    b->out.clear();
    for (const auto channels : b->channels)
      b->out.push_back(failed_call_result(ry::error(RY_UNAVAILABLE, "", std::string(e.message())), channels));
  }
  b->done = true;
  b->changed.set();
}

// ---- other calls ------------------------------------------------------------------------------

ry::task<bool> driver::withdraw(std::string key) {
  const response a = co_await call_api(withdraw_call(key));
  co_return read_withdrawn(a);
}

ry::task<void> driver::put_subscriber(ry::notify::subscriber who) {
  const subscribers_api api = api_.load();
  response a = co_await call_api(subscriber_call(who, api));
  if (api == subscribers_api::v2 && a.status == 404) {
    a = co_await call_api(subscriber_call(who, subscribers_api::v1));
    if (a.status / 100 == 2 && api_.exchange(subscribers_api::v1) == subscribers_api::v2) {
      ctx_.info("this Novu server supports subscribers only under /v1");
    }
  }
  check_response(a);
}

ry::task<void> driver::forget(std::string account_id) {
  response a = co_await call_api(forget_call(account_id, api_.load()));
  if (is_missing_route(a)) a = co_await call_api(forget_call(account_id, subscribers_api::v1));
  if (a.status == 404) co_return;
  check_response(a);
}

ry::task<void> driver::put_tokens(std::string account_id, std::string provider, std::vector<ry::notify::token> all) {
  const auto integration_entry = settings_.integrations.find(provider);
  std::string integration;
  if (integration_entry != settings_.integrations.end()) integration = integration_entry->second;
  const bool deletes_all = all.empty();
  const response a = co_await call_api(tokens_call(account_id, provider, all, integration));
  if (deletes_all && a.status == 404) co_return;
  check_response(a);
}

ry::task<results> driver::follow(std::vector<ry::notify::sent> all) {
  results out;
  for (const auto& s : all) {
    const response messages = co_await call_api(messages_call(s.key));
    std::optional<result> r = read_messages(messages, s.channels);
    const auto requested = requested_channels_.find(s.key);
    if (const auto unrequested = requested ? unrequested_channels(messages, *requested) : 0; unrequested != 0) {
      ctx_.warn(
          "Novu sent on channels that are disabled: its steps lack the condition on "
          "payload.channels",
          {{"key", std::string_view(s.key)}, {"channels", static_cast<std::int64_t>(unrequested)}});
    }
    if (!r) {
      const response activity = co_await call_api(activity_call(s.key));
      r = read_activity(activity, s.channels);
    }
    out.push_back(*std::move(r));
  }
  co_return std::move(out);
}

}  // namespace notify_novu
