#include <boost/json/parse.hpp>
#include <ry/cpp/module.hpp>
#include <string>

#include "agents.hpp"
#include "context_store.hpp"
#include "dispatcher.hpp"
#include "json/members.hpp"
#include "migrations.hpp"
#include "openapi.hpp"
#include "routes.hpp"
#include "tasks.hpp"

namespace a2a {
namespace {

constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 200, "default": "Runyard agent",
      "description": "Name of the agent in the public agent card"},
    "description": {"type": "string", "minLength": 1, "maxLength": 2000,
      "default": "Works on tasks with the model and the tools of the caller's default agent",
      "description": "Description of the agent in the public agent card"}
  }
})";

public_card read_card(const ry::context& ctx) {
  boost::json::error_code bad;
  const boost::json::value v = boost::json::parse(ctx.settings(), bad);
  const boost::json::object settings = !bad && v.is_object() ? v.get_object() : boost::json::object();
  return {module_json::text_of(settings, "name"), module_json::text_of(settings, "description"),
          std::string(ctx.fact("version"))};
}

class a2a_module {
 public:
  a2a_module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        contexts_(ctx),
        agents_(accounts_, agents_service_),
        tasks_(ctx, runs_, contexts_),
        dispatcher_(ctx, tasks_, agents_),
        routes_(ctx, agents_, dispatcher_, read_card(ctx)) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
    reg.subscribe("deleted_accounts", "account.deleted", this, &a2a_module::on_account_deleted);
  }

  void start() {
    accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    agents_service_ = ctx_.acquire<ry_agents_v1>(RY_SVC_AGENTS_1);
    runs_ = ry::runs::client(ctx_);
    if (ctx_.fact("http.public_url").empty())
      ctx_.warn("http.public_url is not set: agent cards contain the Host header of the request");
  }

 private:
  ry::task<void> on_account_deleted(ry::event e) {
    const auto account = ry::uuid::parse(e.key());
    // Retries cannot succeed, so log the event once instead of failing every delivery.
    if (!account) {
      ctx_.warn("ignored an account event that has no account id", {{"event", e.id()}});
      co_return;
    }
    co_await contexts_.delete_account(*account);
  }

  const ry::context& ctx_;
  const context_store contexts_;
  ry::service<ry_accounts_v1> accounts_;
  ry::service<ry_agents_v1> agents_service_;
  ry::runs::client runs_;
  const agents agents_;
  const tasks tasks_;
  const dispatcher dispatcher_;
  routes routes_;
};

}  // namespace
}  // namespace a2a

RY_MODULE(a2a::a2a_module, "a2a", "0.1.0",
          .needs(RY_HTTP_1, RY_DB_1, RY_EVENTS_1, RY_SVC_ACCOUNTS_1, RY_SVC_AGENTS_1, RY_SVC_RUNS_1)
              .settings(a2a::settings_schema));
