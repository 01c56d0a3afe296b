#include <ry/cpp/module.hpp>
#include <ry/cpp/settings_check.hpp>

#include <boost/json/parse.hpp>

#include "closing_routes.hpp"
#include "key_authenticator.hpp"
#include "login/routes.hpp"
#include "migrations.hpp"
#include "openapi.hpp"
#include "routes.hpp"

namespace accounts {
namespace {

constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "anonymous": {"type": "string", "enum": ["refuse", "allow"], "default": "refuse",
      "description": "Anonymous users of the identity provider (Supabase, Firebase): refuse them with 403, or allow them without starting credits and referrals until the user links a permanent identity"},
    "default_tier": {"type": "string", "default": "free", "description": "Tier of new accounts"},
    "local_login": {"type": "boolean", "default": false,
      "description": "Sign-up and log-in with e-mail and password, without an identity provider"},
    "login": {
      "type": "object",
      "properties": {
        "verify": {"type": "string", "enum": ["email", "none"], "default": "email",
          "description": "email: an account is created when the link in the confirmation e-mail is opened; none: it is created at once, for clients on this machine only, and only with deployment.mode = local"},
        "app_url": {"type": "string", "default": "",
          "description": "Base URL of the links in e-mails; empty: http.public_url with http.base_path"},
        "min_password": {"type": "integer", "minimum": 8, "maximum": 64, "default": 10,
          "description": "Minimum number of characters of a password"},
        "access_seconds": {"type": "integer", "minimum": 10, "maximum": 86400, "default": 900,
          "description": "Lifetime of an access token in seconds; a refresh token returns a new one"},
        "session_days": {"type": "integer", "minimum": 1, "maximum": 365, "default": 30,
          "description": "Days without use after which a session ends"},
        "setup_code": {"type": "string", "secret": true, "pattern": "^([A-Za-z0-9-]{12,128})?$", "form": "12 to 128 letters, digits and -, or empty", "default": "",
          "description": "With verify = none: one-time code that the first sign-up requires; its account becomes super_admin. Empty: none is required"},
        "verify_hours": {"type": "integer", "minimum": 1, "maximum": 168, "default": 24,
          "description": "Lifetime of confirmation links in e-mails, in hours"},
        "reset_minutes": {"type": "integer", "minimum": 5, "maximum": 1440, "default": 30,
          "description": "Lifetime of password reset links in e-mails, in minutes"},
        "attempts_per_network": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 120,
          "description": "Maximum number of attempts of each kind (sign-up, log-in, reset) per hour from one IPv4 address or IPv6 /64 network",
          "limit": {"resource": "Sign-ups, log-ins and password resets per hour, each", "per": "IPv4 address or IPv6 /64 network", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
        "hash_passes": {"type": "integer", "minimum": 1, "maximum": 100, "default": 2,
          "description": "Number of passes of Argon2id; if it changes, each password is hashed again at its next log-in"},
        "hash_memory_mib": {"type": "integer", "minimum": 8, "maximum": 4096, "default": 64,
          "description": "Memory of one Argon2id hash in MiB; if it changes, each password is hashed again at its next log-in"},
        "hash_parallel": {"type": "integer", "minimum": 1, "maximum": 64, "default": 2,
          "description": "Maximum number of passwords that are hashed at the same time; each needs hash_memory_mib of memory",
          "limit": {"resource": "Password hashes in progress", "per": "node", "answer": "the request waits, then 503", "metric": "runyard_http_requests_total"}}
      }
    },
    "identity_webhook": {
      "type": "object",
      "properties": {
        "secrets": {"type": "array", "default": [], "items": {"type": "string", "secret": true},
          "description": "Keys (whsec_... or v1,whsec_...) of the identity provider's signed webhook; several during a key rotation"},
        "tokens": {"type": "array", "default": [], "items": {"type": "string", "secret": true},
          "description": "Values of the header X-Webhook-Token, at least 32 characters each, for senders that cannot sign, such as database webhooks of Supabase"},
        "issuers": {"type": "object",
          "description": "Secrets and tokens for the identity providers of auth.issuers.NAME, each in a table NAME",
          "additionalProperties": {"type": "object", "properties": {
            "secrets": {"type": "array", "default": [], "items": {"type": "string", "secret": true},
              "description": "Same as accounts.identity_webhook.secrets, for this provider"},
            "tokens": {"type": "array", "default": [], "items": {"type": "string", "secret": true},
              "description": "Same as accounts.identity_webhook.tokens, for this provider"},
            "subject_prefix": {"type": "string", "maxLength": 100,
              "description": "Same as auth.issuers.NAME.subject_prefix; default: NAME and a colon"}
          }}}
      }
    },
    "audit_days": {"type": "integer", "minimum": 0, "maximum": 36500, "default": 365,
      "description": "Days after which entries of the audit log are deleted, those about deleted accounts after at least 9; 0: never",
      "limit": {"resource": "Age of audit entries, days", "per": "deployment", "answer": "older entries are deleted"}},
    "new_api_keys_hour": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 60,
      "description": "Maximum number of API keys that one account may create per hour",
      "limit": {"resource": "API keys created per hour", "per": "account", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "low_credit_percent": {"type": "integer", "minimum": 0, "maximum": 100, "default": 20,
      "description": "The event credits.low is published when a balance falls below this percentage of the last grant"},
    "tiers": {
      "type": "object", "defines": {"kind": "accounts.tier", "predefined": ["free", "pro", "enterprise"]},
      "description": "Limits by tier. free, pro and enterprise are built in; values in this table override their defaults one by one",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "concurrent_runs": {"type": "integer", "minimum": 0, "description": "Maximum number of runs in progress per account",
            "limit": {"resource": "Runs in progress", "per": "account", "answer": "402 `AGENT_RUN_LIMIT_EXCEEDED`; with `queue=true` the run waits", "default": "free 1, pro 3, enterprise 10", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
          "threads": {"type": "integer", "minimum": 0, "description": "Maximum number of threads per account",
            "limit": {"resource": "Threads", "per": "account", "answer": "402 `THREAD_LIMIT_EXCEEDED`", "default": "free 10, pro 1000, enterprise 100000", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
          "custom_mcps": {"type": "integer", "minimum": 0, "description": "Maximum number of MCP servers per account, for all agents together",
            "limit": {"resource": "MCP servers of all agents", "per": "account", "answer": "402 `CUSTOM_WORKER_LIMIT_EXCEEDED`", "default": "free 1, pro 20, enterprise 100", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
          "upload_file_bytes": {"type": "integer", "minimum": 0, "description": "Maximum size of an uploaded file in bytes",
            "limit": {"resource": "Uploaded file, bytes", "per": "file", "answer": "413 `UPLOAD_TOO_LARGE`", "default": "free 10 MiB, pro 50 MiB, enterprise 200 MiB", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
          "upload_files": {"type": "integer", "minimum": 0, "description": "Maximum number of files per start",
            "limit": {"resource": "Files of a start request", "per": "request", "answer": "413 `UPLOAD_TOO_LARGE`", "default": "free 10, pro 20, enterprise 50", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
          "starting_credits": {"type": "number", "minimum": 0, "maximum": 1000000000000,
            "description": "Credits granted when an account is created, once per mailbox; at most six decimals",
            "limit": {"resource": "Starting credits", "per": "mailbox", "answer": "not granted again", "default": "free 500, pro 2000, enterprise 10000"}},
          "api_keys": {"type": "integer", "minimum": 0, "description": "Maximum number of valid API keys of an account",
            "limit": {"resource": "API keys", "per": "account", "answer": "409 `API_KEY_LIMIT_EXCEEDED`", "default": "50", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
          "models": {"type": "array", "items": {"type": "string", "minLength": 1},
            "refers_to": {"kinds": ["runs.model", "runs.provider/"], "also": ["*"]},
            "description": "Models of the tier: aliases or provider/model names; [\"*\"]: all"}
        }
      }
    }
  }
})";

class service {
 public:
  service(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        cfg_(read_config(ctx.settings(), faults_)),
        repo_(ctx),
        cache_(ctx, repo_, cfg_),
        keys_(ctx, repo_),
        routes_(ctx, repo_, cache_, cfg_),
        login_settings_(settings_of(ctx, faults_)),
        logins_(ctx, repo_, cache_, cfg_, login_settings_),
        login_routes_(ctx, logins_, cache_, cfg_, login_settings_),
        closing_routes_(ctx, repo_, cache_, logins_) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
    login_routes_.add_to(reg);
    closing_routes_.add_to(reg);
    reg.subscribe("audit", "admin.act", this, &service::record_admin_action);
    reg.job("accounts.letter", &logins_, &logins::send_email, {.concurrency = 4});
    reg.job("accounts.tidy", this, &service::clean_up, {.cron = "17 * * * *"});
    reg.provide(RY_SVC_ACCOUNTS_1, account_cache::table(), &cache_);
    reg.contribute(RY_SETTINGS_CHECK_1, "accounts", &ry::settings_faults::table, &faults_);
    reg.contribute(RY_AUTHENTICATOR_1, "accounts", key_authenticator::table(), &keys_);
  }

  ry::task<void> start() {
    co_await repo_.store_settings(cfg_.low_credit_percent, cfg_.audit_days,
                                  login_settings_.verify != verification::none);
    co_await logins_.start();
    changes_ =
        ctx_.db().listen(changed_channel, 5000, co_await ry::this_exec(), [this] { ctx_.spawn(invalidate_changed()); });
  }

  ry::task<void> stop() {
    changes_.reset();
    logins_.stop();
    co_return;
  }

 private:
  // Another node changed accounts or revoked keys, so cached entries are stale.
  ry::task<void> invalidate_changed() {
    const auto subjects = co_await repo_.recently_changed_subjects();
    for (const auto& s : subjects) {
      cache_.invalidate(s);
      ry::auth(ctx_).forget(s);
    }
    co_await logins_.all_sessions().refuse_ended();
  }

  ry::task<void> record_admin_action(ry::event e) {
    co_await repo_.record_admin_action(e.id(), e.published_unix_us(), std::string(e.payload()));
  }

  ry::task<ry::job_outcome> clean_up(ry::job) {
    co_await logins_.repo().delete_expired();
    // Short transactions, because other entries are written at the same time.
    constexpr std::int64_t batch_size = 1000;
    for (std::int64_t n = batch_size; n == batch_size;) n = co_await repo_.delete_old_audit_entries(batch_size);
    co_return ry::job_outcome::done();
  }

  static login_settings settings_of(const ry::context& ctx, ry::settings_faults& faults) {
    boost::json::error_code ec;
    const auto text = ctx.settings();
    const auto doc = boost::json::parse(boost::json::string_view(text.data(), text.size()), ec);
    const boost::json::object none;
    return read_login_settings(!ec && doc.is_object() ? doc.get_object() : none, ctx.fact("http.public_url"),
                               ctx.fact("http.base_path"), ctx.fact("deployment.mode"), faults);
  }

  const ry::context& ctx_;
  ry::settings_faults faults_;
  const config cfg_;
  const repository repo_;
  account_cache cache_;
  key_authenticator keys_;
  routes routes_;
  const login_settings login_settings_;
  logins logins_;
  login_routes login_routes_;
  closing_routes closing_routes_;
  ry::subscription changes_;
};

}  // namespace
}  // namespace accounts

RY_MODULE(accounts::service, "accounts", "0.1.0",
          .needs(RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_EVENTS_1, RY_AUTH_1, RY_METRICS_1, RY_AUTHENTICATOR_1)
              .wants(RY_SVC_MAIL_1, RY_SETTINGS_CHECK_1)
              .provides(RY_SVC_ACCOUNTS_1)
              .settings(accounts::settings_schema));
