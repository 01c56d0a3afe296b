#include <ry/cpp/module.hpp>

#include "endpoint.hpp"
#include "openapi.hpp"

namespace mcp_server {
namespace {

server_info read_info(const ry::context& ctx) {
  const auto brand = ctx.fact("brand.name");
  const auto version = ctx.fact("version");
  return {std::string(brand.empty() ? "Runyard" : brand), std::string(version.empty() ? "0" : version)};
}

class module {
 public:
  module(ry::context& ctx, ry::registrar& reg) :settings_(read_settings(ctx.settings())), services_(ctx),
      endpoint_(ctx, settings_, services_, read_info(ctx)) {
    reg.describe(ry_openapi::mcp_server);
    endpoint_.add_to(reg);
  }

  void start() {
    services_.acquire();
    endpoint_.open();
  }

 private:
  const settings settings_;
  services services_;
  endpoint endpoint_;
};

}  // namespace
}  // namespace mcp_server

RY_MODULE(mcp_server::module, "mcp_server", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_EVENTS_1, RY_SECRETS_1, RY_SERVICES_1, RY_SVC_ACCOUNTS_1, RY_SVC_AGENTS_1,
                 RY_SVC_RUNS_1)
              .wants(RY_SVC_MCP_1)
              .settings(mcp_server::settings_schema));
