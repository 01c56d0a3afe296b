// The error of an authorization server that does not follow the protocol.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <utility>

namespace mcp::oauth {

inline ry::error protocol_error(std::string what) {
  return ry::error(RY_DATA_LOSS, "mcp.oauth", std::move(what));
}

}  // namespace mcp::oauth
