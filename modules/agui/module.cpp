#include <ry/cpp/module.hpp>

#include "openapi.hpp"
#include "routes.hpp"

namespace agui {
namespace {

class agui_module {
 public:
  agui_module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), routes_(services_) {
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
  }

  void start() {
    services_.runs = ry::runs::client(ctx_);
    services_.accounts = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    services_.agents = ctx_.acquire<ry_agents_v1>(RY_SVC_AGENTS_1);
  }

 private:
  const ry::context& ctx_;
  used_services services_;
  routes routes_;
};

}  // namespace
}  // namespace agui

RY_MODULE(agui::agui_module, "agui", "0.1.0", .needs(RY_HTTP_1, RY_SVC_ACCOUNTS_1, RY_SVC_AGENTS_1, RY_SVC_RUNS_1));
