#include <ry/cpp/limits.hpp>
#include <ry/cpp/module.hpp>

#include "migrations.hpp"
#include "openapi.hpp"
#include "reward_worker.hpp"
#include "routes.hpp"

namespace referrals {
namespace {

// The base URL of referral links; empty: unknown.
std::string app_url(const ry::context& ctx, const settings& s) {
  if (!s.app_url.empty()) return s.app_url;
  std::string url(ctx.fact("http.public_url"));
  if (url.empty() && ctx.fact("deployment.mode") == "local") {
    url = "http://" + std::string(ctx.fact("http.listen"));
  }
  while (!url.empty() && url.back() == '/') url.pop_back();
  return url.empty() ? url : url + std::string(ctx.fact("http.base_path"));
}

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        settings_(read_settings(ctx.settings())),
        repo_(ctx),
        metrics_(ctx, repo_),
        reward_worker_(ctx, repo_, settings_, metrics_),
        routes_(ctx, repo_, settings_, app_url(ctx, settings_), services_, metrics_) {
    (void)ry::account_limit(ctx, "invitations");  // the series exists from the start
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    reward_worker_.add_to(reg);
    routes_.add_to(reg);
  }

  ry::task<void> start() {
    services_.accounts = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    try {
      services_.mail = ctx_.acquire<ry_mail_v1>(RY_SVC_MAIL_1);
    } catch (const ry::error& e) {
      if (e.status() != RY_NOT_FOUND) throw;
    }
    co_await repo_.configure(settings_);
    metrics_.start();
    if (app_url(ctx_, settings_).empty()) {
      ctx_.warn("neither referrals.app_url nor http.public_url is set: no invitations can be sent");
    }
  }

 private:
  const ry::context& ctx_;
  const settings settings_;
  const repository repo_;
  referral_metrics metrics_;
  module_services services_;
  reward_worker reward_worker_;
  routes routes_;
};

}  // namespace
}  // namespace referrals

RY_MODULE(referrals::module, "referrals", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_EVENTS_1, RY_SERVICES_1, RY_METRICS_1, RY_SVC_ACCOUNTS_1)
              .wants(RY_SVC_MAIL_1)
              .settings(referrals::settings_schema));
