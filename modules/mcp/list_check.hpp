// Validates lists of MCP servers before the module `agents` stores them (ry/ext/mcp_check.h).
#pragma once

#include <ry/ext/mcp_check.h>

#include "servers.hpp"

namespace mcp {

class list_check {
 public:
  // `enabled`: whether the deployment offers MCP servers at all.
  list_check(const ry::context& ctx, const server_factory& servers, bool enabled)
      : ctx_(ctx), servers_(servers), enabled_(enabled) {}
  static const ry_mcp_check_v1* table() noexcept;

 private:
  ry::task<void> run(std::string account, std::string list, ry_done done) const;
  // Throws ry::error.
  ry::task<void> check(std::string account, std::string list) const;

  const ry::context& ctx_;
  const server_factory& servers_;
  const bool enabled_;
};

}  // namespace mcp
