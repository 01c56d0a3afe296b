// The adapter through which the HTTP server authenticates callers with core/auth.
#pragma once

#include "core/auth/authenticator.hpp"
#include "core/http/server.hpp"

namespace ry::app {

class http_auth final : public http::authenticator {
 public:
  explicit http_auth(auth::authenticator& auth) : auth_(auth) {}

  std::optional<http::verdict> authenticate(const http::credential& c, ry_exec* exec,
                                            std::function<void(http::verdict)> later) override;
  bool revoked(const std::shared_ptr<const void>& owner) const override;
  std::uint64_t revocations() const noexcept override { return auth_.revocation_count(); }

 private:
  auth::authenticator& auth_;
};

}  // namespace ry::app
