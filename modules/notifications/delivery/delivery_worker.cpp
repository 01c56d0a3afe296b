#include "delivery/delivery_worker.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

#include "events/sentences.hpp"
#include "json/members.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::uint64_t no_driver_ms = 30'000;
constexpr std::uint64_t update_retry_ms = 30'000;
constexpr std::int64_t max_followed = 100;
constexpr std::uint32_t carried = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;

std::optional<json::object> arguments(const ry::job& job) {
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
  return ry::job_outcome::dead(ry::bad_request("notifications.job", "the job names nothing"));
}

ry::notify::subscriber subscriber_of(const ry::uuid& account, const person& who) {
  ry::notify::subscriber out;
  out.account_id = account.to_string();
  out.email = who.email;
  out.name = who.name;
  out.first_name = who.first_name();
  out.phone = who.phone;
  out.avatar = who.avatar;
  return out;
}

double jitter() {
  thread_local std::minstd_rand dice{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(dice);
}

template <class Result>
std::vector<Result> own(const ry_notify_result* first, std::size_t n, std::size_t stride) {
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

// A permanent answer, which a retry would not change.
bool is_final(const ry::error& e) {
  return e.status() == RY_INVALID_ARGUMENT;
}

// Awaits a driver's function that completes with a ry_done.
template <class Start>
ry::task<ry::result<void>> done_of(Start start) {
  co_return co_await ry::call_done([&start](ry_exec* exec, ry_done done) { return start(exec, done); });
}

}  // namespace

delivery_worker::delivery_worker(const module_context& o) : context_(o) {
  const auto count = [&](const char* outcome) {
    return o.ctx.metrics().counter("attempts_total", "Attempts to send a notification", {{"outcome", outcome}});
  };
  sent_ = count("sent");
  retried_ = count("retry");
  failed_ = count("failed");
  suppressed_ = count("suppressed");
  dead_ = count("dead");
  throttled_ = count("throttled");
  unreadable_ = o.ctx.metrics().counter("unreadable_devices_total",
                                        "Push messages that were not sent because their device could not be decrypted");
  for (const char* outcome : {"accepted", "delivered", "skipped", "refused", "gone", "retry", "no_answer"})
    count_deliveries(o.ctx, RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH, outcome, 0);  // so that the series exist
}

void delivery_worker::count(std::uint32_t asked, const ry::result<ry::notify::results>& said) const {
  if (!said) count_deliveries(context_.ctx, asked, "no_answer");
  for (const auto& r : said ? *said : ry::notify::results())
    count_deliveries(context_.ctx, asked & r.channels, state_name(r.outcome));
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
  reg.job("notifications.tidy", this, &delivery_worker::tidy, o);
}

std::uint64_t delivery_worker::paused_ms() const noexcept {
  const auto left = paused_until_us_.load(std::memory_order_relaxed) - context_.ctx.mono_us();
  return left > 0 ? static_cast<std::uint64_t>(left) / 1000 + 1 : 0;
}

ry::task<ry::job_outcome> delivery_worker::deliver(ry::job job) {
  const auto id = uuid_of(arguments(job), "id");
  if (!id) co_return malformed();
  if (const auto wait = paused_ms(); wait != 0) co_return ry::job_outcome::snooze(wait);
  const auto driver = context_.driver();
  if (!driver) {
    const ry::error why(RY_UNAVAILABLE, "notifications.no_driver",
                        "notifications.orchestrator \"" + context_.config.orchestrator + "\" is not loaded");
    context_.ctx.log_error("notifications wait: their orchestrator is not loaded", why);
    co_return ry::job_outcome::snooze(no_driver_ms);
  }
  const lease mine{job.id(), job.fence()};
  auto t = co_await context_.repo.begin_attempt(*id, mine, driver->table->capabilities & carried);
  if (t.what == turn::kind::over) {
    // Another entry of the digest may be ready to send in its place.
    context_.ctx.jobs().wake("notifications");
    co_return ry::job_outcome::done();
  }
  if (t.what == turn::kind::wait) co_return ry::job_outcome::snooze(t.wait_ms);

  const auto account = t.account;
  const auto asked = t.channels;
  const auto attempt = t.attempt;
  const auto devices = t.devices;
  const bool is_part = (channels_of(t.workflow) & ~asked) != 0;
  const auto other = is_part && module_context::sends_all(driver) ? context_.stand_in() : orchestrators::entry();
  // Messages of the other driver are not tracked: the next round would ask the configured driver about them.
  const bool follows = !other && (driver->table->capabilities & RY_NOTIFY_FOLLOWS) != 0;
  ry::result<ry::notify::results> said = ry::notify::results();
  if (other) {
    said = co_await trigger_part(other, std::move(t), job.cancel());
  } else {
    said = co_await trigger(driver, std::move(t), job.cancel());
  }
  count(asked, said);
  if (said) mark_devices(devices, (asked & RY_NOTIFY_PUSH) != 0, *said);
  auto v = said ? judge(asked, *said, attempt, follows ? follow::yes : follow::no, jitter())
                : judge_failure(asked, said.error(), attempt, jitter());
  // The result is stored even if the host stops meanwhile.
  auto settled = settle(*id, account, mine, std::move(v));
  co_return co_await ry::shield(std::move(settled));
}

// From here on, results name devices by fingerprints; those that could not be decrypted have failed.
void delivery_worker::mark_devices(const device_list& devices, bool push, ry::notify::results& said) const {
  std::vector<std::string> secrets = devices.names;
  for (const auto& t : devices.readable) secrets.push_back(t.value);
  for (auto& r : said) {
    r.token = context_.repo.fingerprint(r.token);
    r.detail = masked(std::move(r.detail), secrets);
  }
  if (!push || devices.unreadable.empty()) return;
  for (const auto& t : devices.unreadable) {
    ry::notify::result r(RY_NOTIFY_PUSH, RY_NOTIFY_REFUSED, t.provider);
    r.token = t.value;
    r.detail = "The device cannot be decrypted; it must register again";
    said.push_back(std::move(r));
    unreadable_.add();
  }
  context_.ctx.log_error("push messages were not sent to devices that cannot be decrypted",
                         ry::error(RY_DATA_LOSS, "notifications.device",
                                   "the key that encrypted them is neither secrets.key nor in secrets.old_keys"));
}

// By a driver that need not support all requested channels.
ry::task<ry::result<ry::notify::results>> delivery_worker::trigger_part(orchestrators::entry driver, turn t,
                                                                        ry::cancel_token off) const {
  const std::uint32_t without = t.channels & ~driver->table->capabilities;
  t.channels &= driver->table->capabilities;
  ry::result<ry::notify::results> said = ry::notify::results();
  if (t.channels != 0) said = co_await trigger(driver, std::move(t), std::move(off));
  if (said && without != 0) {
    said->emplace_back(without, RY_NOTIFY_SKIPPED, driver->name);
    said->back().detail =
        "the orchestrator cannot omit channels, and the driver " + driver->name + " does not support this channel";
  }
  co_return said;
}

ry::task<ry::result<ry::notify::results>> delivery_worker::trigger(orchestrators::entry driver, turn t,
                                                                   ry::cancel_token off) const {
  rendered_texts words;
  if (t.gathered.empty()) {
    words = context_.templates.write(t.workflow, t.payload, t.who, context_.at);
  } else {
    words = context_.templates.write_digest(t.workflow, t.gathered, t.who, context_.at);
    for (auto& item : t.gathered) item.erase(details_member);
    json::array items(t.gathered.begin(), t.gathered.end());
    t.payload = {{"first_name", t.who.first_name()}, {"count", items.size()}, {"items", std::move(items)}};
  }
  t.payload.erase(details_member);
  const auto payload = json::serialize(t.payload);
  const auto to = subscriber_of(t.account, t.who);
  ry::notify::content texts;
  texts.title = std::move(words.title);
  texts.body = std::move(words.body);
  texts.mail_text = std::move(words.mail);
  texts.mail_html = std::move(words.html);
  texts.action_url = std::move(words.url);
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
  struct flight {
    void* call = nullptr;
    bool over = false;
  };
  const auto state = std::make_shared<flight>();
  auto* const exec = co_await ry::this_exec();
  const auto* const ctx = &context_.ctx;
  const auto break_off = [ctx, exec, state, driver](std::int32_t) {
    (void)ry::guard([&] {
      ctx->post(exec, [state, driver] {
        if (!state->over && state->call != nullptr) driver->table->cancel(driver->self, state->call);
      });
    });
  };
  const ry::cancel_callback watch(std::move(off), break_off);
  // Shielded from cancellation: the driver's answer counts even if the call was interrupted.
  auto asked = co_await ry::call<ry::notify::results, const ry_notify_result*, std::size_t, std::size_t>(
      [&](ry_exec* at, ry_notify_results_fn fn, void* p) {
        return driver->table->trigger(driver->self, &what, at, fn, p, &state->call);
      },
      [](const ry_notify_result* first, std::size_t n, std::size_t stride) {
        return own<ry::notify::result>(first, n, stride);
      });
  state->over = true;
  co_return asked;
}

ry::task<ry::job_outcome> delivery_worker::settle(ry::uuid id, ry::uuid account, lease by, verdict v) {
  const auto state = co_await context_.repo.end_attempt(id, by, v);
  if (v.unknown_subscriber) co_await context_.repo.queue_subscriber_update(account);
  if (state == "sent") sent_.add();
  if (state == "failed") failed_.add();
  if (state == "suppressed") suppressed_.add();
  if (state == "dead") dead_.add();
  if (state == "failed" || state == "dead") {
    context_.ctx.warn("a notification was not delivered", {{"notification", id}, {"state", state}, {"reason", v.why}});
  }
  if (v.pause_ms != 0) {
    const ry::error why(RY_FAILED_PRECONDITION, "notifications.orchestrator", v.why);
    context_.ctx.log_error("the orchestrator cannot be used; notifications wait", why);
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
  const auto account = uuid_of(arguments(job), "account_id");
  if (!account) co_return malformed();
  const auto driver = context_.driver();
  const auto s = co_await context_.repo.subscription(*account);
  std::set<std::string> providers(s.providers.begin(), s.providers.end());
  for (const auto& t : s.devices.readable) providers.insert(t.provider);
  std::optional<ry::error> failed;
  // A list of a provider that is incomplete here is left unchanged there.
  for (const auto& t : s.devices.unreadable) providers.erase(t.provider);
  const bool keeps = driver && (driver->table->capabilities & RY_NOTIFY_STORES_SUBSCRIBERS) != 0;
  if (s.gone && keeps) {
    const auto id = account->to_string();
    auto forgotten = done_of(
        [&](ry_exec* exec, ry_done done) { return driver->table->forget(driver->self, ry::str(id), exec, done); });
    const auto done = co_await std::move(forgotten);
    if (!done) co_return ry::job_outcome::retry(done.error(), update_retry_ms);
  }
  if (driver && !s.gone) {
    const auto& table = *driver->table;
    const auto id = account->to_string();
    if (keeps) {
      const auto who = subscriber_of(*account, s.who);
      const auto view = who.view();
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
          failed = done.error();
        }
      }
    }
  }
  if (failed) co_return ry::job_outcome::retry(*failed, update_retry_ms);
  std::set<std::string> now;
  for (const auto& t : s.devices.readable) now.insert(t.provider);
  for (const auto& t : s.devices.unreadable) now.insert(t.provider);
  const lease mine{job.id(), job.fence()};
  const bool last = co_await context_.repo.subscriber_updated(*account, s.version, {now.begin(), now.end()}, mine);
  if (last) co_return ry::job_outcome::done_in_tx();
  co_return ry::job_outcome::release();
}

ry::task<ry::job_outcome> delivery_worker::follow(ry::job) {
  const auto driver = context_.driver();
  if (!driver || (driver->table->capabilities & RY_NOTIFY_FOLLOWS) == 0) co_return ry::job_outcome::done();
  for (;;) {
    const auto due = co_await context_.repo.due_to_follow(max_followed);
    if (due.empty()) co_return ry::job_outcome::done();
    std::vector<ry_notify_sent> views;
    views.reserve(due.size());
    for (const auto& d : due) views.push_back(d.what.view());
    auto asked = co_await ry::call<ry::notify::results, const ry_notify_result*, std::size_t, std::size_t>(
        [&](ry_exec* exec, ry_notify_results_fn fn, void* p) {
          return driver->table->follow(driver->self, views.data(), views.size(), sizeof(ry_notify_sent), exec, fn, p);
        },
        [](const ry_notify_result* first, std::size_t n, std::size_t stride) {
          return own<ry::notify::result>(first, n, stride);
        });
    const auto said = std::move(asked).value();
    for (std::size_t i = 0; i < due.size(); ++i) {
      const auto outcome = i < said.size() ? said[i].outcome : RY_NOTIFY_ACCEPTED;
      const bool news = outcome == RY_NOTIFY_DELIVERED || outcome == RY_NOTIFY_REFUSED || outcome == RY_NOTIFY_GONE;
      std::string state, detail;
      if (news) {
        state = state_name(outcome);
        detail = masked(said[i].detail, {due[i].what.token});
        count_deliveries(context_.ctx, due[i].what.channels, state.c_str());
      }
      co_await context_.repo.followed(due[i].id, std::move(state), std::move(detail));
    }
  }
}

ry::task<ry::job_outcome> delivery_worker::tidy(ry::job) {
  co_await context_.repo.tidy(context_.config.keep_days);
  co_await context_.repo.seal_devices();
  co_return ry::job_outcome::done();
}

}  // namespace notifications
