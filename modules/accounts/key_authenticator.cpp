#include "key_authenticator.hpp"

#include <ry/cpp/op.hpp>

namespace accounts {

ry_status key_authenticator::start(std::string_view bearer, ry_exec* exec, ry_principal_fn fn, void* ctx) {
  if (bearer.substr(0, api_key_prefix.size()) != api_key_prefix) return RY_NOT_FOUND;
  auto key = parse_api_key(bearer);
  if (!key) return RY_UNAUTHENTICATED;
  return ctx_.spawn(check(*std::move(key), exec, fn, ctx), exec) ? RY_OK : RY_UNAVAILABLE;
}

ry::task<void> key_authenticator::check(api_key key, ry_exec* exec, ry_principal_fn fn, void* ctx) {
  ry_status st = RY_UNAUTHENTICATED;
  std::optional<stored_key> stored;
  try {
    stored = co_await repo_.key(key.id);
    if (stored && same_hash(stored->secret_hash, hash_secret(key.secret))) st = RY_OK;
  } catch (...) {
    const auto e = ry::current_error();
    st = e.status() == RY_UNAUTHENTICATED || e.status() == RY_NOT_FOUND ? RY_INTERNAL : e.status();
    ctx_.log_error("an API key could not be looked up", e);
  }
  if (st == RY_OK && stored->use_outdated) record_use(key.id);

  // Post the result, because a lookup that fails immediately would otherwise call back inside the host's call.
  ctx_.post(exec, [st, stored, fn, ctx, claims = "{\"sid\":\"" + session_of_key(key.id) + "\"}"] {
    if (st != RY_OK) {
      fn(ctx, st, nullptr);
      return;
    }
    ry_principal principal{};
    principal.struct_size = sizeof principal;
    principal.role = stored->owner->role;
    principal.subject = ry::str(stored->owner->subject);
    principal.email = ry::str(stored->owner->email);
    principal.auth_kind = ry::str("api_key");
    principal.claims_json = ry::str(claims);
    principal.expires_unix_us = stored->expires_unix_us;
    fn(ctx, RY_OK, &principal);
  });
}

void key_authenticator::record_use(std::string id) const {
  const auto update = [](const repository* repo, std::string id) -> ry::task<void> {
    co_await repo->record_key_use(std::move(id));
  };
  ctx_.spawn(update(&repo_, std::move(id)));
}

const ry_authenticator_v1* key_authenticator::table() noexcept {
  static constexpr ry_authenticator_v1 t{
      sizeof(ry_authenticator_v1), 0,
      [](void* self, ry_str bearer, ry_exec* exec, ry_principal_fn fn, void* ctx) noexcept {
        return ry::guard([&] { return static_cast<key_authenticator*>(self)->start(ry::view(bearer), exec, fn, ctx); });
      }};
  return &t;
}

}  // namespace accounts
