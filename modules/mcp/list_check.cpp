#include "list_check.hpp"

namespace mcp {

ry::task<void> list_check::check(std::string account, std::string list) const {
  if (!enabled_) throw ry::forbidden("mcp.disabled", "MCP integrations are not enabled");
  const auto all = parse(list);
  if (!all.is_array()) throw ry::bad_request("mcp.invalid", "custom_mcps must be a list");
  for (std::size_t i = 0; i < all.get_array().size(); ++i) {
    const auto* entry = all.get_array()[i].if_object();
    const auto* config = entry != nullptr ? object_at(*entry, "config") : nullptr;
    if (config == nullptr) continue;
    auto custom = text_of(*entry, "customType");
    if (custom.empty()) custom = text_of(*entry, "custom_type");
    const auto s = servers_.ad_hoc(text_of(*entry, "name"), text_of(*entry, "type"), custom, *config, account);
    ry::error refusal(RY_OK);
    try {
      servers_.check(*s);
      // An integration profile must exist and belong to the account.
      (void)co_await servers_.resolve(s);
    } catch (const ry::error& e) {
      if (!e.is("mcp.refused")) throw;
      refusal = e;
    }
    if (refusal.status() == RY_OK) continue;
    throw ry::http_error(
        422, RY_INVALID_ARGUMENT, "mcp.refused",
        "custom_mcps[" + std::to_string(i) + "].config: " + std::string(without_name(refusal.message())));
  }
}

ry::task<void> list_check::run(std::string account, std::string list, ry_done done) const {
  ry::error error(RY_OK);
  try {
    co_await check(std::move(account), std::move(list));
  } catch (...) {
    error = ry::current_error();
  }
  const ry_error_view v = error.view();
  done.fn(done.ctx, error.status(), error.status() == RY_OK ? nullptr : &v);
}

const ry_mcp_check_v1* list_check::table() noexcept {
  static constexpr ry_mcp_check_v1 table{
      sizeof(ry_mcp_check_v1), 0, [](void* self, ry_str account, ry_str list, ry_exec* exec, ry_done done) noexcept {
        return ry::guard([&]() -> ry_status {
          const auto* self_check = static_cast<const list_check*>(self);
          // Posting ensures that the completion is not called from within this call.
          self_check->ctx_.post(exec, [self_check, work = self_check->run(ry::text(account), ry::text(list), done),
                                       exec, done]() mutable {
            if (!self_check->ctx_.spawn(std::move(work), exec)) done.fn(done.ctx, RY_UNAVAILABLE, nullptr);
          });
          return RY_OK;
        });
      }};
  return &table;
}

}  // namespace mcp
