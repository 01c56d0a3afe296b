#include "mcp_checks.hpp"

namespace agents {

void mcp_checks::define_point(ry::registrar& reg) {
  using drivers = ry::drivers<ry_mcp_check_v1>;
  ry_point p{};
  p.struct_size = sizeof p;
  p.min_size = sizeof(ry_mcp_check_v1);
  p.id = ry::str(RY_AGENTS_MCP_CHECK_1);
  p.added = &drivers::on_added;
  p.removed = &drivers::on_removed;
  p.replaced = &drivers::on_replaced;
  p.ctx = &drivers_;
  ry::check(reg.table().define_point(reg.handle(), &p), RY_AGENTS_MCP_CHECK_1);
}

ry::task<void> mcp_checks::check(std::string account_id, std::string entries) const {
  if (entries.empty()) co_return;
  for (const auto& each : drivers_.all()) {
    auto checked = co_await ry::call_done([&](ry_exec* exec, ry_done done) {
      return each->table->check(each->self, ry::str(account_id), ry::str(entries), exec, done);
    });
    std::move(checked).value();
  }
}

}  // namespace agents
