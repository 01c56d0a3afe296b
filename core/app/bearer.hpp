// Lets the HTTP server ask core/auth who is calling.
#pragma once

#include "core/auth/authenticator.hpp"
#include "core/http/server.hpp"

namespace ry::app {

class bearer final : public http::authenticator {
 public:
  explicit bearer(auth::authenticator& auth) : auth_(auth) {}

  std::optional<http::verdict> authenticate(const http::credential& c, ry_exec* exec,
                                            std::function<void(http::verdict)> later) override;

 private:
  auth::authenticator& auth_;
};

}  // namespace ry::app
