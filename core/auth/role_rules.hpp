// Reads the roles in the claims of an identity provider's token. No state, no I/O; every function is [any].
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/principal.hpp"

namespace ry::auth {

struct role_rules {
  // Paths of claims, members separated by dots. A member whose name contains dots is also found
  // ("https://example.org/roles", "resource_access.my.client.roles").
  std::vector<std::string> claims{"role", "roles", "app_metadata.role"};
  // Values that mean the role.
  std::vector<std::string> admin{"admin"};
  std::vector<std::string> super_admin{"super_admin"};
};

// The highest role that a claim names. A claim names roles as a string, a list of strings, the members of an object
// that hold objects (Zitadel), or `true`, which counts as the value "true" (custom claims of Firebase).
role role_of(const boost::json::object& claims, const role_rules& rules);

// Whether users can edit the claim themselves at their identity provider, so that it must not grant a role.
bool is_user_editable(std::string_view claim_path);

}  // namespace ry::auth
