#include "module_context.hpp"

#include <algorithm>

namespace notifications {

namespace {

constexpr std::int64_t default_page = 50;
constexpr std::int64_t max_page = 100;

// Notifications that end without a delivery attempt.
ry::metric ended_without_attempt(const ry::context& ctx, const char* outcome) {
  return ctx.metrics().counter("attempts_total", "Attempts to send a notification", {{"outcome", outcome}});
}

}  // namespace

void count_deliveries(const ry::context& ctx, std::uint32_t channels, const char* outcome, double n) {
  for (const auto& [bit, channel] : {std::pair(RY_NOTIFY_EMAIL, "email"), std::pair(RY_NOTIFY_PUSH, "push")}) {
    if ((channels & bit) == 0) continue;
    ctx.metrics()
        .counter("deliveries_total", "Results of messages from the orchestrator, by channel and outcome",
                 {{"channel", channel}, {"outcome", outcome}})
        .add(n);
  }
}

bool module_context::enabled() const {
  const auto& modes = config.allowed_modes;
  return std::find(modes.begin(), modes.end(), ctx.fact("deployment.mode")) != modes.end();
}

ry::task<ry::uuid> module_context::caller(ry::request r) const {
  auto got = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* p) {
        return accounts->ensure(accounts.self(), r.principal(), exec, fn, p);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(got).value();
}

// The limit of the account's current tier, or that of the free tier if the account is unavailable.
ry::task<std::int64_t> module_context::inbox_entries_of(ry::uuid account) const {
  const ry_uuid id = account;
  const auto tier = co_await ry::call<std::string, const ry_account_view*>(
      [this, &id](ry_exec* exec, ry_account_fn fn, void* p) {
        return accounts->find(accounts.self(), &id, exec, fn, p);
      },
      [](const ry_account_view* v) { return ry::text(v->tier->name); });
  co_return config.inbox_entries_of(tier ? *tier : std::string());
}

ry::task<notify_result> module_context::notify(std::string key, ry::uuid account, notification_event event,
                                               person recipient, std::optional<audit_action> audit) const {
  auto texts = templates.write(event.workflow, event.payload, recipient, deployment);
  const auto max_entries = co_await inbox_entries_of(account);
  auto out = co_await repo.notify(std::move(key), account, std::move(event), std::move(texts), config.ttl_seconds,
                                  max_entries, std::move(audit));
  if (out.inbox_evicted != 0) inbox_limit_reached.add(static_cast<double>(out.inbox_evicted));
  if (out.inbox_version) inbox_changed(account, *out.inbox_version);
  if (out.outcome == "queued") ctx.jobs().wake("notifications");
  if (out.outcome == "suppressed" || out.outcome == "failed") ended_without_attempt(ctx, out.outcome.c_str()).add();
  co_return out;
}

void module_context::inbox_changed(const ry::uuid& account, std::int64_t version) const {
  // A message without content is a wake-up, which the bus repeats if it is lost. Subscribers read the database.
  (void)ctx.events().live_publish(inbox_topic(account), static_cast<std::uint64_t>(version), {});
}

std::string inbox_topic(const ry::uuid& account) {
  return "notifications.inbox." + account.to_string();
}

std::int64_t limit_of(const ry::request& r) {
  return ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
}

}  // namespace notifications
