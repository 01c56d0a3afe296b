// The C tables of ry.auth/1 and ry.secrets/1.
#include "core/auth/authenticator.hpp"
#include "core/auth/secret_box.hpp"
#include "core/module/host.hpp"
#include "core/observe/log.hpp"

namespace ry::auth {
namespace {

// No exception of these calls (mostly std::bad_alloc) may reach a module.
template <class F>
ry_status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return RY_INTERNAL;
  }
}

void give(const ry_host* host, ry_take_fn take, void* ctx, std::string_view text) {
  module::invoke(const_cast<ry_host*>(host), "take", take, ctx, core::bytes(text));
}

std::chrono::milliseconds duration(std::uint64_t ms) {
  constexpr std::uint64_t century = 100ull * 366 * 24 * 3600 * 1000;
  return std::chrono::milliseconds(ms < century ? ms : century);
}

ry_status return_token(const ry_host* host, const issued& result, ry_take_fn take, void* ctx) {
  if (result.error) return result.error->status;
  give(host, take, ctx, result.token);
  return RY_OK;
}

ry_status mint(const ry_host* host, ry_str claims_json, uint64_t ttl_ms, ry_take_fn take, void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    if (!host->rt.auth) return RY_FAILED_PRECONDITION;
    return return_token(host, host->rt.auth->mint(core::sv(claims_json), duration(ttl_ms)), take, ctx);
  });
}

ry_status mint_query_token(const ry_host* host, const ry_principal* who, ry_str path, uint64_t ttl_ms, ry_take_fn take,
                           void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    if (!host->rt.auth) return RY_FAILED_PRECONDITION;
    if (!who || who->struct_size < sizeof(ry_principal)) return RY_INVALID_ARGUMENT;
    return return_token(host, host->rt.auth->mint_query_token(*who, core::sv(path), duration(ttl_ms)), take, ctx);
  });
}

void forget(const ry_host* host, ry_str subject) noexcept {
  guarded([&]() -> ry_status {
    if (host->rt.auth) host->rt.auth->forget(core::sv(subject));
    return RY_OK;
  });
}

ry_status revoke_session(const ry_host* host, ry_str subject, ry_str session, int64_t until_unix_us) noexcept {
  return guarded([&]() -> ry_status {
    if (!host->rt.auth) return RY_FAILED_PRECONDITION;
    if (subject.len == 0) return RY_INVALID_ARGUMENT;
    host->rt.auth->revoke_session(core::sv(subject), core::sv(session), until_unix_us);
    return RY_OK;
  });
}

ry_status seal(const ry_host* host, ry_str context, ry_bytes plain, ry_take_fn take, void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    if (!host->rt.secrets) return RY_UNAVAILABLE;
    give(host, take, ctx, host->rt.secrets->seal(core::sv(context), core::sv(plain)));
    return RY_OK;
  });
}

ry_status open(const ry_host* host, ry_str context, ry_bytes sealed, ry_take_fn take, void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    if (!host->rt.secrets) return RY_UNAVAILABLE;
    const auto plain = host->rt.secrets->open(core::sv(context), core::sv(sealed));
    if (!plain) return RY_DATA_LOSS;
    give(host, take, ctx, *plain);
    return RY_OK;
  });
}

void redact(const ry_host*, ry_str secret) noexcept {
  guarded([&]() -> ry_status {
    observe::redact(core::sv(secret));
    return RY_OK;
  });
}

void mask(const ry_host*, ry_str secret) noexcept {
  guarded([&]() -> ry_status {
    observe::mask(core::sv(secret));
    return RY_OK;
  });
}

void unmask(const ry_host*, ry_str secret) noexcept {
  guarded([&]() -> ry_status {
    observe::unmask(core::sv(secret));
    return RY_OK;
  });
}

}  // namespace

const ry_auth_v1& auth_v1() noexcept {
  static constexpr ry_auth_v1 table{sizeof(ry_auth_v1), 0, mint, mint_query_token, forget, revoke_session};
  return table;
}

const ry_secrets_v1& secrets_v1() noexcept {
  static constexpr ry_secrets_v1 table{sizeof(ry_secrets_v1), 0, seal, open, redact, mask, unmask};
  return table;
}

}  // namespace ry::auth
