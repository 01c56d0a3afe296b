#include "vapid_store.hpp"

namespace notify_builtin {

namespace {

constexpr std::string_view secret_context = "notify_builtin.vapid";

ry::task<std::optional<std::string>> sealed_key(const ry::context& ctx) {
  const auto rows = (co_await ctx.db().query("select sealed from notify_builtin.vapid")).value();
  if (rows.empty()) co_return std::nullopt;
  co_return std::string(rows.front().text(0));
}

}  // namespace

ry::task<notify_push::vapid_key> load_or_create_vapid_key(const ry::context& ctx) {
  auto sealed = co_await sealed_key(ctx);
  if (!sealed) {
    const auto generated = notify_push::vapid_key::generate();
    const auto sealed_new_key = ctx.secrets().seal(secret_context, generated.private_text()).value();
    (co_await ctx.db().query("insert into notify_builtin.vapid (sealed) values ($1) on conflict do nothing",
                             ry::bytes_view(sealed_new_key)))
        .value();
    sealed = co_await sealed_key(ctx);
    ctx.info("a Web Push (VAPID) key was generated");
  }
  auto opened = ctx.secrets().open(secret_context, sealed.value());
  if (!opened) {
    throw ry::error(RY_DATA_LOSS, "notify_builtin.vapid",
                    "the stored Web Push key cannot be decrypted with secrets.key");
  }
  ctx.secrets().redact(*opened);
  co_return notify_push::vapid_key::read(*opened);
}

}  // namespace notify_builtin
