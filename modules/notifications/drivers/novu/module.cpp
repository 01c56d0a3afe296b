#include "driver.hpp"

namespace notify_novu {
namespace {

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg) : module(ctx, reg, read_settings(ctx.settings())) {}

 private:
  explicit module(ry::context& ctx, ry::registrar& reg, const settings& s) : driver_(ctx, s) {
    if (!s.step_conditions) table_.capabilities |= RY_NOTIFY_ALL_CHANNELS;
    reg.contribute(RY_NOTIFY_ORCHESTRATOR_1, "novu", &table_, &driver_);
  }

  ry_notify_orchestrator_v1 table_ = ry::notify::orchestrator_table<driver>();
  driver driver_;
};

}  // namespace
}  // namespace notify_novu

RY_MODULE(notify_novu::module, "notify_novu", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_CLIENT_1, RY_NOTIFY_ORCHESTRATOR_1).settings(notify_novu::settings_schema));
