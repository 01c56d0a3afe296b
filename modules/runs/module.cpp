// The module `runs`: routes, jobs, events and the objects that handle them.
#include <boost/json.hpp>
#include <migrations.hpp>
#include <openapi.hpp>
#include <ry/cpp/settings_check.hpp>
#include <ry/ry.hpp>

#include "agent/executor.hpp"
#include "api/admin_runs.hpp"
#include "api/approval_links.hpp"
#include "api/approval_routes.hpp"
#include "api/deleted_accounts.hpp"
#include "api/run_routes.hpp"
#include "api/runs_service.hpp"
#include "api/start_route.hpp"
#include "api/stream_route.hpp"
#include "model_check/model_check.hpp"
#include "module_context.hpp"
#include "settings/settings_reader.hpp"
#include "settings/settings_schema.hpp"
#include "start/queue_promoter.hpp"
#include "webhooks.hpp"
#include "workspace/workspace_sweep.hpp"

namespace runs {
namespace {

settings read_settings(const ry::context& ctx, ry::settings_faults& faults) {
  try {
    return parse_settings(ctx.settings(), faults);
  } catch (const std::exception& e) {
    throw ry::bad_request("runs.settings", e.what());
  }
}

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : context_(ctx, read_settings(ctx, faults_)),
        tools_(ctx, context_.repo, context_.tool_sources, context_.sandboxes, context_.writers, context_.config),
        executor_(context_, tools_),
        starter_(context_),
        start_(context_, starter_),
        follower_(ctx, context_.repo, context_.live, context_.metrics),
        stream_(ctx, context_.config, context_.repo, context_.accounts, context_.live, follower_),
        stopper_(ctx, context_.config, context_.repo, context_.live, context_.metrics),
        runs_(context_.repo, context_.accounts, stopper_),
        copies_(ctx, context_.sandboxes, context_.workspaces),
        threads_(context_.repo, context_.accounts, context_.locks, stopper_, copies_),
        deleted_accounts_(ctx, threads_),
        approvals_(ctx, context_.config, context_.repo, context_.accounts, stopper_),
        approval_links_(ctx, context_.config, context_.repo, approvals_),
        service_(context_, starter_, follower_, stopper_, runs_, threads_, approvals_),
        files_(ctx, context_.repo, context_.accounts, context_.sandboxes, context_.workspaces),
        admin_runs_(ctx),
        admission_(ctx, context_.repo, context_.accounts, stopper_),
        webhooks_(ctx, context_.config, context_.repo),
        model_check_(ctx, context_.config, context_.providers) {
    reg.migrations(ry_migrations::all);
    for (const auto part : {ry_openapi::runs, ry_openapi::threads, ry_openapi::events, ry_openapi::approvals})
      reg.describe(part);
    context_.providers.define(reg);
    define_tool_sources(reg);
    reg.define_point(RY_SANDBOX_DRIVER_1, &context_.sandboxes);
    static constexpr ry_settings_check_v1 settings_check{sizeof(ry_settings_check_v1), 0, &module::check_settings};
    reg.contribute(RY_SETTINGS_CHECK_1, "runs", &settings_check, this);
    static constexpr ry_command_v1 check_command{sizeof(ry_command_v1), 0, &model_check::run};
    reg.contribute(RY_COMMAND_1, RY_COMMAND_MODEL_CHECK, &check_command, &model_check_);

    ry::route_options upload;
    upload.max_body = UINT64_MAX;  // the route checks its own limits, which have their own error responses
    upload.timeout_ms = 10 * 60 * 1000;
    reg.route("POST", "/agent/start", RY_ROUTE_STREAM_BODY, &start_, &start_route::serve, upload);
    reg.route("GET", "/agent-run/{id}/stream", RY_ROUTE_QUERY_TOKEN | RY_ROUTE_LONG, &stream_, &stream_route::serve);
    reg.route("POST", "/agent-run/{id}/stream-token", 0, &stream_, &stream_route::token);
    for (const char* prefix : {"/agent-run/{id}", "/agent-runs/{id}"}) {
      const std::string base = prefix;
      reg.route("GET", base, 0, &runs_, &run_routes::get);
      reg.route("GET", base + "/status", 0, &runs_, &run_routes::get);
      reg.route("POST", base + "/stop", 0, &runs_, &run_routes::stop);
    }
    reg.route("GET", "/agent-runs", 0, &runs_, &run_routes::list);
    reg.route("GET", "/agent-runs/active", 0, &runs_, &run_routes::active);
    reg.route("GET", "/admin/runs", RY_ROUTE_ADMIN, &admin_runs_, &admin_runs::list);
    reg.route("GET", "/admin/runs/{id}", RY_ROUTE_ADMIN, &admin_runs_, &admin_runs::get);
    reg.route("GET", "/thread/{id}/agent-runs", 0, &runs_, &run_routes::of_thread);
    reg.route("GET", "/threads/{id}/agent-runs", 0, &runs_, &run_routes::of_thread);
    reg.route("GET", "/agent-run/{id}/approvals", 0, &approvals_, &approval_routes::of_run);
    reg.route("POST", "/agent-run/{id}/tool-results", 0, &approvals_, &approval_routes::tool_results);
    reg.route("GET", "/approvals", 0, &approvals_, &approval_routes::list);
    reg.route("GET", "/approvals/remembered", 0, &approvals_, &approval_routes::remembered);
    reg.route("DELETE", "/approvals/remembered/{id}", 0, &approvals_, &approval_routes::revoke);
    reg.route("POST", "/approvals/{id}", 0, &approvals_, &approval_routes::decide);
    reg.route("GET", "/approval-decision", RY_ROUTE_PUBLIC, &approval_links_, &approval_links::show);
    reg.route("POST", "/approval-decision", RY_ROUTE_PUBLIC, &approval_links_, &approval_links::decide);
    reg.route("GET", "/threads", 0, &threads_, &thread_routes::list);
    reg.route("GET", "/threads/{id}", 0, &threads_, &thread_routes::get);
    reg.route("DELETE", "/threads/{id}", 0, &threads_, &thread_routes::remove);
    reg.route("GET", "/threads/{id}/messages", 0, &threads_, &thread_routes::messages);
    reg.route("GET", "/projects/{id}/files", 0, &files_, &file_routes::list);
    reg.route("GET", "/projects/{id}/files/content", 0, &files_, &file_routes::content);

    ry::job_options execute;
    execute.queue = "runs";
    execute.max_attempts = 1'000'000;  // the run's own limits apply
    execute.concurrency = static_cast<std::uint32_t>(context_.config.max_live_runs);
    execute.timeout_ms = UINT64_MAX;
    reg.job("runs.execute", &executor_, &executor::handle, execute);
    ry::job_options hooks;
    hooks.queue = "webhooks";
    hooks.max_attempts = 16;
    hooks.concurrency = 16;
    hooks.backoff_ms = 5000;  // sixteen attempts take about half a day
    hooks.timeout_ms = 60'000;
    reg.job("runs.webhook", &webhooks_, &webhooks::deliver, hooks);
    reg.job("runs.start_webhook", &webhooks_, &webhooks::deliver_to_start, hooks);
    ry::job_options hourly;
    hourly.cron = "17 * * * *";
    reg.job("runs.prune", this, &module::prune, hourly);
    ry::job_options each_minute;
    each_minute.cron = "* * * * *";
    reg.job("runs.trim_log", this, &module::trim_log, each_minute);
    reg.job("runs.expire_approvals", &approvals_, &approval_routes::expire, each_minute);
    reg.job("runs.admit", &admission_, &queue_promoter::sweep, each_minute);
    reg.subscribe("waiting_runs", "account.tier", &admission_, &queue_promoter::plan_changed);
    deleted_accounts_.add_to(reg);
    reg.provide(RY_SVC_RUNS_1, runs_service::table(), &service_);
    ry::job_options stops;
    stops.queue = "runs";
    stops.concurrency = 16;
    reg.job("runs.interrupt", &admission_, &queue_promoter::interrupt, stops);
  }

  void start() {
    context_.accounts = context_.ctx.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    context_.agents = context_.ctx.acquire<ry_agents_v1>(RY_SVC_AGENTS_1);
    context_.node_id = std::string(context_.ctx.fact("node_id"));
    log_until_ = context_.ctx.metrics().gauge("log_until_timestamp_seconds",
                                              "End of the last partition of the event log, as Unix time");
    context_.providers.check();
    warn_of_free_models();
    context_.workspaces.start();
    copies_.start();
    context_.run_placement.start(context_.node_id);
    context_.extract.start();
  }

 private:
  // Also accepts sources that were built with an SDK that has no `resume`.
  void define_tool_sources(ry::registrar& reg) {
    using sources = ry::drivers<ry_agent_tools_v1>;
    ry_point p{};
    p.struct_size = sizeof p;
    p.min_size = offsetof(ry_agent_tools_v1, resume);
    p.id = ry::str(RY_AGENT_TOOLS_1);
    p.added = &sources::on_added;
    p.removed = &sources::on_removed;
    p.ctx = &context_.tool_sources;
    p.replaced = &sources::on_replaced;
    ry::check(reg.table().define_point(reg.handle(), &p), RY_AGENT_TOOLS_1);
  }
  // Warns because the operator may have forgotten a price.
  void warn_of_free_models() const {
    if (context_.config.prices.empty()) return;
    std::string free;
    for (const auto& [alias, full] : context_.config.models)
      if (!full.starts_with("offline/") && context_.config.price_of(alias).free())
        free += (free.empty() ? "" : ", ") + alias;
    if (!free.empty()) context_.ctx.warn("models without a price in runs.prices cost nothing", {{"models", free}});
  }
  static void check_settings(void* self, const ry_settings_sink* sink) noexcept {
    (void)ry::guard([&] {
      auto* m = static_cast<module*>(self);
      ry::settings_faults all = m->faults_;
      m->context_.providers.find_faults(all);
      all.report(*sink);
    });
  }
  ry::task<ry::job_outcome> prune(ry::job) {
    (co_await context_.repo.prune_keys()).value();
    (co_await context_.workspaces.rows().prune()).value();
    co_return ry::job_outcome::done();
  }

  ry::task<ry::job_outcome> trim_log(ry::job) {
    const std::int64_t keep = context_.config.event_retention_seconds;
    for (std::int64_t before = -1;;) {
      ry::result<std::int64_t> until = co_await context_.repo.make_log_partition(keep);
      if (until.value() == before) break;
      before = *until;
      log_until_.set(static_cast<double>(before));
    }
    for (;;) {
      ry::result<log_trim> outcome = co_await context_.repo.trim_log(keep);
      if (outcome.value() == log_trim::locked)
        context_.ctx.warn("a partition of the event log is in use and could not be dropped; retrying in a minute");
      if (*outcome != log_trim::more) break;
    }
    co_return ry::job_outcome::done();
  }

  ry::settings_faults faults_;
  module_context context_;
  ry::metric log_until_;  // as of this node's last check
  toolbox tools_;
  executor executor_;
  run_starter starter_;
  start_route start_;
  event_follower follower_;
  stream_route stream_;
  run_stopper stopper_;
  run_routes runs_;
  workspace_sweep copies_;
  thread_routes threads_;
  deleted_accounts deleted_accounts_;
  approval_routes approvals_;
  approval_links approval_links_;
  runs_service service_;
  file_routes files_;
  admin_runs admin_runs_;
  queue_promoter admission_;
  webhooks webhooks_;
  model_check model_check_;
};

}  // namespace
}  // namespace runs

RY_MODULE(runs::module, "runs", "0.1.0",
          .needs("ry.core/1", "ry.http/1", "ry.db/1", "ry.jobs/1", "ry.events/1", "ry.auth/1", "ry.services/1",
                 "ry.metrics/1", "ry.http_client/1", "ry.secrets/1", "accounts/1", "agents/1")
              .wants(RY_SETTINGS_CHECK_1, RY_COMMAND_1)
              .provides(RY_SVC_RUNS_1, "llm.provider/1", "agent.tools/1", "sandbox.driver/1")
              .settings(runs::settings_schema));
