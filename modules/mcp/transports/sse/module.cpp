// mcp.transport/1 over HTTP+SSE.
#include <ry/ry.hpp>

#include "session.hpp"

namespace mcp_sse {
namespace {

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_MCP_HEADERS;

  driver(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    static constexpr auto table = ry::mcp::transport_table<driver>();
    reg.contribute(RY_MCP_TRANSPORT_1, "sse", &table, this);
  }
  void check(const ry::mcp::target& t) const { mcp_transport::check_endpoint(ctx_, t); }
  ry::mcp::session* open(const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to) const {
    mcp_transport::check_endpoint(ctx_, t);
    return new session(ctx_, t, exec, to);
  }

 private:
  ry::context& ctx_;
};

}  // namespace
}  // namespace mcp_sse

RY_MODULE(mcp_sse::driver, "mcp_sse", "0.1.0", .needs(RY_CORE_1, RY_HTTP_CLIENT_1, RY_MCP_TRANSPORT_1));
