#include "store/repository.hpp"

#include <sodium.h>
#include <ry/cpp/jobs.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::uint32_t read_only = RY_DB_READ_ONLY;

json::value parsed(std::string_view text) {
  return json::parse(json::string_view(text.data(), text.size()));
}

// Adds the statements that apply one report.
void add_report(ry::batch& b, const ry::notify::report& report, const device_vault& vault) {
  const auto token = vault.fingerprint(report.token);
  std::string state;
  if (report.outcome == RY_NOTIFY_DELIVERED) state = "delivered";
  if (report.outcome == RY_NOTIFY_REFUSED) state = "refused";
  if (report.outcome == RY_NOTIFY_GONE) state = "gone";
  if (!state.empty() && !report.key.empty()) {
    b.add(
        "update notifications.delivery d set state = $2, detail = $3, follow_at = null, at = clock_timestamp()"
        "  from notifications.notification n"
        " where n.tid = $1 and d.notification_id = n.id and d.channel <> 4 and d.state <> 'skipped'"
        "   and ($4::int = 0 or d.channel & $4::int <> 0) and ($5 = '' or d.token = $5 or d.token = '')",
        report.key, state, masked(report.detail, {report.token}), report.channels, token);
    b.add("select notifications.reconsider(n.id) from notifications.notification n where n.tid = $1", report.key);
  }
  if (report.outcome == RY_NOTIFY_GONE && !report.token.empty()) {
    // If the report names an account, delete only its device: other parties may know the token as well.
    b.add(
        "with gone as (delete from notifications.device_token t"
        "  where t.token = $1 and ($2::uuid is null or t.account_id = $2::uuid) returning t.account_id)"
        "select notifications.tell(g.account_id) from gone g",
        token, ry::uuid::parse(report.account_id) ? std::optional<std::string>(report.account_id) : std::nullopt);
  }
}

void add_audit_action(ry::batch& b, const audit_action& audit) {
  b.add("select notifications.act($1, $2, $3::jsonb)", audit.actor, audit.action, audit.detail_json);
}

}  // namespace

ry::task<void> repository::configure(settings s) const {
  (co_await ctx_.db().query("update notifications.setting set max_attempts = $1::int, presence_seconds = $2::int,"
                            "  tokens_per_provider = $3::int, urgent = $4::text[], mandatory = $5::text[],"
                            "  task_email_minutes = $6::int",
                            s.max_attempts, s.presence_seconds, s.tokens_per_provider, s.urgent, s.mandatory,
                            s.task_email_minutes))
      .value();
}

ry::task<std::optional<person>> repository::find_person(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query_with({read_only},
                                                   "select c.email, c.display_name, p.phone, p.avatar"
                                                   "  from accounts.contact($1) c, accounts.profile($1) p",
                                                   account))
                        .value();
  if (rows.empty()) co_return std::nullopt;
  person recipient;
  recipient.email = rows.front().text("email");
  recipient.name = rows.front().text("display_name");
  recipient.phone = rows.front().text("phone");
  recipient.avatar = rows.front().text("avatar");
  co_return recipient;
}

// ---- the outbox -------------------------------------------------------------------------------

ry::task<notify_result> repository::notify(std::string key, ry::uuid account, notification_event event,
                                           rendered_texts texts, std::int64_t ttl_s, std::int64_t inbox_limit,
                                           std::optional<audit_action> audit) const {
  std::optional<std::string> thread;
  if (ry::uuid::parse(event.thread_id)) thread = event.thread_id;
  const auto payload = json::serialize(event.payload);
  const auto channels = static_cast<std::int64_t>(channels_of(event.workflow));
  std::optional<std::string> details;
  if (!event.details.empty()) details = json::serialize(event.details);
  ry::batch b;
  if (audit) add_audit_action(b, *audit);
  b.add(
      "select * from notifications.notify($1, $2, $3, $4::jsonb, $5::int, $6::uuid, $7, $8, $9, "
      "$10, $11, $12, $13, $14::jsonb, $15::uuid, $16::uuid)",
      key, account, event.workflow, payload, channels, thread, event.viewed, event.refused, texts.title, texts.body,
      texts.url, ttl_s, inbox_limit, details, event.broadcast, event.approval);
  const auto done = (co_await ctx_.db().run(b)).value();
  const auto r = done.back().front();
  notify_result out;
  out.id = r.uuid("id");
  out.outcome = r.text("outcome");
  out.reason = r.text("reason");
  out.inbox_version = r.opt_int64("inbox_version");
  out.inbox_evicted = r.opt_int64("inbox_evicted").value_or(0);
  co_return out;
}

ry::task<delivery_start> repository::begin_attempt(ry::uuid id, lease owner, std::uint32_t supported) const {
  const auto rows = (co_await ctx_.db().query("select * from notifications.begin_delivery($1, $2, $3, $4::int)", id,
                                              owner.job, owner.fence, supported))
                        .value();
  const auto r = rows.front();
  delivery_start out;
  const auto action = r.text("what");
  if (action == "wait") {
    out.next = delivery_start::action::wait;
    out.wait_ms = static_cast<std::uint64_t>(r.int64("wait_ms"));
  }
  if (action != "send") co_return out;
  out.next = delivery_start::action::send;
  out.tid = r.text("tid");
  out.account = r.uuid("account_id");
  out.workflow = r.text("workflow");
  out.payload = parsed(r.text("payload")).as_object();
  if (const auto items = r.opt_text("items")) {
    const auto list = parsed(*items);
    for (const auto& v : list.as_array()) out.digest_payloads.push_back(v.as_object());
  }
  out.channels = static_cast<std::uint32_t>(r.int64("channels"));
  out.broadcast = r.opt_text("broadcast").value_or("");
  out.epoch = static_cast<std::uint32_t>(r.int64("epoch"));
  out.attempt = static_cast<std::uint32_t>(r.int64("attempt"));
  out.expires_unix_us = r.int64("expires_unix_us");
  out.recipient.email = r.opt_text("email").value_or("");
  out.recipient.name = r.opt_text("name").value_or("");
  out.recipient.phone = r.opt_text("phone").value_or("");
  out.recipient.avatar = r.opt_text("avatar").value_or("");
  out.devices = co_await decrypt_devices(std::string(r.opt_text("tokens").value_or("")));
  co_return out;
}

ry::task<std::string> repository::end_attempt(ry::uuid id, lease owner, attempt_verdict v) const {
  const auto rows =
      (co_await ctx_.db().query("select notifications.end_attempt($1, $2, $3, $4::jsonb, $5::int, $6, $7, $8)", id,
                                owner.job, owner.fence, v.results_json, v.pending, v.new_epoch, v.counts, v.throttled))
          .value();
  co_return std::string(rows.front().text(0));
}

ry::task<std::optional<std::string>> repository::approval_token(ry::uuid account, ry::uuid approval) const {
  const auto token = vault_.approval_token(approval);
  std::string hash(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(hash.data()),
                     reinterpret_cast<const unsigned char*>(token.data()), token.size());
  const auto rows =
      (co_await ctx_.db().query("select runs.put_approval_link($1, $2, $3)", account, approval, ry::bytes_view(hash)))
          .value();
  if (!rows.front().boolean(0)) co_return std::nullopt;
  co_return token;
}

ry::task<std::optional<std::int64_t>> repository::resolve_approval(ry::uuid account, ry::uuid approval,
                                                                   std::string status) const {
  const auto rows =
      (co_await ctx_.db().query("select notifications.resolve_approval($1, $2, $3)", account, approval, status))
          .value();
  co_return rows.front().opt_int64(0);
}

ry::task<std::vector<tracked_delivery>> repository::due_deliveries(std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {read_only},
                         "select d.id, d.channel, n.tid, d.provider, d.provider_id,"
                         "  (select jsonb_agg(notifications.device_json(t)) from notifications.device_token t"
                         "    where t.token = d.token and d.token <> '' and t.account_id = d.account_id) as tokens"
                         "  from notifications.delivery d join notifications.notification n"
                         "    on n.id = d.notification_id"
                         " where d.follow_at <= clock_timestamp() order by d.follow_at limit $1",
                         limit))
                        .value();
  std::vector<tracked_delivery> out;
  for (const auto r : rows) {
    tracked_delivery f;
    f.id = r.int64("id");
    f.sent.channels = static_cast<std::uint32_t>(r.int64("channel"));
    f.sent.key = r.text("tid");
    f.sent.provider = r.text("provider");
    f.sent.provider_id = r.text("provider_id");
    f.tokens_json = r.opt_text("tokens").value_or("");
    out.push_back(std::move(f));
  }
  for (auto& f : out) {
    auto found = co_await decrypt_devices(std::exchange(f.tokens_json, {}));
    if (!found.readable.empty()) f.sent.token = std::move(found.readable.front().value);
  }
  co_return out;
}

ry::task<void> repository::record_poll_result(std::int64_t delivery, std::string state, std::string detail) const {
  // Polled again after 30 s, 1 min, 2 min and so on, for about a day and a half.
  (co_await ctx_.db().query(
       "with d as ("
       "  update notifications.delivery d set follows = d.follows + 1,"
       "    state = case when $2 <> '' then $2 else d.state end,"
       "    detail = case when $2 <> '' then $3 else d.detail end,"
       "    at = case when $2 <> '' then clock_timestamp() else d.at end,"
       "    follow_at = case when $2 = '' and d.follows < 12"
       "                     then clock_timestamp() + make_interval(secs => 30 * 2 ^ d.follows) end"
       "   where d.id = $1 and d.state = 'accepted' returning d.account_id, d.token, d.state)"
       "delete from notifications.device_token t using d"
       " where d.state = 'gone' and d.token <> '' and t.token = d.token and t.account_id = d.account_id",
       delivery, state, detail))
      .value();
  if (state.empty()) co_return;
  (co_await ctx_.db().query("select notifications.reconsider(d.notification_id) from notifications.delivery d"
                            " where d.id = $1",
                            delivery))
      .value();
}

ry::task<bool> repository::apply_reports(std::string webhook_id, std::vector<ry::notify::report> reports) const {
  auto started = co_await ctx_.db().begin();
  ry::tx tx = std::move(started).value();
  const auto rows = (co_await tx.query("insert into notifications.webhook_seen (id) values ($1)"
                                       " on conflict do nothing returning 1",
                                       webhook_id))
                        .value();
  if (rows.empty()) co_return false;
  ry::batch b;
  for (const auto& report : reports) add_report(b, report, vault_);
  if (b.size() != 0) (co_await tx.run(b)).value();
  (co_await tx.commit()).value();
  co_return true;
}

ry::task<void> repository::delete_expired(std::int64_t keep_days) const {
  ry::batch b;
  b.add(
      "select notifications.expire(n.id) from notifications.notification n"
      " where n.state = 'queued' and n.expires_at < clock_timestamp() - interval '10 minutes' and not n.under_way");
  b.add("select notifications.adopt_entries()");
  // Entries of a digest that has not been sent (its broadcast is paused) are kept regardless of their age.
  b.add(
      "delete from notifications.delivery d using notifications.notification n"
      " where n.id = d.notification_id and n.state <> 'gathered' and n.ended_at < now() - make_interval(days => $1::int)",
      keep_days);
  b.add(
      "delete from notifications.notification where state <> 'gathered' and ended_at < now() - make_interval(days => $1::int)",
      keep_days);
  // Locks heads before entries, as all other statements do.
  b.add(
      "select 1 from notifications.inbox_head h"
      " where exists (select 1 from notifications.inbox i where i.account_id = h.account_id"
      "                and i.created_at < now() - make_interval(days => $1::int)) order by h.account_id for update",
      keep_days);
  b.add(
      "with gone as (delete from notifications.inbox"
      "  where created_at < now() - make_interval(days => $1::int) returning account_id, read_at)"
      "update notifications.inbox_head h set unread = h.unread - g.n, version = h.version + 1"
      "  from (select account_id, count(*) as n from gone where read_at is null group by account_id) g"
      " where g.account_id = h.account_id",
      keep_days);
  b.add("delete from notifications.presence where seen_at < now() - interval '1 day'");
  b.add("delete from notifications.webhook_seen where at < now() - interval '30 days'");
  (co_await ctx_.db().run(b)).value();
}

// ---- routes of accounts ------------------------------------------------------------------------

ry::task<std::string> repository::settings_json(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {read_only},
           "select json_build_object('account_id', a.id, 'email_enabled', coalesce(p.email_enabled, true),"
           "  'push_enabled', coalesce(p.push_enabled, true),"
           "  'in_app_enabled', coalesce(p.in_app_enabled, true))::text as doc"
           "  from (select $1::uuid as id) a left join notifications.preference p on p.account_id = a.id",
           account))
          .value();
  co_return std::string(rows.front().text("doc"));
}

ry::task<void> repository::put_settings(ry::uuid account, settings_request request) const {
  (co_await ctx_.db().query(
       "insert into notifications.preference as p (account_id, email_enabled, push_enabled, in_app_enabled)"
       " values ($1, coalesce($2::boolean, true), coalesce($3::boolean, true), coalesce($4::boolean, true))"
       " on conflict (account_id) do update set email_enabled = coalesce($2::boolean, p.email_enabled),"
       "   push_enabled = coalesce($3::boolean, p.push_enabled), in_app_enabled = coalesce($4::boolean, p.in_app_enabled)",
       account, request.email, request.push, request.in_app))
      .value();
}

ry::task<std::string> repository::preferences_json(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {read_only},
                         "select json_build_object('time_zone', coalesce(p.time_zone, 'UTC'),"
                         "  'quiet_hours', case when p.quiet_from is not null then json_build_object("
                         "     'from', to_char(p.quiet_from, 'HH24:MI'), 'to', to_char(p.quiet_to, 'HH24:MI')) end,"
                         "  'workflows', coalesce(p.workflows, '{}'))::text as doc"
                         "  from (select $1::uuid as id) a left join notifications.preference p on p.account_id = a.id",
                         account))
                        .value();
  co_return std::string(rows.front().text("doc"));
}

ry::task<std::string> repository::put_preferences(ry::uuid account, preferences_request request) const {
  const auto rows =
      (co_await ctx_.db().query("select notifications.put_preferences($1, $2, $3, $4::time, $5::time, $6::jsonb)",
                                account, request.time_zone, request.changes_quiet_hours, request.quiet_from,
                                request.quiet_to, request.workflows_json))
          .value();
  co_return std::string(rows.front().text(0));
}

ry::task<void> repository::apply_subscription(ry::uuid account, std::string category, bool subscribed) const {
  (co_await ctx_.db().query("select notifications.follow_subscription($1, $2, $3)", account, category, subscribed))
      .value();
}

ry::task<void> repository::put_presence(ry::uuid account, std::string session, std::optional<ry::uuid> thread) const {
  (co_await ctx_.db().query("select notifications.put_presence($1, $2, $3::uuid)", account, session, thread)).value();
}

// Error texts of orchestrators, push services and the network are for operators only; users get a general message.
ry::task<ry::page_of_rows> repository::deliveries(ry::uuid account, std::optional<std::int64_t> before,
                                                  std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {read_only},
                         "select d.id, (notifications.delivery_json(d) ||"
                         "  case when d.provider = 'mail' or d.state not in ('retry', 'refused', 'gone') then '{}'"
                         "    else jsonb_build_object('detail', case d.state"
                         "      when 'gone' then 'The device is no longer registered'"
                         "      when 'refused' then 'The delivery service refused the message'"
                         "      else 'The delivery service did not accept the message' end) end)::text as doc"
                         " from notifications.delivery d"
                         " where d.account_id = $1 and ($2::bigint is null or d.id < $2) order by d.id desc limit $3",
                         account, before, limit + 1))
                        .value();
  co_return ry::read_page(rows, limit);
}

// ---- subscribers ------------------------------------------------------------------------------

ry::task<void> repository::queue_subscriber_update(ry::uuid account) const {
  (co_await ctx_.db().query("select notifications.tell($1)", account)).value();
}

ry::task<void> repository::delete_account(ry::uuid account) const {
  (co_await ctx_.db().query("select notifications.forget_account($1)", account)).value();
}

ry::task<subscription_state> repository::subscription(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query(
           "select s.version, s.providers, s.gone, c.email, c.display_name, p.phone, p.avatar,"
           "  (select jsonb_agg(notifications.device_json(t) order by t.seen_at desc) from notifications.device_token t"
           "    where t.account_id = s.account_id)::text as tokens"
           "  from notifications.subscriber s left join lateral accounts.contact(s.account_id) c on true"
           "  left join lateral accounts.profile(s.account_id) p on true"
           " where s.account_id = $1",
           account))
          .value();
  subscription_state out;
  if (rows.empty()) co_return out;
  const auto r = rows.front();
  out.version = r.int64("version");
  out.gone = r.boolean("gone");
  out.recipient.email = r.opt_text("email").value_or("");
  out.recipient.name = r.opt_text("display_name").value_or("");
  out.recipient.phone = r.opt_text("phone").value_or("");
  out.recipient.avatar = r.opt_text("avatar").value_or("");
  out.devices = co_await decrypt_devices(std::string(r.opt_text("tokens").value_or("")));
  const auto names = parsed(r.text("providers"));
  for (const auto& p : names.as_array()) out.providers.emplace_back(p.as_string());
  co_return out;
}

ry::task<bool> repository::confirm_subscriber_update(ry::uuid account, std::int64_t version,
                                                     std::vector<std::string> providers, lease owner) const {
  const auto rows = (co_await ctx_.db().query("select notifications.told($1, $2, to_jsonb($3::text[]), $4, $5)",
                                              account, version, providers, owner.job, owner.fence))
                        .value();
  co_return rows.front().boolean(0);
}

// ---- the inbox --------------------------------------------------------------------------------

ry::task<ry::page_of_rows> repository::inbox(ry::uuid account, bool only_unread, std::optional<std::int64_t> before,
                                             std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {read_only},
                         "select i.seq as id, notifications.inbox_entry(i)::text as doc from notifications.inbox i"
                         " where i.account_id = $1 and (not $2 or i.read_at is null)"
                         "   and ($3::bigint is null or i.seq < $3) order by i.seq desc limit $4",
                         account, only_unread, before, limit + 1))
                        .value();
  co_return ry::read_page(rows, limit);
}

ry::task<inbox_state> repository::inbox_head(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {read_only}, "select unread, version, last_seq from notifications.inbox_head where account_id = $1",
           account))
          .value();
  inbox_state out;
  if (rows.empty()) co_return out;
  out.unread = rows.front().int64("unread");
  out.version = rows.front().int64("version");
  out.last = rows.front().int64("last_seq");
  co_return out;
}

ry::task<std::vector<inbox_row>> repository::inbox_after(ry::uuid account, std::int64_t seq, std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {read_only},
                         "select i.seq, notifications.inbox_entry(i)::text as doc from notifications.inbox i"
                         " where i.account_id = $1 and i.seq > $2 order by i.seq limit $3",
                         account, seq, limit))
                        .value();
  std::vector<inbox_row> out;
  for (const auto r : rows) out.push_back({r.int64("seq"), std::string(r.text("doc"))});
  co_return out;
}

ry::task<std::optional<repository::read_mark>> repository::mark_read(ry::uuid account,
                                                                     std::optional<ry::uuid> id) const {
  const auto rows = (co_await ctx_.db().query("select * from notifications.inbox_read($1, $2)", account, id)).value();
  if (rows.empty()) co_return std::nullopt;
  read_mark out;
  out.marked = rows.front().int64("marked");
  out.unread = rows.front().int64("unread");
  out.version = rows.front().int64("version");
  co_return out;
}

// ---- operators --------------------------------------------------------------------------------

ry::task<ry::page_of_rows> repository::list(std::string state, std::optional<ry::uuid> account,
                                            std::optional<ry::uuid> before, std::int64_t limit) const {
  const auto rows =
      (co_await ctx_.db().query_with({read_only},
                                     "select n.id, notifications.notification_json(n)::text as doc"
                                     "  from notifications.notification n"
                                     " where ($1 = '' or n.state = $1) and ($2::uuid is null or n.account_id = $2)"
                                     "   and ($3::uuid is null or n.id < $3) order by n.id desc limit $4",
                                     state, account, before, limit + 1))
          .value();
  co_return ry::read_page(rows, limit);
}

ry::task<std::optional<std::string>> repository::details(ry::uuid id) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {read_only},
           "select (notifications.notification_json(n) || jsonb_build_object('payload', n.payload - '$details',"
           "  'deliveries', coalesce((select jsonb_agg(notifications.delivery_json(d) order by d.id)"
           "     from notifications.delivery d where d.notification_id = n.id), '[]')))::text as doc"
           "  from notifications.notification n where n.id = $1",
           id))
          .value();
  if (rows.empty()) co_return std::nullopt;
  co_return std::string(rows.front().text("doc"));
}

ry::task<bool> repository::requeue(std::string actor, ry::uuid id) const {
  const auto rows = (co_await ctx_.db().query("select notifications.requeue($1, $2)", actor, id)).value();
  co_return rows.front().boolean(0);
}

ry::task<bool> repository::cancel(std::string actor, ry::uuid id) const {
  const auto rows = (co_await ctx_.db().query("select notifications.cancel($1, $2)", actor, id)).value();
  co_return rows.front().boolean(0);
}

ry::task<std::optional<std::string>> repository::withdrawable(ry::uuid id) const {
  const auto rows =
      (co_await ctx_.db().query_with({read_only}, "select notifications.withdrawable($1) as tid", id)).value();
  const auto tid = rows.front().opt_text("tid");
  co_return tid ? std::optional<std::string>(*tid) : std::nullopt;
}

ry::task<void> repository::record_withdrawal(std::string actor, ry::uuid id) const {
  (co_await ctx_.db().query("select notifications.withdrawn($1, $2)", actor, id)).value();
}

ry::task<std::optional<ry::uuid>> repository::find_by_email(std::string email) const {
  const auto rows =
      (co_await ctx_.db().query_with({read_only}, "select accounts.find_by_email($1) as id", email)).value();
  co_return rows.front().opt_uuid("id");
}

ry::task<std::vector<ry::uuid>> repository::accounts_after(std::optional<ry::uuid> after, std::int64_t limit) const {
  const auto rows =
      (co_await ctx_.db().query_with({read_only}, "select id from accounts.ids_after($1, $2) as id", after, limit))
          .value();
  std::vector<ry::uuid> out;
  for (const auto r : rows) out.push_back(r.uuid("id"));
  co_return out;
}

}  // namespace notifications
