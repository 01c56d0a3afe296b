// Runs the checks of other modules on an MCP configuration before it is stored (ry/ext/mcp_check.h).
#pragma once

#include <ry/ext/mcp_check.h>

#include <string>

#include <ry/ry.hpp>

namespace agents {

class mcp_checks {
 public:
  mcp_checks() = default;
  mcp_checks(const mcp_checks&) = delete;
  mcp_checks& operator=(const mcp_checks&) = delete;

  // Defines the extension point; check() calls its drivers.
  void define_point(ry::registrar& reg);

  // Throws the first rejection (422, or the status of the check). `entries`: the result of unchecked_mcp_list().
  ry::task<void> check(std::string account_id, std::string entries) const;

 private:
  ry::drivers<ry_mcp_check_v1> drivers_;
};

}  // namespace agents
