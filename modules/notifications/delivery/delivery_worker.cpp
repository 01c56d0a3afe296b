#include "delivery/delivery_worker.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

#include "json/members.hpp"
#include "workflows/sentences.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::uint64_t no_driver_retry_ms = 30'000;
constexpr std::uint64_t update_retry_ms = 30'000;
constexpr std::int64_t max_tracked = 100;
constexpr std::uint32_t supported_channels = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;

std::optional<json::object> job_arguments(const ry::job& job) {
  json::error_code bad;
  const auto text = job.args();
  auto doc = json::parse(json::string_view(text.data(), text.size()), bad);
  if (bad || !doc.is_object()) return std::nullopt;
  return std::move(doc.get_object());
}

std::optional<ry::uuid> uuid_of(const std::optional<json::object>& o, const char* name) {
  return o ? ry::uuid::parse(module_json::text_of(*o, name)) : std::nullopt;
}

ry::job_outcome malformed() {
  return ry::job_outcome::dead(ry::bad_request("notifications.job", "the job has no valid id"));
}

ry::notify::subscriber subscriber_of(const ry::uuid& account, const person& recipient) {
  ry::notify::subscriber out;
  out.account_id = account.to_string();
  out.email = recipient.email;
  out.name = recipient.name;
  out.first_name = recipient.first_name();
  out.phone = recipient.phone;
  out.avatar = recipient.avatar;
  return out;
}

double jitter() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(random);
}

template <class Result>
std::vector<Result> copy_results(const ry_notify_result* first, std::size_t n, std::size_t stride) {
  std::vector<Result> out;
  const auto* at = reinterpret_cast<const unsigned char*>(first);
  for (std::size_t i = 0; i < n; ++i, at += stride) {
    out.emplace_back(*reinterpret_cast<const ry_notify_result*>(at));
  }
  return out;
}

std::vector<ry_notify_token> views_of(const std::vector<ry::notify::token>& all) {
  std::vector<ry_notify_token> out;
  out.reserve(all.size());
  for (const auto& t : all) out.push_back(t.view());
  return out;
}

// Whether the error is permanent, so that a retry would not help.
bool is_final(const ry::error& e) {
  return e.status() == RY_INVALID_ARGUMENT;
}

// Awaits a function of the driver that completes with a ry_done.
template <class Start>
ry::task<ry::result<void>> done_of(Start start) {
  co_return co_await ry::call_done([&start](ry_exec* exec, ry_done done) { return start(exec, done); });
}

}  // namespace

delivery_worker::delivery_worker(const module_context& context) : context_(context) {
  const auto count = [&](const char* outcome) {
    return context.ctx.metrics().counter("attempts_total", "Attempts to send a notification", {{"outcome", outcome}});
  };
  sent_ = count("sent");
  retried_ = count("retry");
  failed_ = count("failed");
  suppressed_ = count("suppressed");
  dead_ = count("dead");
  throttled_ = count("throttled");
  unreadable_ = context.ctx.metrics().counter(
      "unreadable_devices_total", "Push messages that were not sent because their device could not be decrypted");
  for (const char* outcome : {"accepted", "delivered", "skipped", "refused", "gone", "retry", "no_answer"})
    count_deliveries(context.ctx, RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH, outcome, 0);  // the series exist from the start
}

void delivery_worker::count(std::uint32_t requested, const ry::result<ry::notify::results>& results) const {
  if (!results) count_deliveries(context_.ctx, requested, "no_answer");
  for (const auto& r : results ? *results : ry::notify::results())
    count_deliveries(context_.ctx, requested & r.channels, state_name(r.outcome));
}

void delivery_worker::add_to(ry::registrar& reg) {
  ry::job_options o;
  o.queue = "notifications";
  o.max_attempts = 1'000;  // retries of a notification have their own limit
  o.concurrency = context_.config.concurrency;
  o.timeout_ms = context_.config.timeout_ms + 30'000;
  o.backoff_ms = 5'000;
  reg.job("notifications.deliver", this, &delivery_worker::deliver, o);
  o.concurrency = 4;
  reg.job("notifications.subscriber", this, &delivery_worker::update_subscriber, o);
  reg.job("notifications.tell", this, &delivery_worker::update_subscriber, o);  // enqueued by the previous release
  o.concurrency = 1;
  o.timeout_ms = 10 * 60'000;
  o.cron = "* * * * *";
  reg.job("notifications.follow", this, &delivery_worker::follow, o);
  o.cron = "41 * * * *";
  reg.job("notifications.tidy", this, &delivery_worker::clean_up, o);
}

std::uint64_t delivery_worker::remaining_pause_ms() const noexcept {
  const auto remaining_us = paused_until_us_.load(std::memory_order_relaxed) - context_.ctx.mono_us();
  return remaining_us > 0 ? static_cast<std::uint64_t>(remaining_us) / 1000 + 1 : 0;
}

ry::task<ry::job_outcome> delivery_worker::deliver(ry::job job) {
  const auto id = uuid_of(job_arguments(job), "id");
  if (!id) co_return malformed();
  if (const auto wait = remaining_pause_ms(); wait != 0) co_return ry::job_outcome::snooze(wait);
  const auto driver = context_.driver();
  if (!driver) {
    const ry::error reason(RY_UNAVAILABLE, "notifications.no_driver",
                           "notifications.orchestrator \"" + context_.config.orchestrator + "\" is not loaded");
    context_.ctx.log_error("notifications wait: their orchestrator is not loaded", reason);
    co_return ry::job_outcome::snooze(no_driver_retry_ms);
  }
  const lease held{job.id(), job.fence()};
  auto t = co_await context_.repo.begin_attempt(*id, held, driver->table->capabilities & supported_channels);
  if (t.next == delivery_start::action::done) {
    // Another entry of the digest may be ready to send in its place.
    context_.ctx.jobs().wake("notifications");
    co_return ry::job_outcome::done();
  }
  if (t.next == delivery_start::action::wait) co_return ry::job_outcome::snooze(t.wait_ms);

  co_await add_decision_links(t);
  const auto account = t.account;
  const auto requested = t.channels;
  const auto attempt = t.attempt;
  const auto devices = t.devices;
  // Texts that must not appear in the log.
  std::vector<std::string> personal{t.recipient.email, t.recipient.phone};
  for (const auto& d : devices.readable) personal.push_back(d.value);
  const bool is_part = (channels_of(t.workflow) & ~requested) != 0;
  const auto other =
      is_part && module_context::cannot_omit_channels(driver) ? context_.fallback_driver() : orchestrators::entry();
  // Deliveries of the other driver are not tracked, because later polls query the configured driver.
  const bool follows = !other && (driver->table->capabilities & RY_NOTIFY_FOLLOWS) != 0;
  ry::result<ry::notify::results> results = ry::notify::results();
  if (other) {
    results = co_await trigger_supported_channels(other, std::move(t), job.cancel());
  } else {
    results = co_await trigger(driver, std::move(t), job.cancel());
  }
  count(requested, results);
  if (results) mask_devices(devices, (requested & RY_NOTIFY_PUSH) != 0, *results);
  auto v = results ? evaluate_results(requested, *results, attempt, follows ? tracking::yes : tracking::no, jitter())
                   : evaluate_failure(requested, results.error(), attempt, jitter());
  v.failures = masked(std::move(v.failures), personal);
  // The result is stored even if the host stops in the meantime.
  auto recorded = record_result(*id, account, held, std::move(v));
  co_return co_await ry::shield(std::move(recorded));
}

// Adds the field decision_url to payloads about approvals that the recipient may decide with a link.
ry::task<void> delivery_worker::add_decision_links(delivery_start& t) const {
  if (context_.own_url.empty()) co_return;
  std::vector<json::object*> payloads{&t.payload};
  for (auto& item : t.digest_payloads) payloads.push_back(&item);
  for (auto* payload : payloads) {
    const auto* details = module_json::object_at(*payload, details_member);
    const auto approval = ry::uuid::parse(module_json::text_at(*payload, "approval_id"));
    if (!approval || details == nullptr || !module_json::flag_at(*details, "decidable")) continue;
    const auto token = co_await context_.repo.approval_token(t.account, *approval);
    if (token) (*payload)["decision_url"] = context_.own_url + "/approval-decision?link=" + *token;
  }
}

// Replaces device tokens in results with fingerprints, and adds failed results for devices that cannot be decrypted.
void delivery_worker::mask_devices(const device_list& devices, bool push, ry::notify::results& results) const {
  std::vector<std::string> secrets = devices.names;
  for (const auto& t : devices.readable) secrets.push_back(t.value);
  for (auto& r : results) {
    r.token = context_.repo.fingerprint(r.token);
    r.detail = masked(std::move(r.detail), secrets);
  }
  if (!push || devices.unreadable.empty()) return;
  for (const auto& t : devices.unreadable) {
    ry::notify::result r(RY_NOTIFY_PUSH, RY_NOTIFY_REFUSED, t.provider);
    r.token = t.value;
    r.detail = "The device cannot be decrypted; it must register again";
    results.push_back(std::move(r));
    unreadable_.add();
  }
  context_.ctx.log_error("push messages were not sent to devices that cannot be decrypted",
                         ry::error(RY_DATA_LOSS, "notifications.device",
                                   "the key that encrypted them is neither secrets.key nor in secrets.old_keys"));
}

// Triggers the notification with a driver that may not support all requested channels.
ry::task<ry::result<ry::notify::results>> delivery_worker::trigger_supported_channels(orchestrators::entry driver,
                                                                                      delivery_start t,
                                                                                      ry::cancel_token cancel) const {
  const std::uint32_t without = t.channels & ~driver->table->capabilities;
  t.channels &= driver->table->capabilities;
  ry::result<ry::notify::results> results = ry::notify::results();
  if (t.channels != 0) results = co_await trigger(driver, std::move(t), std::move(cancel));
  if (results && without != 0) {
    results->emplace_back(without, RY_NOTIFY_SKIPPED, driver->name);
    results->back().detail =
        "the orchestrator cannot omit channels, and the driver " + driver->name + " does not support this channel";
  }
  co_return results;
}

ry::task<ry::result<ry::notify::results>> delivery_worker::trigger(orchestrators::entry driver, delivery_start t,
                                                                   ry::cancel_token cancel) const {
  rendered_texts rendered;
  if (t.digest_payloads.empty()) {
    rendered = context_.templates.write(t.workflow, t.payload, t.recipient, context_.deployment);
  } else {
    rendered = context_.templates.write_digest(t.workflow, t.digest_payloads, t.recipient, context_.deployment);
    for (auto& item : t.digest_payloads) item.erase(details_member);
    json::array items(t.digest_payloads.begin(), t.digest_payloads.end());
    t.payload = {{"first_name", t.recipient.first_name()}, {"count", items.size()}, {"items", std::move(items)}};
  }
  t.payload.erase(details_member);
  const auto payload = json::serialize(t.payload);
  const auto to = subscriber_of(t.account, t.recipient);
  ry::notify::content texts;
  texts.title = std::move(rendered.title);
  texts.body = std::move(rendered.body);
  texts.mail_text = std::move(rendered.mail);
  texts.mail_html = std::move(rendered.html);
  texts.action_url = std::move(rendered.url);
  const auto to_view = to.view();
  const auto texts_view = texts.view();
  const auto tokens = views_of(t.devices.readable);

  ry_notify_trigger what{};
  what.struct_size = sizeof what;
  what.channels = t.channels;
  what.workflow = ry::str(t.workflow);
  what.key = ry::str(t.tid);
  what.epoch = t.epoch;
  what.attempt = t.attempt;
  what.payload_json = ry::str(payload);
  what.to = &to_view;
  what.content = &texts_view;
  what.tokens = tokens.data();
  what.n_tokens = tokens.size();
  what.token_stride = sizeof(ry_notify_token);
  what.expires_unix_us = t.expires_unix_us;
  what.timeout_ms = context_.config.timeout_ms;
  if (!t.broadcast.empty() || !is_transactional(t.workflow)) what.flags |= RY_NOTIFY_BULK;
  what.broadcast = ry::str(t.broadcast);

  // The driver owns the handle until its completion; both happen on this executor.
  struct call_state {
    void* call = nullptr;
    bool completed = false;
  };
  const auto state = std::make_shared<call_state>();
  auto* const exec = co_await ry::this_exec();
  const auto* const ctx = &context_.ctx;
  const auto cancel_call = [ctx, exec, state, driver](std::int32_t) {
    (void)ry::guard([&] {
      ctx->post(exec, [state, driver] {
        if (!state->completed && state->call != nullptr) driver->table->cancel(driver->self, state->call);
      });
    });
  };
  const ry::cancel_callback watch(std::move(cancel), cancel_call);
  // Not cancelled with the job: the driver reports a result even if the call was cancelled.
  auto reply = co_await ry::call<ry::notify::results, const ry_notify_result*, std::size_t, std::size_t>(
      [&](ry_exec* at, ry_notify_results_fn fn, void* p) {
        return driver->table->trigger(driver->self, &what, at, fn, p, &state->call);
      },
      [](const ry_notify_result* first, std::size_t n, std::size_t stride) {
        return copy_results<ry::notify::result>(first, n, stride);
      });
  state->completed = true;
  co_return reply;
}

ry::task<ry::job_outcome> delivery_worker::record_result(ry::uuid id, ry::uuid account, lease owner,
                                                         attempt_verdict v) {
  const auto state = co_await context_.repo.end_attempt(id, owner, v);
  if (v.unknown_subscriber) co_await context_.repo.queue_subscriber_update(account);
  if (state == "sent") sent_.add();
  if (state == "failed") failed_.add();
  if (state == "suppressed") suppressed_.add();
  if (state == "dead") dead_.add();
  if (state == "failed" || state == "dead") {
    const std::string failures = v.failures.empty() ? "a channel failed in an earlier attempt" : v.failures;
    context_.ctx.warn("a notification was not delivered",
                      {{"notification", id}, {"state", state}, {"reason", failures}});
  }
  if (v.pause_ms != 0) {
    const ry::error reason(RY_FAILED_PRECONDITION, "notifications.orchestrator", v.reason);
    context_.ctx.log_error("the orchestrator is not usable; notifications wait", reason);
    paused_until_us_.store(context_.ctx.mono_us() + static_cast<std::int64_t>(v.pause_ms) * 1000,
                           std::memory_order_relaxed);
  }
  if (state != "queued") co_return ry::job_outcome::done_in_tx();
  if (v.throttled) {
    throttled_.add();
    co_return ry::job_outcome::snooze(v.wait_ms);
  }
  if (!v.counts && v.pause_ms == 0) co_return ry::job_outcome::release();
  retried_.add();
  co_return ry::job_outcome::snooze(std::max(v.wait_ms, v.pause_ms));
}

ry::task<ry::job_outcome> delivery_worker::update_subscriber(ry::job job) {
  const auto account = uuid_of(job_arguments(job), "account_id");
  if (!account) co_return malformed();
  const auto driver = context_.driver();
  const auto s = co_await context_.repo.subscription(*account);
  std::set<std::string> providers(s.providers.begin(), s.providers.end());
  for (const auto& t : s.devices.readable) providers.insert(t.provider);
  std::optional<ry::error> failure;
  // If a device of a provider cannot be decrypted, its list is incomplete, so it is not replaced in the orchestrator.
  for (const auto& t : s.devices.unreadable) providers.erase(t.provider);
  const bool keeps_subscribers = driver && (driver->table->capabilities & RY_NOTIFY_STORES_SUBSCRIBERS) != 0;
  if (s.gone && keeps_subscribers) {
    const auto id = account->to_string();
    auto deletion = done_of(
        [&](ry_exec* exec, ry_done done) { return driver->table->forget(driver->self, ry::str(id), exec, done); });
    const auto done = co_await std::move(deletion);
    if (!done) co_return ry::job_outcome::retry(done.error(), update_retry_ms);
  }
  if (driver && !s.gone) {
    const auto& table = *driver->table;
    const auto id = account->to_string();
    if (keeps_subscribers) {
      const auto recipient = subscriber_of(*account, s.recipient);
      const auto view = recipient.view();
      auto put =
          done_of([&](ry_exec* exec, ry_done done) { return table.put_subscriber(driver->self, &view, exec, done); });
      const auto done = co_await std::move(put);
      if (!done) co_return ry::job_outcome::retry(done.error(), update_retry_ms);
    }
    if ((table.capabilities & RY_NOTIFY_STORES_TOKENS) != 0) {
      for (const auto& provider : providers) {
        std::vector<ry_notify_token> tokens;
        for (const auto& t : s.devices.readable) {
          if (t.provider == provider) tokens.push_back(t.view());
        }
        auto put = done_of([&](ry_exec* exec, ry_done done) {
          return table.put_tokens(driver->self, ry::str(id), ry::str(provider), tokens.data(), tokens.size(),
                                  sizeof(ry_notify_token), exec, done);
        });
        const auto done = co_await std::move(put);
        // A failing provider does not delay the others.
        if (done) continue;
        if (done.status() == RY_CANCELLED) throw done.error();
        if (is_final(done.error())) {
          context_.ctx.warn(
              "the orchestrator permanently rejects the devices of this provider: check that it has an integration for it",
              {{"provider", provider}, {"reason", done.error().message()}});
        } else {
          failure = done.error();
        }
      }
    }
  }
  if (failure) co_return ry::job_outcome::retry(*failure, update_retry_ms);
  std::set<std::string> current_providers;
  for (const auto& t : s.devices.readable) current_providers.insert(t.provider);
  for (const auto& t : s.devices.unreadable) current_providers.insert(t.provider);
  const lease held{job.id(), job.fence()};
  const bool last = co_await context_.repo.confirm_subscriber_update(
      *account, s.version, {current_providers.begin(), current_providers.end()}, held);
  if (last) co_return ry::job_outcome::done_in_tx();
  co_return ry::job_outcome::release();
}

ry::task<ry::job_outcome> delivery_worker::follow(ry::job) {
  const auto driver = context_.driver();
  if (!driver || (driver->table->capabilities & RY_NOTIFY_FOLLOWS) == 0) co_return ry::job_outcome::done();
  for (;;) {
    const auto due = co_await context_.repo.due_deliveries(max_tracked);
    if (due.empty()) co_return ry::job_outcome::done();
    std::vector<ry_notify_sent> views;
    views.reserve(due.size());
    for (const auto& d : due) views.push_back(d.sent.view());
    auto reply = co_await ry::call<ry::notify::results, const ry_notify_result*, std::size_t, std::size_t>(
        [&](ry_exec* exec, ry_notify_results_fn fn, void* p) {
          return driver->table->follow(driver->self, views.data(), views.size(), sizeof(ry_notify_sent), exec, fn, p);
        },
        [](const ry_notify_result* first, std::size_t n, std::size_t stride) {
          return copy_results<ry::notify::result>(first, n, stride);
        });
    const auto results = std::move(reply).value();
    for (std::size_t i = 0; i < due.size(); ++i) {
      const auto outcome = i < results.size() ? results[i].outcome : RY_NOTIFY_ACCEPTED;
      const bool is_final_outcome =
          outcome == RY_NOTIFY_DELIVERED || outcome == RY_NOTIFY_REFUSED || outcome == RY_NOTIFY_GONE;
      std::string state, detail;
      if (is_final_outcome) {
        state = state_name(outcome);
        detail = masked(results[i].detail, {due[i].sent.token});
        count_deliveries(context_.ctx, due[i].sent.channels, state.c_str());
      }
      co_await context_.repo.record_poll_result(due[i].id, std::move(state), std::move(detail));
    }
  }
}

ry::task<ry::job_outcome> delivery_worker::clean_up(ry::job) {
  co_await context_.repo.delete_expired(context_.config.keep_days);
  co_await context_.repo.seal_devices();
  co_return ry::job_outcome::done();
}

}  // namespace notifications
