#include "repository.hpp"

#include "code.hpp"

namespace referrals {

ry::task<void> repository::configure(settings s) const {
  ry::batch b;
  b.add("select referrals.set_cap($1::int)", s.cap);
  b.add(
      "update referrals.setting set bonus = $1, qualify = $2, hold = make_interval(hours => $3::int),"
      "  flag_score = $4, velocity = $5, disposable = $6, refreshes = $7, invites_hour = $8,"
      "  invites_day = $9, reinvite = make_interval(days => $10::int)",
      s.bonus, s.qualify, s.hold_hours, s.flag_score, s.velocity, s.disposable, s.refreshes, s.invites_hour,
      s.invites_day, s.reinvite_days);
  (co_await ctx_.db().run(b)).value();
}

ry::task<std::string> repository::code_of(ry::uuid account) const {
  const auto candidates = make_candidates();
  const auto rows = (co_await ctx_.db().query("select referrals.ensure_code($1, $2)", account, candidates)).value();
  co_return std::string(rows.front().text(0));
}

ry::task<refreshed_codes> repository::refresh(ry::uuid account) const {
  const auto candidates = make_candidates();
  const auto rows = (co_await ctx_.db().query("select * from referrals.refresh($1, $2)", account, candidates)).value();
  co_return refreshed_codes{std::string(rows.front().text("old_code")), std::string(rows.front().text("new_code"))};
}

ry::task<std::optional<repository::code_owner>> repository::owner_of(std::string code) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     "select account_id, id from referrals.code where code = $1 and is_active"
                                     "   and suspended_at is null and coalesce(expires_at > now(), true)",
                                     code))
          .value();
  if (rows.empty()) co_return std::nullopt;
  const auto row = rows.front();
  co_return code_owner{row.uuid("account_id"), row.uuid("id")};
}

ry::task<void> repository::record_network(ry::uuid account, std::string network) const {
  (co_await ctx_.db().query("insert into referrals.origin (account_id, network)"
                            " select $1, n from referrals.network_of($2) n where n is not null"
                            " on conflict do nothing",
                            account, network))
      .value();
}

ry::task<std::string> repository::attach(ry::uuid account, std::string code, std::optional<std::string> network) const {
  const auto rows = (co_await ctx_.db().query("select referrals.attach($1, $2, $3)", account, code, network)).value();
  co_return std::string(rows.front().text(0));
}

ry::task<void> repository::award(std::vector<std::string> accounts) const {
  (co_await ctx_.db().query("select referrals.award($1::text[]::uuid[])", accounts)).value();
}

ry::task<bool> repository::qualify(std::vector<std::string> accounts) const {
  const auto rows = (co_await ctx_.db().query("select referrals.qualify($1::text[]::uuid[])", accounts)).value();
  co_return rows.front().int64(0) > 0;
}

ry::task<void> repository::record_first_run(ry::uuid account) const {
  (co_await ctx_.db().query("insert into referrals.first_run (account_id) values ($1) on conflict do nothing", account))
      .value();
}

ry::task<std::size_t> repository::settle(std::vector<std::string> ids) const {
  const auto rows =
      (co_await ctx_.db().query("select count(*) from referrals.settle($1::text[]::uuid[])", ids)).value();
  co_return static_cast<std::size_t>(rows.front().int64(0));
}

ry::task<std::size_t> repository::settle_due(std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query("select id::text from unnest(referrals.due($1::int)) id", limit)).value();
  std::vector<std::string> ids;
  for (const auto r : rows) ids.emplace_back(r.text(0));
  if (ids.empty()) co_return std::size_t{0};
  std::size_t decided = 0;
  std::optional<ry::error> failure;
  try {
    decided = co_await settle(ids);
  } catch (const ry::error& e) {
    if (e.status() == RY_UNAVAILABLE || e.status() == RY_CANCELLED) throw;
    failure = e;
  }
  if (failure) {
    // One invalid referral fails the batch, so award the others one by one.
    ctx_.log_error("a batch of referrals could not be settled", *failure);
    for (const auto& id : ids) {
      std::vector<std::string> single{id};
      try {
        decided += co_await settle(std::move(single));
      } catch (const ry::error& e) {
        if (e.status() == RY_UNAVAILABLE || e.status() == RY_CANCELLED) throw;
        ctx_.log_error("a referral could not be settled: " + id, e);
      }
    }
  }
  if (decided < ids.size()) {
    (co_await ctx_.db().query("select referrals.postpone($1::text[]::uuid[])", ids)).value();
  }
  co_return ids.size();
}

ry::task<std::string> repository::stats(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query_with({RY_DB_READ_ONLY}, "select referrals.stats($1)", account)).value();
  co_return std::string(rows.front().text(0));
}

ry::task<std::string> repository::history(ry::uuid account, std::int64_t limit, std::int64_t offset) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY}, "select referrals.history($1, $2, $3)", account, limit, offset))
          .value();
  co_return std::string(rows.front().text(0));
}

ry::task<std::string> repository::received(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY}, "select referrals.received($1)", account)).value();
  co_return std::string(rows.front().opt_text(0).value_or(std::string_view()));
}

ry::task<repository::offer> repository::offer_of(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     "select referrer::bigint, referee::bigint from referrals.offer($1)", account))
          .value();
  co_return offer{rows.front().int64(0), rows.front().int64(1)};
}

ry::task<void> repository::delete_account(ry::uuid account) const {
  (co_await ctx_.db().query("select referrals.forget($1)", account)).value();
}

ry::task<std::optional<inviter_info>> repository::find_inviter(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     "select email, display_name, exists (select from referrals.code"
                                     "    where account_id = $1 and is_active and suspended_at is not null)"
                                     "  from accounts.contact($1)",
                                     account))
          .value();
  if (rows.empty()) co_return std::nullopt;
  const auto r = rows.front();
  co_return inviter_info{std::string(r.text(0)), std::string(r.text(1)), r.boolean(2)};
}

ry::task<std::vector<invitation_result>> repository::invite(ry::uuid account, std::vector<std::string> addresses,
                                                            std::string subject, std::string bodies) const {
  const auto rows = (co_await ctx_.db().query("select * from referrals.invite($1, $2, $3, $4, null)", account,
                                              addresses, subject, bodies))
                        .value();
  std::vector<invitation_result> out;
  for (const auto r : rows) {
    invitation_result i;
    i.address = r.text("address");
    i.outcome = r.text("outcome");
    i.mail = r.opt_uuid("mail_id");
    i.wait_s = r.opt_int64("wait_s").value_or(0);
    out.push_back(std::move(i));
  }
  co_return out;
}

ry::task<void> repository::withdraw_invitations(std::vector<std::string> mails) const {
  (co_await ctx_.db().query("select referrals.uninvite($1::text[]::uuid[])", mails)).value();
}

ry::task<std::vector<std::string>> repository::unbalanced(std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY}, "select to_json(u)::text from referrals.unbalanced() u limit $1", limit))
                        .value();
  std::vector<std::string> out;
  for (const auto r : rows) out.emplace_back(r.text(0));
  co_return out;
}

ry::task<std::vector<referral_count>> repository::count_referrals() const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select t.state, t.reason, count(*) as n, sum(t.credits_awarded)::bigint as referrer, sum(t.referee_credits)::bigint as referee"
           "  from (select case when r.void_reason is not null then 'void' when r.status = 'successful' then 'paid'"
           "                    else 'pending' end as state,"
           "               coalesce(referrals.reason_of(r, c.suspended_at is not null), '') as reason,"
           "               r.credits_awarded, r.referee_credits"
           "          from referrals.referral r join referrals.code c on c.id = r.code_id) t"
           " group by t.state, t.reason"))
          .value();
  std::vector<referral_count> out;
  for (const auto r : rows) {
    out.push_back({std::string(r.text("state")), std::string(r.text("reason")), r.int64("n"), r.int64("referrer"),
                   r.int64("referee")});
  }
  co_return out;
}

ry::task<void> repository::purge_invitations() const {
  (co_await ctx_.db().query("delete from referrals.invitation i using referrals.setting s"
                            " where i.at < now() - greatest(s.reinvite, interval '1 day')"))
      .value();
}

ry::task<void> repository::review(std::string actor, ry::uuid referral, std::string action, std::string reason) const {
  (co_await ctx_.db().query("select referrals.review($1, $2, $3, $4)", actor, referral, action, reason)).value();
}

ry::task<void> repository::suspend(std::string actor, std::string code, std::string action, std::string reason) const {
  (co_await ctx_.db().query("select referrals.suspend($1, $2, $3 = 'suspend', $4)", actor, code, action, reason))
      .value();
}

ry::task<ry::page_of_rows> repository::flagged(std::optional<ry::uuid> before, std::int64_t limit) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select r.id, json_build_object('id', r.id, 'referrer_id', r.referrer_id,"
           "  'referred_account_id', r.referred_account_id, 'referral_code', c.code,"
           "  'referred_at', referrals.iso_time(r.referred_at), 'signals', r.signals)::text as doc"
           "  from referrals.referral r join referrals.code c on c.id = r.code_id"
           " where r.review = 'flagged' and r.void_reason is null and ($1::uuid is null"
           "   or (r.referred_at, r.id) < (select b.referred_at, b.id from referrals.referral b where b.id = $1))"
           " order by r.referred_at desc, r.id desc limit $2",
           before, limit + 1))
          .value();
  co_return ry::read_page(rows, limit);
}

}  // namespace referrals
