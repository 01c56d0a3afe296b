#include "repository.hpp"

namespace accounts {
namespace {

constexpr std::int64_t refresh_grace_s = 20;

open_sign_up read_sign_up(const ry::row& r) {
  open_sign_up out;
  out.id = r.uuid("id");
  out.address = {std::string(r.text("email")), std::string(r.text("email_key"))};
  out.password_hash = r.text("password_hash");
  out.proof_hash = r.text("proof_hash");
  return out;
}

std::optional<credentials> read_login(const ry::rows& rows) {
  if (rows.empty()) return std::nullopt;
  const auto r = rows.front();
  return credentials{r.uuid("account_id"), std::string(r.text("password_hash"))};
}

std::vector<std::string> first_column(const ry::rows& rows) {
  std::vector<std::string> out;
  for (const auto r : rows) out.emplace_back(r.text(0));
  return out;
}

std::int64_t starting_credits(const tier* t) {
  return t->starting_micro;
}

}  // namespace

ry::task<void> login_repository::begin_sign_up(new_login user, std::string proof_hash, std::int64_t hours) const {
  (co_await ctx_.db().query("select accounts.begin_sign_up($1, $2, $3, $4, $5, $6, $7, $8, $9::int)", user.id,
                            user.address.text, user.address.key, user.password_hash, ry::bytes_view(proof_hash),
                            user.name, user.referral_code, user.network, hours))
      .value();
}

ry::task<void> login_repository::create_login(new_login user, const tier* first_tier) const {
  (co_await ctx_.db().query("select accounts.make_login($1, $2, $3, $4, $5, $6, $7, false, $8, $9)", user.id,
                            user.address.text, user.address.key, user.password_hash, user.name, user.referral_code,
                            user.network, first_tier->name, starting_credits(first_tier)))
      .value();
}

ry::task<bool> login_repository::has_logins() const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY}, "select exists (select from accounts.login) as some")).value();
  co_return rows.front().boolean("some");
}

// The lock serializes concurrent sign-ups: only the first one becomes super_admin.
ry::task<void> login_repository::create_first_login(new_login user, const tier* first_tier) const {
  ry::batch b;
  b.add("select pg_advisory_xact_lock(hashtextextended('accounts.first_login', 0))");
  b.add("select accounts.make_login($1, $2, $3, $4, $5, $6, $7, false, $8, $9)", user.id, user.address.text,
        user.address.key, user.password_hash, user.name, user.referral_code, user.network, first_tier->name,
        starting_credits(first_tier));
  b.add(
      "select accounts.audit_add('setup', 'role', $1, jsonb_build_object('from', 'user', 'to', accounts.role_name(2)))"
      " where not exists (select from accounts.login l where l.account_id <> $1)",
      user.id);
  b.add(
      "update accounts.account set role = 2"
      " where id = $1 and not exists (select from accounts.login l where l.account_id <> $1)",
      user.id);
  (co_await ctx_.db().run(b)).value();
}

ry::task<std::optional<open_sign_up>> login_repository::find_sign_up_by_token(std::string token_hash) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     "select id, email, email_key, password_hash, proof_hash"
                                     "  from accounts.sign_up where token_hash = $1 and expires_at > now()",
                                     ry::bytes_view(token_hash)))
          .value();
  if (rows.empty()) co_return std::nullopt;
  co_return read_sign_up(rows.front());
}

ry::task<std::optional<open_sign_up>> login_repository::find_sign_up(ry::uuid id) const {
  const auto rows = (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                                   "select id, email, email_key, password_hash, proof_hash"
                                                   "  from accounts.sign_up where id = $1 and expires_at > now()",
                                                   id))
                        .value();
  if (rows.empty()) co_return std::nullopt;
  co_return read_sign_up(rows.front());
}

ry::task<void> login_repository::delete_sign_up(ry::uuid id) const {
  (co_await ctx_.db().query("delete from accounts.sign_up where id = $1", id)).value();
}

ry::task<bool> login_repository::complete_sign_up(std::string token_hash, ry::uuid account,
                                                  const tier* first_tier) const {
  const auto rows =
      (co_await ctx_.db().query("select accounts.finish_sign_up($1, $2, $3, $4)", ry::bytes_view(token_hash), account,
                                first_tier->name, starting_credits(first_tier)))
          .value();
  co_return !rows.front().is_null(std::size_t(0));
}

ry::task<std::optional<credentials>> login_repository::find_login(std::string email_key) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY}, "select account_id, password_hash from accounts.login where email_key = $1", email_key))
          .value();
  co_return read_login(rows);
}

ry::task<std::optional<credentials>> login_repository::find_login(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY}, "select account_id, password_hash from accounts.login where account_id = $1", account))
          .value();
  co_return read_login(rows);
}

ry::task<std::string> login_repository::mail_address(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select email from accounts.login where account_id = $1"
                         " union all select email from accounts.account where id = $1 and verified_at is not null"
                         "   and email <> '' limit 1",
                         account))
                        .value();
  co_return rows.empty() ? std::string() : std::string(rows.front().text(0));
}

ry::task<void> login_repository::rehash(ry::uuid account, std::string from, std::string to) const {
  (co_await ctx_.db().query("update accounts.login set password_hash = $3 where account_id = $1 and password_hash = $2",
                            account, from, to))
      .value();
}

ry::task<owner> login_repository::owner_of(ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     "select subject, email, display_name, role, verified_at is not null as verified"
                                     "  from accounts.account where id = $1",
                                     account))
          .value();
  const auto r = rows.front();
  owner out;
  out.account = account;
  out.subject = r.text("subject");
  out.email = r.text("email");
  out.name = r.text("display_name");
  out.role = static_cast<std::uint32_t>(r.int64("role"));
  out.verified = r.boolean("verified");
  co_return out;
}

ry::task<void> login_repository::open_session(ry::uuid account, ry::uuid session, std::string hash,
                                              std::string user_agent, std::int64_t days) const {
  (co_await ctx_.db().query("select accounts.open_session($1, $2, $3, $4, $5::int)", account, session,
                            ry::bytes_view(hash), user_agent, days))
      .value();
}

ry::task<std::optional<refresh_result>> login_repository::refresh(std::string hash, std::string next,
                                                                  std::int64_t days) const {
  const auto rows = (co_await ctx_.db().query(
                         "select outcome, session_id, account_id from accounts.refresh($1, $2, $3::int, $4::int)",
                         ry::bytes_view(hash), ry::bytes_view(next), refresh_grace_s, days))
                        .value();
  if (rows.empty()) co_return std::nullopt;
  const auto r = rows.front();
  co_return refresh_result{r.text("outcome") == "reused", r.uuid("session_id"), r.uuid("account_id")};
}

ry::task<std::optional<refresh_result>> login_repository::session_of(std::string refresh_hash) const {
  const auto rows = (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                                   "select s.id, s.account_id from accounts.refresh_token t"
                                                   "  join accounts.session s on s.id = t.session_id where t.hash = $1",
                                                   ry::bytes_view(refresh_hash)))
                        .value();
  if (rows.empty()) co_return std::nullopt;
  const auto r = rows.front();
  co_return refresh_result{false, r.uuid("id"), r.uuid("account_id")};
}

ry::task<std::vector<std::string>> login_repository::end_sessions(ry::uuid account, std::optional<ry::uuid> only,
                                                                  std::optional<ry::uuid> except) const {
  const auto rows =
      (co_await ctx_.db().query("select e from accounts.end_sessions($1, $2::uuid, $3::uuid) e", account, only, except))
          .value();
  co_return first_column(rows);
}

ry::task<std::string> login_repository::list_sessions(ry::uuid account, std::string current_session) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select coalesce(json_agg(json_build_object('id', id, 'user_agent', user_agent,"
                         "  'created_at', accounts.iso_time(created_at), 'last_used_at', "
                         "accounts.iso_time(used_at),"
                         "  'present', id::text = $2) order by used_at desc), '[]')::text"
                         "  from accounts.session where account_id = $1 and ended_at is null and expires_at > "
                         "now()",
                         account, current_session))
                        .value();
  co_return std::string(rows.front().text(0));
}

ry::task<std::vector<ended_session>> login_repository::recently_ended_sessions(std::int64_t seconds) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select a.subject, e.session, (extract(epoch from e.at) * 1000000)::bigint as ended_us"
                         "  from (select account_id, id::text as session, ended_at as at from accounts.session"
                         "         where ended_at > clock_timestamp() - make_interval(secs => $1::int)"
                         "        union all"
                         "        select account_id, $2::text || id, revoked_at from accounts.api_key"
                         "         where revoked_at > clock_timestamp() - make_interval(secs => $1::int)) e"
                         "  join accounts.account a on a.id = e.account_id",
                         seconds, session_of_key("")))
                        .value();
  std::vector<ended_session> out;
  for (const auto r : rows) {
    out.push_back({std::string(r.text("subject")), std::string(r.text("session")), r.int64("ended_us")});
  }
  co_return out;
}

ry::task<void> login_repository::queue_reset(std::string email_key) const {
  (co_await ctx_.db().query("select core.job_enqueue('accounts.letter',"
                            "  jsonb_build_object('kind', 'reset', 'key', $1::text))",
                            email_key))
      .value();
}

ry::task<std::optional<ry::uuid>> login_repository::complete_reset(std::string token_hash,
                                                                   std::string password_hash) const {
  const auto rows =
      (co_await ctx_.db().query("select accounts.finish_reset($1, $2)", ry::bytes_view(token_hash), password_hash))
          .value();
  co_return rows.front().opt_uuid(0);
}

ry::task<std::vector<std::string>> login_repository::set_password(ry::uuid account, std::string password_hash,
                                                                  std::optional<ry::uuid> keep,
                                                                  bool keep_api_keys) const {
  const auto rows = (co_await ctx_.db().query("select e from accounts.set_password($1, $2, $3::uuid, $4) e", account,
                                              password_hash, keep, keep_api_keys))
                        .value();
  co_return first_column(rows);
}

ry::task<void> login_repository::end_all_sessions(ry::uuid account, bool revoke_api_keys) const {
  (co_await ctx_.db().query("select accounts.end_all_sessions($1, $2)", account, revoke_api_keys)).value();
}

ry::task<bool> login_repository::has_reset(std::string token_hash) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY}, "select 1 from accounts.reset where token_hash = $1 and expires_at > now()",
                         ry::bytes_view(token_hash)))
                        .value();
  co_return !rows.empty();
}

ry::task<std::string> login_repository::mail(std::string to, sealed_email content, std::string key) const {
  const auto rows = (co_await ctx_.db().query("select outcome from mail.enqueue('account', $1, $2, $3, key => $4)", to,
                                              content.subject, content.bodies, key))
                        .value();
  co_return std::string(rows.front().text(0));
}

ry::task<std::string> login_repository::mail_sign_up(open_sign_up s, sealed_email content,
                                                     std::string token_hash) const {
  const auto key = "accounts.confirm:" + s.id.to_string();
  // The link, and therefore the e-mail, is useless after the sign-up has expired.
  const auto rows =
      (co_await ctx_.db().query(
           "with sent as (select e.outcome from accounts.sign_up s, lateral mail.enqueue('account', $1, $2, $3, key => $4,"
           "    ttl => greatest(s.expires_at - now(), interval '1 second')) e where s.id = $5),"
           " noted as (update accounts.sign_up set token_hash = $6 from sent where id = $5 and sent.outcome = 'queued')"
           " select outcome from sent",
           s.address.text, content.subject, content.bodies, key, s.id, ry::bytes_view(token_hash)))
          .value();
  co_return rows.empty() ? std::string() : std::string(rows.front().text(0));
}

ry::task<std::string> login_repository::mail_reset(ry::uuid account, std::string to, sealed_email content,
                                                   std::string key, std::string token_hash,
                                                   std::int64_t minutes) const {
  const auto rows =
      (co_await ctx_.db().query("select accounts.queue_reset($1, $2, $3, $4, $5, $6, $7::int)", account, to,
                                content.subject, content.bodies, key, ry::bytes_view(token_hash), minutes))
          .value();
  co_return rows.front().is_null(0) ? std::string() : std::string(rows.front().text(0));
}

ry::task<bool> login_repository::apply_identity(std::string hook, identity user, const tier* first_tier) const {
  const auto rows =
      (co_await ctx_.db().query(
           "select accounts.identity_event($1, $2, $3::uuid, $4, $5, $6, $7, $8, $9, $10, $11, $12)", hook,
           user.subject, user.id, user.email, user.name, user.verified, user.referral_code, user.network,
           first_tier->name, starting_credits(first_tier), mailbox_text(user.email), user.anonymous))
          .value();
  co_return rows.front().boolean(0);
}

ry::task<bool> login_repository::close_identity(std::string hook, std::string subject) const {
  const auto rows = (co_await ctx_.db().query("select accounts.identity_deleted($1, $2)", hook, subject)).value();
  co_return rows.front().boolean(0);
}

ry::task<void> login_repository::delete_expired() const {
  (co_await ctx_.db().query("select accounts.tidy_logins()")).value();
}

}  // namespace accounts
