// Prebuilt integrations and servers with OAuth: an account stores credentials as a profile, and a configuration that
// names the profile resolves to the server's address with these credentials.
#include <migrations.hpp>

#include <ry/cpp/limits.hpp>

#include "routes.hpp"

namespace mcp_prebuilt {
namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "integrations": {"type": "object", "default": {}, "description": "Integrations that accounts can create profiles for",
      "additionalProperties": {"type": "object", "required": ["url"], "properties": {
        "url": {"type": "string", "minLength": 8, "description": "URL of the MCP server"},
        "type": {"type": "string", "enum": ["http", "sse"], "default": "http", "description": "Transport of the MCP server"},
        "headers": {"type": "object", "default": {}, "additionalProperties": {"type": "string", "secret": true}, "description": "Headers sent with every request; {field} is replaced with the value from the profile's credentials"},
        "oauth": {"type": "object", "additionalProperties": {"type": "string", "secret": true}, "description": "Set if the server requires OAuth: grant (authorization_code, client_credentials or id_jag), client_id, client_secret, private_key, key_id, token_endpoint_auth_method, scope, issuer (required with a client_secret or a private_key); for id_jag idp_issuer, idp_client_id, idp_client_secret, subject_token_type (id_token, saml2 or refresh_token)"}}}},
    "max_profiles": {"type": "integer", "minimum": 1, "default": 100, "description": "Maximum number of profiles of one account",
      "limit": {"resource": "Profiles of MCP servers", "per": "account", "answer": "409 `PROFILE_LIMIT_EXCEEDED`", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "redirect_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as https://app.example.org/connected, or empty", "default": "", "description": "Page of the operator to which authorization servers redirect users; empty: the callback of this server"},
    "client_metadata_url": {"type": "string", "pattern": "^(https://[^\\s]+)?$", "form": "a URL that begins with https://, or empty", "default": "", "description": "URL of this server's client ID metadata document; empty: under http.public_url if that is https"}
  }
})json";

struct settings {
  integrations offered;
  std::int64_t max_profiles = 100;
  std::string redirect_url, client_metadata_url;
};

settings read(const ry::context& ctx) {
  settings s;
  try {
    s.offered = read_integrations(ctx.settings());
    const auto v = json::parse(ctx.settings().empty() ? "{}" : std::string(ctx.settings()));
    const auto& o = v.as_object();
    if (const auto* max_profiles = o.if_contains("max_profiles")) s.max_profiles = max_profiles->as_int64();
    s.redirect_url = mcp::text_of(o, "redirect_url");
    s.client_metadata_url = mcp::text_of(o, "client_metadata_url");
  } catch (const std::exception& e) {
    throw ry::bad_request("mcp_prebuilt.settings", e.what());
  }
  return s;
}

client_identity identity_of(const ry::context& ctx, const settings& s) {
  std::string base(ctx.fact("http.public_url"));
  while (base.ends_with('/')) base.pop_back();
  if (!base.empty()) base += ctx.fact("http.base_path");
  client_identity p{s.redirect_url, s.client_metadata_url, ""};
  if (p.redirect_uri.empty() && !base.empty()) {
    p.redirect_uri = base + "/mcp/oauth/callback";
    p.confirmation_url = base + "/mcp/oauth/connect";
  }
  if (p.client_document_url.empty() && base.starts_with("https://")) {
    p.client_document_url = base + "/mcp/oauth/client";
  }
  return p;
}

oauth::schemes schemes_of(const ry::context& ctx) {
  return ctx.fact("deployment.mode") == "local" ? oauth::schemes::http_too : oauth::schemes::https_only;
}

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_MCP_RESOLVES | RY_MCP_AUTHORIZES;

  driver(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        settings_(read(ctx)),
        profiles_(ctx, settings_.offered),
        authorizer_(ctx, profiles_, schemes_of(ctx), identity_of(ctx, settings_)),
        routes_(ctx, settings_.offered, profiles_, authorizer_, accounts_, mcp_, settings_.max_profiles,
                settings_.redirect_url.empty() ? redirect_target::callback : redirect_target::operator_page) {
    static constexpr auto table = ry::mcp::transport_table<driver>();
    (void)ry::account_limit(ctx, "profiles");  // the series starts at 0
    reg.migrations(ry_migrations::all);
    reg.contribute(RY_MCP_TRANSPORT_1, "prebuilt", &table, this);
    routes_.add_to(reg);
    reg.subscribe("deleted_accounts", "account.deleted", this, &driver::account_deleted);
  }
  void start() {
    accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    mcp_ = ctx_.acquire<ry_mcp_v1>(RY_SVC_MCP_1);
  }

  const ry::context& host() const { return ctx_; }
  void check(const ry::mcp::target& t) const {
    if (!profile_of(t)) throw ry::bad_request("mcp.config", "Integration profile not found");
  }
  ry::task<ry::mcp::resolved> resolve(ry::mcp::target t) {
    const auto [id, account] = owner_of(t);
    const profile p = co_await profiles_.find(id, account);
    co_return authorizer_.resolve(p);
  }
  ry::task<ry::mcp::resolved> authorize(ry::mcp::target t, ry::mcp::refusal r) {
    const auto [id, account] = owner_of(t);
    co_return co_await authorizer_.renew(id, account, std::move(r));
  }

 private:
  ry::task<void> account_deleted(ry::event e) {
    const auto account = ry::uuid::parse(e.key());
    if (account) co_await profiles_.remove_all(*account);
  }
  static std::optional<ry::uuid> profile_of(const ry::mcp::target& t) {
    json::value v;
    (void)ry::guard([&] { v = mcp::parse(t.config_json); });
    return v.is_object() ? ry::uuid::parse(mcp::text_of(v.get_object(), "profile_id")) : std::nullopt;
  }
  static std::pair<ry::uuid, ry::uuid> owner_of(const ry::mcp::target& t) {
    const auto id = profile_of(t);
    const auto account = ry::uuid::parse(t.account_id);
    if (!id || !account) throw no_such_profile();
    return {*id, *account};
  }

  ry::context& ctx_;
  const settings settings_;
  ry::service<ry_accounts_v1> accounts_;
  ry::service<ry_mcp_v1> mcp_;
  const profile_store profiles_;
  const authorizer authorizer_;
  routes routes_;
};

}  // namespace
}  // namespace mcp_prebuilt

RY_MODULE(mcp_prebuilt::driver, "mcp_prebuilt", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_EVENTS_1, RY_SECRETS_1, RY_SERVICES_1, RY_HTTP_CLIENT_1,
                 RY_METRICS_1, RY_SVC_ACCOUNTS_1, RY_MCP_TRANSPORT_1, RY_SVC_MCP_1)
              .settings(mcp_prebuilt::schema));
