#include <ry/svc/runs.h>

#include <ry/cpp/module.hpp>

#include "chat_routes.hpp"
#include "json/members.hpp"
#include "migrations.hpp"
#include "model_routes.hpp"
#include "openapi.hpp"
#include "response_routes.hpp"
#include "run_event.hpp"

namespace openai_api {
namespace {

constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "approval_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 60,
      "description": "Time in seconds for which a request that cannot ask its client for approvals (Chat Completions, responses with store=false) waits for a decision made elsewhere; then it fails with approval_required, and its run is stopped unless the request has an Idempotency-Key"}
  }
})";

std::uint64_t approval_wait_seconds(const ry::context& ctx) {
  return static_cast<std::uint64_t>(module_json::integer_at(parse_object(ctx.settings()), "approval_wait_seconds", 60));
}

class openai_api_module {
 public:
  openai_api_module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        rows_(ctx),
        access_(ctx, rows_, approval_wait_seconds(ctx)),
        responses_(ctx, rows_, access_),
        chat_(ctx, access_),
        models_(ctx, access_) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::responses);
    reg.describe(ry_openapi::chat);
    reg.describe(ry_openapi::models);
    responses_.add_to(reg);
    chat_.add_to(reg);
    models_.add_to(reg);
    ry::job_options temporary;
    temporary.queue = "openai_api";
    temporary.max_attempts = 20;
    reg.job(delete_temporary_job, this, &openai_api_module::delete_temporary, temporary);
    reg.job(delete_chosen_job, this, &openai_api_module::delete_chosen, temporary);
    ry::job_options hourly;
    hourly.cron = "17 * * * *";
    reg.job("openai_api.prune", this, &openai_api_module::prune, hourly);
    reg.subscribe("deleted_accounts", "account.deleted", this, &openai_api_module::on_account_deleted);
  }

  void start() { access_.connect(); }

 private:
  ry::task<ry::job_outcome> delete_temporary(ry::job job) { return access_.delete_temporary(std::move(job)); }
  ry::task<ry::job_outcome> delete_chosen(ry::job job) { return access_.delete_chosen(std::move(job)); }
  ry::task<ry::job_outcome> prune(ry::job) {
    co_await rows_.prune();
    co_return ry::job_outcome::done();
  }
  ry::task<void> on_account_deleted(ry::event e) {
    const std::optional<ry::uuid> account = ry::uuid::parse(e.key());
    if (account)
      co_await rows_.delete_account(*account);
    else  // retries cannot succeed
      ctx_.warn("ignored an account event that has no account id", {{"event", e.id()}});
  }

  const ry::context& ctx_;
  const repository rows_;
  run_access access_;
  response_routes responses_;
  chat_routes chat_;
  model_routes models_;
};

}  // namespace
}  // namespace openai_api

RY_MODULE(openai_api::openai_api_module, "openai_api", "0.1.0",
          .needs(RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_EVENTS_1, RY_SVC_ACCOUNTS_1, RY_SVC_AGENTS_1, RY_SVC_RUNS_1)
              .settings(openai_api::settings_schema));
