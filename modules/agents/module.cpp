#include <ry/cpp/limits.hpp>
#include <ry/cpp/module.hpp>

#include "migrations.hpp"
#include "openapi.hpp"
#include "routes.hpp"
#include "service.hpp"

namespace agents {
namespace {

constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "max_agents": {
      "type": "object",
      "description": "Maximum number of agents of an account, by tier; custom tiers have the limit of free",
      "properties": {
        "free": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 50},
        "pro": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 500},
        "enterprise": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 5000}
      },
      "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 1000000},
      "limit": {"resource": "Agents", "per": "account", "answer": "402 `AGENT_LIMIT_EXCEEDED`", "default": "free 50, pro 500, enterprise 5000", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "versions_kept": {"type": "integer", "minimum": 2, "maximum": 100000, "default": 100,
      "description": "Maximum number of versions that are kept per agent; older versions are deleted",
      "limit": {"resource": "Versions of an agent", "per": "agent", "answer": "older versions are deleted"}},
    "versions_kept_mb": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 8,
      "description": "Maximum total size of the versions that are kept per agent, in MiB; older versions are deleted, and the current version is always kept",
      "limit": {"resource": "Size of the versions of an agent, in MiB", "per": "agent", "answer": "older versions are deleted"}}
  }
})";

class agents_module {
 public:
  agents_module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        repo_(ctx, read_limits(ctx.settings())),
        service_(ctx, repo_, accounts_, checks_),
        routes_(ctx, repo_, accounts_, checks_) {
    checks_.define_point(reg);
    // The metric series start at 0.
    for (const char* limit : {"agents", "custom_mcps"}) (void)ry::account_limit(ctx, limit);
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
    reg.provide(RY_SVC_AGENTS_1, service::table(), &service_);
    reg.subscribe("default_agent", "account.created,account.deleted", this, &agents_module::on_event);
  }

  void start() { accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1); }

 private:
  ry::task<void> on_event(ry::event e) {
    const auto account = ry::uuid::parse(e.key());
    // Retries cannot succeed, so log the event once instead of failing every delivery.
    if (!account) {
      ctx_.warn("ignored an account event that has no account id", {{"event", e.id()}});
      co_return;
    }
    if (e.kind() == "account.deleted") {
      co_await repo_.delete_all(*account);
    } else {
      co_await repo_.ensure_default(*account);
    }
  }

  const ry::context& ctx_;
  const repository repo_;
  mcp_checks checks_;
  service service_;
  ry::service<ry_accounts_v1> accounts_;
  routes routes_;
};

}  // namespace
}  // namespace agents

RY_MODULE(agents::agents_module, "agents", "0.1.0",
          .needs(RY_HTTP_1, RY_DB_1, RY_EVENTS_1, RY_SECRETS_1, RY_METRICS_1, RY_SVC_ACCOUNTS_1)
              .provides(RY_SVC_AGENTS_1, RY_AGENTS_MCP_CHECK_1)
              .settings(agents::settings_schema));
