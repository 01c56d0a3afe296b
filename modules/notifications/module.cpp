#include <ry/cpp/limits.hpp>
#include <ry/cpp/module.hpp>
#include <ry/cpp/settings_check.hpp>

#include "api/admin_routes.hpp"
#include "api/broadcasts.hpp"
#include "api/inbox_routes.hpp"
#include "api/routes.hpp"
#include "api/webhook_route.hpp"
#include "delivery/delivery_worker.hpp"
#include "events/event_consumer.hpp"
#include "migrations.hpp"
#include "openapi.hpp"

namespace notifications {
namespace {

// The base URL of this server's pages; empty: unknown.
std::string own_url(const ry::context& ctx) {
  std::string url(ctx.fact("http.public_url"));
  if (url.empty() && ctx.fact("deployment.mode") == "local") {
    url = "http://" + std::string(ctx.fact("http.listen"));
  }
  while (!url.empty() && url.back() == '/') url.pop_back();
  return url.empty() ? url : url + std::string(ctx.fact("http.base_path"));
}

// The base URL of links; empty: unknown.
std::string app_url(const ry::context& ctx, const settings& s) {
  return s.app_url.empty() ? own_url(ctx) : s.app_url;
}

site site_of(const ry::context& ctx, const settings& s) {
  site out(app_url(ctx, s));
  if (const auto name = ctx.fact("brand.name"); !name.empty()) out.product_name = name;
  const std::string_view placeholder = "{app_url}";
  const auto at = s.settings_url.find(placeholder);
  if (at == std::string::npos || !out.app_url.empty()) out.settings_url = s.settings_url;
  if (at != std::string::npos && !out.app_url.empty()) out.settings_url.replace(at, placeholder.size(), out.app_url);
  return out;
}

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : settings_(read_settings(ctx.settings(), faults_)),
        vault_(ctx),
        repo_(ctx, vault_),
        context_{ctx,
                 settings_,
                 repo_,
                 drivers_,
                 {},
                 {},
                 {app_url(ctx, settings_), settings_.task_url},
                 site_of(ctx, settings_),
                 own_url(ctx),
                 ry::account_limit(ctx, "devices"),
                 ry::account_limit(ctx, "inbox_entries")},
        consumer_(context_),
        worker_(context_),
        routes_(context_),
        inbox_(context_),
        broadcasts_(context_),
        admin_(context_, broadcasts_),
        webhook_(context_) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    reg.define_point(RY_NOTIFY_ORCHESTRATOR_1, &drivers_);
    static constexpr ry_settings_check_v1 settings_check{sizeof(ry_settings_check_v1), 0, &module::check_settings};
    reg.contribute(RY_SETTINGS_CHECK_1, "notifications", &settings_check, this);
    consumer_.add_to(reg);
    worker_.add_to(reg);
    routes_.add_to(reg);
    inbox_.add_to(reg);
    broadcasts_.add_to(reg);
    admin_.add_to(reg);
    webhook_.add_to(reg);
  }

  ry::task<void> start() {
    context_.accounts = context_.ctx.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    const auto load = [this] { return templates::load(settings_.templates_dir); };
    context_.templates = co_await context_.ctx.run_blocking(load);
    co_await repo_.configure(settings_);
    co_await vault_.load();
    context_.ctx.spawn(encrypt_existing_devices());
    if (context_.enabled() && context_.task_links.app_url.empty()) {
      context_.ctx.warn("neither notifications.app_url nor http.public_url is set: notifications have no links");
    }
    report_omission_of_channels();
  }

 private:
  // Logs what happens to notifications of accounts that turned a channel off.
  void report_omission_of_channels() const {
    const auto driver = context_.driver();
    if (!context_.enabled() || !driver || !module_context::cannot_omit_channels(driver)) return;
    const auto& name = settings_.orchestrator;
    if (context_.fallback_driver())
      context_.ctx.info(
          "the orchestrator cannot omit channels: the driver builtin notifies accounts that turned one off, by e-mail "
          "and on devices of expo and web-push",
          {{"orchestrator", name}});
    else
      context_.ctx.warn(
          "the orchestrator cannot omit channels: accounts that turned one off get neither e-mail nor push. Load "
          "notify_builtin, or configure the orchestrator to omit channels (Novu: notify_novu.step_conditions)",
          {{"orchestrator", name}});
  }

  // Runs in the background, so that many devices of the previous release do not delay the start.
  ry::task<void> encrypt_existing_devices() {
    try {
      co_await repo_.seal_devices();
    } catch (const ry::error& e) {
      if (e.status() != RY_CANCELLED)
        context_.ctx.warn("not all device tokens are encrypted; notifications.tidy tries again",
                          {{"reason", e.message()}});
    }
  }

  static void check_settings(void* self, const ry_settings_sink* sink) noexcept {
    (void)ry::guard([&] {
      const auto* m = static_cast<const module*>(self);
      ry::settings_faults all = m->faults_;
      try {
        (void)templates::load(m->settings_.templates_dir);
      } catch (const ry::error& e) {
        all.add("templates_dir", std::string(e.message()));
      }
      all.report(*sink);
    });
  }

  ry::settings_faults faults_;
  const settings settings_;
  device_vault vault_;
  const repository repo_;
  orchestrators drivers_;
  module_context context_;
  event_consumer consumer_;
  delivery_worker worker_;
  routes routes_;
  inbox_routes inbox_;
  broadcasts broadcasts_;
  admin_routes admin_;
  webhook_route webhook_;
};

}  // namespace
}  // namespace notifications

RY_MODULE(notifications::module, "notifications", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_EVENTS_1, RY_AUTH_1, RY_METRICS_1, RY_SECRETS_1,
                 RY_SERVICES_1, RY_SVC_ACCOUNTS_1)
              .wants(RY_SETTINGS_CHECK_1)
              .provides(RY_NOTIFY_ORCHESTRATOR_1)
              .settings(notifications::settings_schema));
