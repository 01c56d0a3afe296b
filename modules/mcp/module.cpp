// The module `mcp`: connects its components and registers them with the host.
#include <ry/svc/mcp.h>

#include <map>
#include <migrations.hpp>
#include <mutex>
#include <ry/ry.hpp>

#include "list_check.hpp"
#include "routes.hpp"
#include "tool_source.hpp"

namespace mcp {
namespace {

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        settings_(read_settings(ctx.settings())),
        context_{ctx, {}, {}},
        service_(context_, settings_),
        definitions_(ctx),
        source_(ctx, service_, settings_, agents_, definitions_),
        routes_(ctx, service_, settings_, accounts_, agents_, definitions_),
        list_check_(ctx, service_.servers(), settings_.enabled) {
    context_.max_message_bytes = settings_.max_message_bytes;
    context_.limits.tools = settings_.max_tools;
    reg.migrations(ry_migrations::all);
    define_point(reg);
    reg.provide(RY_SVC_MCP_1, &service_table, this);
    reg.contribute(RY_AGENT_TOOLS_1, "mcp", tool_source::table(), &source_);
    reg.contribute(RY_AGENTS_MCP_CHECK_1, "mcp", list_check::table(), &list_check_);
    routes_.add_to(reg);
    reg.subscribe("deleted_accounts", "account.deleted", this, &module::erase_account);
  }
  void start() {
    accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    agents_ = ctx_.acquire<ry_agents_v1>(RY_SVC_AGENTS_1);
  }

 private:
  ry::task<void> erase_account(ry::event e) {
    const auto account = ry::uuid::parse(e.key());
    if (account) co_await definitions_.remove_all(*account);
  }

  using transports = ry::drivers<ry_mcp_transport_v1>;
  void define_point(ry::registrar& reg) {
    ry_point p{};
    p.struct_size = sizeof p;
    p.min_size = offsetof(ry_mcp_transport_v1, authorize);
    p.id = ry::str(RY_MCP_TRANSPORT_1);
    p.added = [](void* self, ry_str name, const void* table, void* driver) noexcept {
      auto* m = static_cast<module*>(self);
      transports::on_added(&m->context_.transports, name, table, driver);
      (void)ry::guard([&] { m->context_.metrics.register_transport(ry::text(name)); });
    };
    p.removed = [](void* self, ry_str name, ry_done done) noexcept {
      auto* m = static_cast<module*>(self);
      transports::on_removed(&m->context_.transports, name, done);
      // Removal of a driver waits until all its connections are closed.
      m->service_.close_idle();
    };
    p.ctx = this;
    ry::check(reg.table().define_point(reg.handle(), &p), RY_MCP_TRANSPORT_1);
  }
  static std::int32_t enabled(void* self) noexcept { return static_cast<module*>(self)->settings_.enabled ? 1 : 0; }
  static ry_status open_servers(void* self, ry_str servers_json, const ry_agent_tools_v1** tools, void** tools_self,
                                ry_errbuf* err) noexcept {
    return ry::guard(
        [&] {
          auto* m = static_cast<module*>(self);
          std::lock_guard lock(m->opened_mutex_);
          auto& source = m->opened_[ry::text(servers_json)];
          if (!source) {
            auto created = std::make_unique<tool_source>(m->ctx_, m->service_, m->settings_, m->agents_,
                                                         m->definitions_, read_list(ry::text(servers_json)));
            created->check_servers();
            source = std::move(created);
          }
          *tools = tool_source::table();
          *tools_self = source.get();
        },
        err);
  }
  static constexpr ry_mcp_v1 service_table{sizeof(ry_mcp_v1), 0, &module::enabled, &module::open_servers};

  ry::context& ctx_;
  const settings settings_;
  client_context context_;
  mcp_service service_;
  ry::service<ry_accounts_v1> accounts_;
  ry::service<ry_agents_v1> agents_;
  tool_definitions definitions_;
  tool_source source_;
  std::mutex opened_mutex_;
  std::map<std::string, std::unique_ptr<tool_source>> opened_;  // by the list of servers, see ry_mcp_v1
  routes routes_;
  list_check list_check_;
};

}  // namespace
}  // namespace mcp

RY_MODULE(mcp::module, "mcp", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_EVENTS_1, RY_SECRETS_1, RY_SERVICES_1, RY_METRICS_1,
                 RY_SVC_ACCOUNTS_1, RY_SVC_AGENTS_1)
              .wants(RY_AGENT_TOOLS_1, RY_AGENTS_MCP_CHECK_1)
              .provides(RY_MCP_TRANSPORT_1, RY_SVC_MCP_1)
              .settings(mcp::settings_schema));
