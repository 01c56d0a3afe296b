// The error for an authorization server that violates the protocol.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <utility>

namespace mcp::oauth {

inline ry::error protocol_error(std::string message) {
  return ry::error(RY_DATA_LOSS, "mcp.oauth", std::move(message));
}

}  // namespace mcp::oauth
