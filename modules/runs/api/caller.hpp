// The caller of a request, as the service `accounts` reports it.
#pragma once
#include <cstdint>
#include <ry/ry.hpp>
#include <string>

#include "ry/svc/accounts.h"

namespace runs {

struct caller {
  std::string id;
  ry::uuid uuid;
  std::uint32_t role = RY_ROLE_USER;
  const ry_tier_view* tier = nullptr;
};
// Throws a 401 if the request has no principal. `accounts` must outlive the task.
ry::task<caller> caller_of(const ry::service<ry_accounts_v1>& accounts, const ry::request& request);

}  // namespace runs
