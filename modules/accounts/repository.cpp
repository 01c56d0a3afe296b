#include "repository.hpp"

#include "login/address.hpp"

namespace accounts {
namespace {

constexpr std::string_view account_columns =
    "id, subject, tier, role, email, display_name, verified_at is not null as verified";

account_ptr read_account(const ry::context& ctx, const ry::row& r) {
  auto a = std::make_shared<account>();
  a->id = r.uuid("id");
  a->id_text = a->id.to_string();
  a->subject = r.text("subject");
  a->tier = r.text("tier");
  a->role = static_cast<std::uint32_t>(r.int64("role"));
  a->email = r.text("email");
  a->display_name = r.text("display_name");
  a->verified = r.boolean("verified");
  a->read_us = ctx.mono_us();
  return a;
}

}  // namespace

ry::task<void> repository::store_settings(std::int64_t low_percent, std::int64_t audit_days, bool verifies) const {
  (co_await ctx_.db().query("update accounts.setting set low_percent = $1, audit_days = $2, verifies = $3"
                            " where (low_percent, audit_days, verifies) <> ($1, $2, $3)",
                            low_percent, audit_days, verifies))
      .value();
}

ry::task<account_ptr> repository::provision(identity user, const tier* first_tier) const {
  const auto rows =
      (co_await ctx_.db().query(
           "select * from accounts.provision($1, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
           "  to_timestamp($14::bigint / 1000000.0))",
           user.subject, user.id, user.email, user.name, user.verified, user.referral_code, first_tier->name,
           first_tier->starting_micro, user.network, user.phone, user.avatar, mailbox_text(user.email), user.anonymous,
           user.issued_unix_us))
          .value();
  co_return read_account(ctx_, rows.front());
}

ry::task<account_ptr> repository::find(ry::uuid id) const {
  static const std::string sql =
      "select " + std::string(account_columns) + " from accounts.account where id = $1 and closed_at is null";
  const auto rows = (co_await ctx_.db().query_with({RY_DB_READ_ONLY}, sql, id)).value();
  co_return rows.empty() ? nullptr : read_account(ctx_, rows.front());
}

ry::task<void> repository::record_token_role(ry::uuid id, std::uint32_t role) const {
  (co_await ctx_.db().query("update accounts.account set token_role = $2 where id = $1 and token_role < $2", id,
                            static_cast<std::int64_t>(role)))
      .value();
}

ry::task<std::uint32_t> repository::highest_role(ry::uuid id) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY}, "select greatest(role, token_role) as highest from accounts.account where id = $1", id))
          .value();
  co_return rows.empty() ? std::uint32_t{RY_ROLE_USER} : static_cast<std::uint32_t>(rows.front().int64("highest"));
}

ry::task<std::optional<account_row>> repository::describe(ry::uuid id) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select tier, role, json_build_object("
                         "  'id', id, 'account_id', id, 'email', nullif(email, ''),"
                         "  'display_name', nullif(display_name, ''), 'tier', tier,"
                         "  'balance_credits', accounts.credits(balance_micro), 'balance_micro', balance_micro,"
                         "  'email_verified', verified_at is not null,"
                         "  'created_at', to_char(created_at at time zone 'utc', "
                         "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))::text"
                         "  as doc from accounts.account where id = $1 and closed_at is null",
                         id))
                        .value();
  if (rows.empty()) co_return std::nullopt;
  const auto r = rows.front();
  co_return account_row{ry::text(ry::str(r.text("tier"))), static_cast<std::uint32_t>(r.int64("role")),
                        ry::text(ry::str(r.text("doc")))};
}

ry::task<void> repository::change(std::string actor, ry::uuid id, std::optional<std::string> tier,
                                  std::optional<std::int64_t> role) const {
  ry::batch b;
  // Lock first, so that "from" in the audit entry is the value that the change replaces.
  b.add("select 1 from accounts.lock_account($1)", id);
  if (tier) {
    b.add(
        "select accounts.audit_add($1, 'tier', $2, jsonb_build_object('from',"
        "  (select a.tier from accounts.account a where a.id = $2), 'to', $3::text))",
        actor, id, *tier);
    b.add("update accounts.account set tier = $2 where id = $1", id, *tier);
    b.add(
        "select core.event_publish('account.tier', $1::uuid::text,"
        "  jsonb_build_object('account_id', $1::uuid, 'tier', $2::text))",
        id, *tier);
  }
  if (role) {
    b.add(
        "select accounts.audit_add($1, 'role', $2, jsonb_build_object('from',"
        "  (select accounts.role_name(a.role) from accounts.account a where a.id = $2),"
        "  'to', accounts.role_name($3::int)))",
        actor, id, *role);
    // A lower role ends the sessions whose tokens have the higher one.
    b.add(
        "update accounts.session set ended_at = clock_timestamp() where account_id = $1"
        "  and ended_at is null and $2 < (select a.role from accounts.account a where a.id = $1)",
        id, *role);
    b.add("update accounts.account set role = $2 where id = $1", id, *role);
  }
  (co_await ctx_.db().run(b)).value();
}

ry::task<std::string> repository::move_balance(ry::uuid id, balance_change m) const {
  const auto rows =
      (co_await ctx_.db().query("select json_build_object('balance_credits', accounts.credits(balance_micro),"
                                "  'balance_micro', balance_micro, 'replayed', replayed)::text"
                                "  from accounts.admin_move($1, $2, $3, $4, $5, $6::jsonb)",
                                m.actor, id, m.action, m.delta_micro, m.ref, m.note_json))
          .value();
  co_return ry::text(ry::str(rows.front().text(0)));
}

ry::task<ry::page_of_rows> repository::ledger(ry::uuid id, std::optional<std::int64_t> before,
                                              std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select id, json_build_object("
                         "  'id', id, 'at', to_char(at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),"
                         "  'kind', kind, 'ref', ref, 'delta_credits', accounts.credits(delta_micro),"
                         "  'delta_micro', delta_micro, 'balance_credits', accounts.credits(balance_micro),"
                         "  'balance_micro', balance_micro, 'note', note)::text as doc"
                         "  from accounts.ledger where account_id = $1 and id < $2 order by id desc limit $3",
                         id, before.value_or(INT64_MAX), limit + 1))
                        .value();
  co_return ry::read_page(rows, limit);
}

ry::task<ry::page_of_rows> repository::audit(audit_filter filter, std::optional<std::int64_t> before,
                                             std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select id, json_build_object("
                         "  'id', id, 'at', to_char(at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),"
                         "  'actor', actor, 'action', action, 'account_id', account_id, 'subject', subject,"
                         "  'detail', detail)::text as doc"
                         "  from accounts.audit"
                         " where id < $1 and ($2::uuid is null or account_id = $2::uuid)"
                         "   and ($3::text is null or actor = $3::text)"
                         "   and ($4::text is null or action = $4::text)"
                         " order by id desc limit $5",
                         before.value_or(INT64_MAX), filter.account, filter.actor, filter.action, limit + 1))
                        .value();
  co_return ry::read_page(rows, limit);
}

ry::task<bool> repository::close(std::string actor, ry::uuid id, std::string detail_json) const {
  const auto rows =
      (co_await ctx_.db().query("select accounts.close_account($1, $2, $3::jsonb)", actor, id, detail_json)).value();
  co_return rows.front().boolean(0);
}

ry::task<std::vector<closure>> repository::recent_closures(std::int64_t seconds) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select c.id, c.subject, (extract(epoch from c.at) * 1000000)::bigint as closed_us,"
                         "       exists (select from accounts.account a where a.subject = c.subject) as returned"
                         "  from accounts.audit c where c.action = 'account.delete'"
                         "   and c.at > clock_timestamp() - make_interval(secs => $1::int)",
                         seconds))
                        .value();
  std::vector<closure> out;
  for (const auto r : rows)
    out.push_back({r.int64("id"), std::string(r.text("subject")), r.int64("closed_us"), r.boolean("returned")});
  co_return out;
}

ry::task<std::string> repository::publish(std::string actor, published_event e) const {
  const auto rows =
      (co_await ctx_.db().query("select json_build_object('event_id', event_id, 'replayed', replayed)::text"
                                "  from accounts.publish_event($1, $2, $3, $4, $5::jsonb)",
                                actor, e.kind, e.key, e.account, e.payload_json))
          .value();
  co_return std::string(rows.front().text(0));
}

ry::task<std::int64_t> repository::delete_old_audit_entries(std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query("select accounts.tidy_audit($1)", limit)).value();
  co_return rows.front().int64(0);
}

ry::task<void> repository::record_admin_action(std::int64_t event, std::int64_t at_unix_us,
                                               std::string act_json) const {
  (co_await ctx_.db().query("select accounts.audit_event($1, to_timestamp($2::bigint / 1000000.0), $3::jsonb)", event,
                            at_unix_us, act_json))
      .value();
}

ry::task<std::string> repository::add_key(std::string actor, ry::uuid account, new_key key, std::int64_t limit,
                                          std::optional<ry::uuid> session) const {
  const auto rows =
      (co_await ctx_.db().query("select accounts.add_key($1, $2, $3, $4, $5, $6::int, $7, $8::uuid)", actor, account,
                                key.id, key.name, ry::bytes_view(key.secret_hash), key.expires_in_days, limit, session))
          .value();
  co_return std::string(rows.front().opt_text(0).value_or(std::string_view()));
}

ry::task<std::string> repository::list_keys(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select coalesce(json_agg(json_build_object('id', id, 'name', name,"
                         "  'created_at', to_char(created_at at time zone 'utc', "
                         "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),"
                         "  'expires_at', to_char(expires_at at time zone 'utc', "
                         "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),"
                         "  'last_used_at', to_char(last_used_at at time zone 'utc', "
                         "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))"
                         "  order by created_at desc, id), '[]')::text"
                         "  from accounts.api_key"
                         " where account_id = $1 and revoked_at is null and coalesce(expires_at > now(), true)",
                         account))
                        .value();
  co_return ry::text(ry::str(rows.front().text(0)));
}

ry::task<bool> repository::revoke_key(std::string actor, ry::uuid account, std::string id) const {
  const auto rows = (co_await ctx_.db().query("select accounts.revoke_key($1, $2, $3)", actor, account, id)).value();
  co_return rows.front().boolean(0);
}

ry::task<std::optional<stored_key>> repository::key(std::string id) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select k.secret_hash, (extract(epoch from k.expires_at) * 1000000)::bigint as "
           "expires_us,"
           "  coalesce(k.last_used_at < now() - interval '1 minute', true) as old_touch,"
           "  a.id, a.subject, a.tier, a.role, a.email, a.display_name,"
           "  a.verified_at is not null as verified"
           "  from accounts.api_key k join accounts.account a on a.id = k.account_id"
           " where k.id = $1 and k.revoked_at is null and a.closed_at is null and coalesce(k.expires_at > now(), true)",
           id))
          .value();
  if (rows.empty()) co_return std::nullopt;
  const auto r = rows.front();
  stored_key out;
  out.secret_hash = r.text("secret_hash");
  out.expires_unix_us = r.opt_int64("expires_us").value_or(0);
  out.use_outdated = r.boolean("old_touch");
  out.owner = read_account(ctx_, r);
  co_return out;
}

ry::task<void> repository::record_key_use(std::string id) const {
  (co_await ctx_.db().query("update accounts.api_key set last_used_at = now()"
                            " where id = $1 and coalesce(last_used_at < now() - interval '1 minute', true)",
                            id))
      .value();
}

ry::task<std::vector<std::string>> repository::recently_changed_subjects() const {
  const auto rows = (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                                   "select distinct subject from accounts.audit"
                                                   " where subject is not null"
                                                   "   and at > clock_timestamp() - interval '20 seconds'"))
                        .value();
  std::vector<std::string> out;
  for (const auto r : rows) out.emplace_back(r.text(0));
  co_return out;
}

}  // namespace accounts
