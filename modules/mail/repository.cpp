#include "repository.hpp"

namespace mail {

ry::task<void> repository::configure(settings s) const {
  (co_await ctx_.db().query("update mail.setting set per_recipient_hour = $1, max_attempts = $2,"
                            "  account_per_recipient_hour = $3, suppress_days = $4",
                            s.per_recipient_hour, s.max_attempts, s.account_per_recipient_hour, s.suppress_days))
      .value();
}

ry::task<attempt_start> repository::begin_attempt(ry::uuid message, lease owner, std::int64_t gap_ms) const {
  const auto rows = (co_await ctx_.db().query("select * from mail.begin_attempt($1, $2, $3, $4, true)", message,
                                              owner.job, owner.fence, gap_ms))
                        .value();
  const auto r = rows.front();
  attempt_start out;
  const auto action = r.text("what");
  if (action == "wait") {
    out.next = attempt_start::action::wait;
    out.wait_ms = static_cast<std::uint64_t>(r.int64("wait_ms"));
  } else if (action == "send") {
    out.next = attempt_start::action::send;
    out.address = r.text("address");
    out.subject = r.text("subject");
    out.text = r.opt_text("body_text").value_or("");
    out.html = r.opt_text("body_html").value_or("");
    out.bulk = r.boolean("bulk");
    out.token = r.opt_text("token").value_or("");
  }
  co_return out;
}

ry::task<void> repository::end_attempt(ry::uuid message, lease owner, attempt_result result) const {
  (co_await ctx_.db().query("select mail.end_attempt($1, $2, $3, $4, $5::int, $6, $7, $8)", message, owner.job,
                            owner.fence, result.state, result.code, result.reply, result.maybe_duplicate,
                            result.bounced))
      .value();
}

ry::task<std::vector<unsealed_message>> repository::unsealed_messages(std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select id, body_text, body_html from mail.message"
                         " where body_html is not null or body_text not like 'ry-sealed:%' order by id limit $1",
                         limit))
                        .value();
  std::vector<unsealed_message> out;
  for (const auto r : rows) {
    unsealed_message m;
    m.id = r.uuid("id");
    if (const auto text = r.opt_text("body_text")) m.text = *text;
    if (const auto html = r.opt_text("body_html")) m.html = *html;
    out.push_back(std::move(m));
  }
  co_return out;
}

ry::task<void> repository::replace_bodies(unsealed_message original, std::string sealed) const {
  (co_await ctx_.db().query(
       "update mail.message set body_text = $2, body_html = null"
       " where id = $1 and body_text is not distinct from $3 and body_html is not distinct from $4",
       original.id, sealed, original.text, original.html))
      .value();
}

ry::task<std::vector<ry_mail_outcome>> repository::outcomes(std::vector<std::string> ids) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select coalesce(array_position(array['queued','sent','refused','dead','suppressed'],"
                         "  m.state) - 1, 5) as state, coalesce(m.attempts, 0) as attempts,"
                         "  coalesce(m.reply_code, 0) as reply"
                         "  from unnest($1::text[]) with ordinality w (id, n)"
                         "  left join mail.message m on m.id = w.id::uuid order by w.n",
                         ids))
                        .value();
  std::vector<ry_mail_outcome> out;
  for (const auto r : rows) {
    ry_mail_outcome o{};
    o.struct_size = sizeof o;
    o.state = static_cast<std::int32_t>(r.int64("state"));
    o.attempts = static_cast<std::uint32_t>(r.int64("attempts"));
    o.reply = static_cast<std::int32_t>(r.int64("reply"));
    out.push_back(o);
  }
  co_return out;
}

ry::task<std::optional<subscription>> repository::find_subscription(ry::uuid token) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     "select address, category, out_at is not null as suppressed from mail.subscription"
                                     " where token = $1",
                                     token))
          .value();
  if (rows.empty()) co_return std::nullopt;
  const auto r = rows.front();
  co_return subscription{std::string(r.text("address")), std::string(r.text("category")), r.boolean("suppressed")};
}

ry::task<bool> repository::set_subscribed(ry::uuid token, bool subscribed) const {
  const auto rows =
      (co_await ctx_.db().query("select mail.set_subscribed($1, $2) is not null", token, subscribed)).value();
  co_return rows.front().boolean(0);
}

ry::task<void> repository::apply_preference(std::string address, std::string category, bool wanted) const {
  (co_await ctx_.db().query("select mail.follow_preference($1, $2, $3)", address, category, wanted)).value();
}

ry::task<void> repository::set_broadcast_state(std::string id, std::string state) const {
  (co_await ctx_.db().query("select mail.hold_broadcast($1, $2)", id, state)).value();
}

ry::task<ry::page_of_rows> repository::list(std::string state, std::optional<ry::uuid> before,
                                            std::int64_t limit) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select m.id, json_build_object('id', m.id, 'category', m.category, 'address', m.address,"
                         "  'state', m.state, 'attempts', m.attempts, 'maybe_duplicate', m.maybe_duplicate,"
                         "  'reply', m.reply, 'created_at', to_char(m.created_at at time zone 'utc',"
                         "  'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), 'ended_at', to_char(m.ended_at at time zone"
                         "  'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))::text as doc"
                         "  from mail.message m"
                         " where m.state = $1 and m.ended_at is not null and ($2::uuid is null"
                         "    or (m.ended_at, m.id) < (select b.ended_at, b.id from mail.message b where b.id = $2))"
                         " order by m.ended_at desc, m.id desc limit $3",
                         state, before, limit + 1))
                        .value();
  co_return ry::read_page(rows, limit);
}

ry::task<bool> repository::requeue(std::string actor, ry::uuid message) const {
  const auto rows = (co_await ctx_.db().query("select mail.requeue($1, $2)", actor, message)).value();
  co_return rows.front().boolean(0);
}

ry::task<bool> repository::lift(std::string actor, std::string address) const {
  const auto rows = (co_await ctx_.db().query("select mail.lift($1, $2)", actor, address)).value();
  co_return rows.front().boolean(0);
}

ry::task<ry::page_of_rows> repository::suppressions(suppression_filter filter, std::optional<ry::uuid> before,
                                                    std::int64_t limit) const {
  // The token of the last row is the cursor of the next page.
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select s.token as id, json_build_object('address', s.address, 'category', s.category, 'reason', s.reason,"
           "  'detail', nullif(s.detail, ''), 'since', to_char(s.out_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),"
           "  'expires_at', to_char(s.expires_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))::text as doc"
           "  from mail.subscription s"
           " where s.out_at is not null and (s.expires_at is null or s.expires_at > now())"
           "   and ($1 = '' or s.reason = $1) and ($2 = '' or s.category = $2)"
           "   and ($3 = '' or s.address = mail.fold($3))"
           "   and ($4::uuid is null"
           "    or (s.out_at, s.token) < (select b.out_at, b.token from mail.subscription b where b.token = $4))"
           " order by s.out_at desc, s.token desc limit $5",
           filter.reason, filter.category, filter.address, before, limit + 1))
          .value();
  co_return ry::read_page(rows, limit);
}

ry::task<std::int64_t> repository::lift_suppressions(std::string actor, lift_filter filter) const {
  const auto rows =
      (co_await ctx_.db().query("select mail.lift_many($1, $2, $3::text[], $4, $5::timestamptz, $6::timestamptz)",
                                actor, filter.reason, filter.addresses, filter.domain, filter.since, filter.until))
          .value();
  co_return rows.front().int64(0);
}

ry::task<void> repository::purge_expired(std::int64_t keep_days) const {
  ry::batch b;
  b.add(
      "update mail.message set state = 'dead', ended_at = clock_timestamp(), under_way = false,"
      "  maybe_duplicate = maybe_duplicate or under_way"
      " where ended_at is null and expires_at < clock_timestamp() - interval '10 minutes'");
  b.add(
      "delete from mail.message where state in ('sent', 'refused', 'dead', 'suppressed')"
      "   and ended_at < now() - make_interval(days => $1::int)",
      keep_days);
  b.add(
      "update mail.subscription set out_at = null, reason = null, expires_at = null, detail = ''"
      " where expires_at < clock_timestamp()");
  b.add(
      "delete from mail.held_broadcast where state = 'cancelled' and at < now() - make_interval(days => $1::int + 31)",
      keep_days);
  (co_await ctx_.db().run(b)).value();
}

}  // namespace mail
