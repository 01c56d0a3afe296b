// Errors shared by several routes.
#pragma once
#include <ry/ry.hpp>

namespace accounts {

inline ry::error unknown_account() {
  return ry::not_found("accounts.not_found", "Account not found");
}

}  // namespace accounts
