#include "profiles.hpp"

#include <ry/cpp/limits.hpp>

#include "crypto.hpp"

namespace mcp_prebuilt {
namespace {

std::string credentials_context(const ry::uuid& id) {
  return "mcp.profile:" + id.to_string();
}
std::string connection_context(const ry::uuid& id) {
  return "mcp.connection:" + id.to_string();
}
std::string consent_context(const ry::uuid& id) {
  return "mcp.consent:" + id.to_string();
}

ry::error no_such_consent() {
  return ry::not_found("mcp.consent", "This link is no longer valid. Start the connection again.");
}

}  // namespace

ry::error no_such_profile() {
  return ry::not_found("mcp.profile", "Integration profile not found");
}

std::string profile_store::open(std::string context, std::string_view sealed) const {
  auto opened = ctx_.secrets().open(context, sealed);
  if (!opened) throw ry::error(RY_DATA_LOSS, "mcp.profile", "the profile's secrets cannot be read");
  return std::move(*opened);
}

std::string profile_store::seal(std::string context, std::string plaintext) const {
  return ctx_.secrets().seal(context, plaintext).value();
}

void profile_store::apply_integration(profile& p, const std::string& integration,
                                      const json::object& credentials) const {
  if (integration.empty()) {
    const auto* o = mcp::object_at(credentials, "oauth");
    if (o != nullptr) p.oauth = oauth::read_settings(*o, "oauth");
    return;
  }
  const auto at = offered_.find(integration);
  if (at == offered_.end()) {
    throw ry::precondition("mcp.integration", "the profile's integration is no longer offered");
  }
  p.url = at->second.url;
  p.type = at->second.type;
  p.headers = filled_headers(at->second, credentials);
  p.oauth = at->second.oauth;
  if (p.oauth && p.oauth->grant_type == oauth::settings::grant::id_jag && p.oauth->subject_token.empty()) {
    p.oauth->subject_token = mcp::text_of(credentials, subject_field);
  }
}

ry::task<profile> profile_store::find(ry::uuid id, ry::uuid account) const {
  const auto rows =
      (co_await ctx_.db().query(
           "select integration, url, type, display_name, credentials, connection from mcp_prebuilt.profile"
           " where id = $1 and account_id = $2",
           id, account))
          .value();
  if (rows.empty()) throw no_such_profile();
  const auto row = rows.front();
  profile p;
  p.id = id;
  p.account = account;
  p.display_name = row.text("display_name");
  p.url = row.text("url");
  p.type = row.text("type");
  const auto credentials = mcp::parse(open(credentials_context(id), row.text("credentials")));
  apply_integration(p, std::string(row.text("integration")), credentials.as_object());
  if (const auto sealed = row.opt_text("connection")) {
    p.agreed = connection_from(open(connection_context(id), *sealed));
  }
  co_return p;
}

ry::task<std::vector<listed_profile>> profile_store::list(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query(
                         "select id::text as id, integration, url, display_name, connected from mcp_prebuilt.profile"
                         " where account_id = $1 order by id desc limit 1000",
                         account))
                        .value();
  std::vector<listed_profile> out;
  for (const auto& row : rows) {
    out.push_back({std::string(row.text("id")), std::string(row.text("integration")), std::string(row.text("url")),
                   std::string(row.text("display_name")), row.boolean("connected")});
  }
  co_return out;
}

ry::task<ry::uuid> profile_store::add(new_profile p, std::int64_t max_profiles) const {
  const auto id = ctx_.new_uuid();
  const auto sealed = seal(credentials_context(id), json::serialize(p.credentials));
  ry::batch b;
  // The advisory lock makes the count reliable when profiles are created concurrently.
  b.add("select pg_advisory_xact_lock(hashtextextended('mcp_prebuilt:' || $1::uuid::text, 0))", p.account);
  b.add(
      "insert into mcp_prebuilt.profile (id, account_id, integration, url, type, display_name, credentials)"
      " select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from mcp_prebuilt.profile"
      " where account_id = $2) < $8 returning 1",
      id, p.account, p.integration, p.url, p.type, p.display_name, ry::bytes_view(sealed), max_profiles);
  const auto done = (co_await ctx_.db().run(b)).value();
  if (done.at(1).empty()) {
    ry::account_limit(ctx_, "profiles").add();
    const json::object detail{{"message", "The account has the maximum number of profiles"},
                              {"limit", max_profiles},
                              {"error_code", "PROFILE_LIMIT_EXCEEDED"}};
    throw ry::http_error(409, RY_FAILED_PRECONDITION, "mcp.profile", "The account has the maximum number of profiles",
                         json::serialize(detail));
  }
  co_return id;
}

ry::task<void> profile_store::remove_all(ry::uuid account) const {
  (void)(co_await ctx_.db().query("delete from mcp_prebuilt.profile where account_id = $1", account)).value();
}

ry::task<void> profile_store::remove(ry::uuid id, ry::uuid account) const {
  const auto deleted =
      (co_await ctx_.db().query("delete from mcp_prebuilt.profile where id = $1 and account_id = $2 returning 1", id,
                                account))
          .value();
  if (deleted.empty()) throw no_such_profile();
}

ry::task<bool> profile_store::try_lease(ry::uuid id, std::int64_t seconds) const {
  const auto leased =
      (co_await ctx_.db().query("update mcp_prebuilt.profile set busy_until = now() + make_interval(secs => $2)"
                                " where id = $1 and (busy_until is null or busy_until < now()) returning 1",
                                id, static_cast<double>(seconds)))
          .value();
  co_return !leased.empty();
}

ry::task<void> profile_store::release(ry::uuid id) const {
  (co_await ctx_.db().query("update mcp_prebuilt.profile set busy_until = null where id = $1", id)).value();
}

ry::task<void> profile_store::store(ry::uuid id, connection c) const {
  const auto sealed = seal(connection_context(id), to_text(c));
  (co_await ctx_.db().query(
       "update mcp_prebuilt.profile set connection = $2, connected = $3, busy_until = null where id = $1", id,
       ry::bytes_view(sealed), c.has_token()))
      .value();
}

ry::task<void> profile_store::store_consent(ry::uuid id, std::string state, std::optional<std::string> ticket,
                                            consent_flow f, std::int64_t seconds) const {
  const auto hash = oauth::sha256(state);
  std::optional<std::string> ticket_hash;
  if (ticket) ticket_hash = oauth::sha256(*ticket);
  std::optional<ry::bytes_view> ticket_bytes;
  if (ticket_hash) ticket_bytes = ry::bytes_view(*ticket_hash);
  const auto sealed = seal(consent_context(id), to_text(f));
  (co_await ctx_.db().query(
       "insert into mcp_prebuilt.consent (profile_id, state, ticket, flow, expires_at)"
       " values ($1, $2, $3, $4, now() + make_interval(secs => $5))"
       " on conflict (profile_id) do update set state = excluded.state, ticket = excluded.ticket, browser = null,"
       " flow = excluded.flow, expires_at = excluded.expires_at",
       id, ry::bytes_view(hash), ticket_bytes, ry::bytes_view(sealed), static_cast<double>(seconds)))
      .value();
}

ry::task<bool> profile_store::has_pending_consent(ry::uuid id) const {
  const auto rows = (co_await ctx_.db().query("select 1 from mcp_prebuilt.consent where profile_id = $1", id)).value();
  co_return !rows.empty();
}

ry::task<profile_store::confirmable> profile_store::find_consent(std::string ticket) const {
  const auto hash = oauth::sha256(ticket);
  const auto rows =
      (co_await ctx_.db().query(
           "select p.id, p.account_id, p.display_name, p.integration, p.url, c.state, c.flow from mcp_prebuilt.consent c"
           " join mcp_prebuilt.profile p on p.id = c.profile_id where c.ticket = $1 and c.expires_at > now()",
           ry::bytes_view(hash)))
          .value();
  if (rows.empty()) throw no_such_consent();
  const auto row = rows.front();
  confirmable c;
  c.consent.profile = row.uuid("id");
  c.consent.account = row.uuid("account_id");
  c.consent.flow = consent_flow_from(open(consent_context(c.consent.profile), row.text("flow")));
  c.state_hash = row.text("state");
  c.display_name = row.text("display_name");
  c.url = row.text("url");
  if (const auto at = offered_.find(std::string(row.text("integration"))); at != offered_.end()) c.url = at->second.url;
  co_return c;
}

ry::task<void> profile_store::confirm(std::string ticket, std::string cookie) const {
  const auto hash = oauth::sha256(ticket);
  const auto browser = oauth::sha256(cookie);
  const auto rows =
      (co_await ctx_.db().query(
           "update mcp_prebuilt.consent set browser = $2 where ticket = $1 and expires_at > now() returning 1",
           ry::bytes_view(hash), ry::bytes_view(browser)))
          .value();
  if (rows.empty()) throw no_such_consent();
}

ry::task<profile_store::pending_consent> profile_store::consume(std::string state, completed_by by) const {
  const auto hash = oauth::sha256(state);
  const auto browser = oauth::sha256(by.cookie);
  const auto rows =
      (co_await ctx_.db().query("delete from mcp_prebuilt.consent c using mcp_prebuilt.profile p"
                                " where c.state = $1 and p.id = c.profile_id and c.expires_at > now()"
                                " and case when $2::uuid is null then c.browser = $3 else p.account_id = $2 end"
                                " returning p.id, p.account_id, c.flow",
                                ry::bytes_view(hash), by.account, ry::bytes_view(browser)))
          .value();
  if (rows.empty()) throw no_such_consent();
  const auto row = rows.front();
  pending_consent consent;
  consent.profile = row.uuid("id");
  consent.account = row.uuid("account_id");
  consent.flow = consent_flow_from(open(consent_context(consent.profile), row.text("flow")));
  co_return consent;
}

}  // namespace mcp_prebuilt
