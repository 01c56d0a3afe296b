// The caller's identity, owned by the host: the storage behind a ry_principal.
#pragma once

#include <ry/abi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/exec/error.hpp"

namespace ry::auth {

enum class role : std::uint32_t { user = RY_ROLE_USER, admin = RY_ROLE_ADMIN, super_admin = RY_ROLE_SUPER_ADMIN };

// "user", "admin", "super_admin".
std::string_view to_string(role r) noexcept;

// Immutable once shared.
struct principal {
  auth::role role = auth::role::user;
  std::string subject;
  std::string issuer;
  std::string email;
  std::string auth_kind;  // "jwt", "api_key", "query_token"
  std::string claims_json = "{}";
  std::int64_t expires_unix_us = 0;  // 0 = never
  std::int64_t issued_unix_us = 0;  // the claim "iat"; 0 = not known
  // The claim "sid" of this deployment's own tokens and of contributed principals; revoke_session() revokes it.
  std::string session;

  // Borrows this object.
  ry_principal view() const noexcept {
    return {sizeof(ry_principal),    static_cast<std::uint32_t>(role),
            core::view(subject),     core::view(issuer),
            core::view(email),       core::view(auth_kind),
            core::view(claims_json), expires_unix_us};
  }
};
using principal_ptr = std::shared_ptr<const principal>;

// The decision about a bearer value.
struct verdict {
  ry_status status = RY_UNAUTHENTICATED;  // RY_OK, RY_UNAUTHENTICATED (401) or RY_UNAVAILABLE (503)
  principal_ptr who;  // set exactly when status is RY_OK
  const char* why = "";  // a literal for the log, never sent to clients
};

}  // namespace ry::auth
