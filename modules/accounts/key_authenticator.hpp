// Verifies API keys: a driver of the host's extension point ry.authenticator/1. It does not cache, because the host
// caches results for a few seconds.
#pragma once

#include <ry/if/auth.h>
#include <ry/cpp/context.hpp>

#include "repository.hpp"

namespace accounts {

class key_authenticator {
 public:
  key_authenticator(const ry::context& ctx, const repository& repo) : ctx_(ctx), repo_(repo) {}
  static const ry_authenticator_v1* table() noexcept;

 private:
  ry_status start(std::string_view bearer, ry_exec* exec, ry_principal_fn fn, void* ctx);
  ry::task<void> check(api_key key, ry_exec* exec, ry_principal_fn fn, void* ctx);
  void record_use(std::string id) const;

  const ry::context& ctx_;
  const repository& repo_;
};

}  // namespace accounts
