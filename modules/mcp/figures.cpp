#include "figures.hpp"

namespace mcp {
namespace {

const char* word(figures::operation what) { return what == figures::operation::call ? "call" : "list"; }

const char* outcome_of(const ry::error& why) {
  if (why.status() == RY_OK) return "ok";
  if (why.status() == RY_CANCELLED) return "cancelled";
  if (why.is("mcp.timeout")) return "timeout";
  if (why.is("mcp.connect_failed")) return "unreachable";
  if (why.is("mcp.unauthorized")) return "unauthorized";
  if (why.is("mcp.refused")) return "refused";
  if (why.is("mcp.protocol_error")) return "malformed";
  if (why.is("mcp.rpc")) return "rejected";
  return "error";
}

ry::metric requests(const ry::context& ctx, const char* what, const std::string& transport, const char* outcome) {
  return ctx.metrics().counter("requests_total", "Calls of tools and listings that ended",
                               {{"operation", what}, {"transport", transport}, {"outcome", outcome}});
}

ry::metric seconds(const ry::context& ctx, const char* what) {
  return ctx.metrics().histogram("request_seconds", "From the beginning of a call or a listing to its end",
                                 {{"operation", what}});
}

}  // namespace

figures::figures(const ry::context& ctx) : ctx_(ctx) {
  const auto retry = [&](const char* why) {
    return ctx.metrics().counter("retries_total", "Requests that were made once more", {{"why", why}});
  };
  unsent = retry("connection_ended");
  revision = retry("revision_changed");
  credentials = retry("unauthorized");
  session = retry("session_expired");
  for (const char* what : {"call", "list"}) (void)seconds(ctx, what);
}

void figures::know(const std::string& transport) const {
  (void)sessions(transport);
  for (const char* what : {"call", "list"})
    for (const char* outcome : {"ok", "unreachable", "timeout", "error"}) (void)requests(ctx_, what, transport, outcome);
}

ry::metric figures::sessions(const std::string& transport) const {
  return ctx_.metrics().gauge("sessions", "Sessions with MCP servers that are open", {{"transport", transport}});
}

void figures::ended(operation what, const std::string& transport, const ry::error& why, std::int64_t us) const {
  requests(ctx_, word(what), transport, outcome_of(why)).add();
  seconds(ctx_, word(what)).observe(static_cast<double>(us) / 1e6);
}

}  // namespace mcp
