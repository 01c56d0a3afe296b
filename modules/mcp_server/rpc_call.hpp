// One request message and the properties of its client.
#pragma once

#include <ry/ry.hpp>

#include <string>

#include "revision.hpp"

namespace mcp_server {

struct rpc_call {
  ry::request http;
  message rpc;
  client who;
  std::string session;  // empty: none
  ry::uuid account{};
  bool streams = false;  // the client accepts server-sent events
};

}  // namespace mcp_server
