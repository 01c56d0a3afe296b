#include "driver.hpp"

namespace notify_novu {
namespace {

class module {
 public:
  module(ry::context& ctx, ry::registrar& reg) :driver_(ctx, read_settings(ctx.settings())) {
    static constexpr auto table = ry::notify::orchestrator_table<driver>();
    reg.contribute(RY_NOTIFY_ORCHESTRATOR_1, "novu", &table, &driver_);
  }

 private:
  driver driver_;
};

}  // namespace
}  // namespace notify_novu

RY_MODULE(notify_novu::module, "notify_novu", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_CLIENT_1, RY_NOTIFY_ORCHESTRATOR_1)
              .settings(notify_novu::settings_schema));
