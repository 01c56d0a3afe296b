#include "mcp_metrics.hpp"

namespace mcp {
namespace {

const char* word(mcp_metrics::kind what) {
  return what == mcp_metrics::kind::call ? "call" : "list";
}

// The label value: one of a fixed set of words.
std::string_view outcome_of(const ry::error& why) {
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

std::size_t number_of(mcp_metrics::kind what) {
  return static_cast<std::size_t>(what);
}

}  // namespace

mcp_metrics::mcp_metrics(const ry::context& ctx) : ctx_(ctx) {
  const auto retry = [&](const char* why) {
    return ctx.metrics().counter("retries_total", "Requests that were made once more", {{"why", why}});
  };
  unsent = retry("connection_ended");
  revision = retry("revision_changed");
  credentials = retry("unauthorized");
  session = retry("session_expired");
  for (const auto what : {mcp_metrics::kind::call, mcp_metrics::kind::list})
    seconds_[number_of(what)] = ctx.metrics().histogram(
        "request_seconds", "From the beginning of a call or a listing to its end", {{"operation", word(what)}});
}

void mcp_metrics::know(const std::string& transport) const {
  (void)sessions(transport);
  for (const auto what : {mcp_metrics::kind::call, mcp_metrics::kind::list})
    for (const char* outcome : {"ok", "unreachable", "timeout", "error"}) (void)requests(what, transport, outcome);
}

ry::metric mcp_metrics::sessions(const std::string& transport) const {
  std::lock_guard lock(mutex_);
  auto& found = sessions_[transport];
  if (!found)
    found = ctx_.metrics().gauge("sessions", "Sessions with MCP servers that are open", {{"transport", transport}});
  return found;
}

ry::metric mcp_metrics::requests(mcp_metrics::kind what, const std::string& transport, std::string_view outcome) const {
  std::lock_guard lock(mutex_);
  auto& found = requests_[number_of(what)][{transport, outcome}];
  if (!found)
    found = ctx_.metrics().counter(
        "requests_total", "Calls of tools and listings that ended",
        {{"operation", word(what)}, {"transport", transport}, {"outcome", std::string(outcome)}});
  return found;
}

void mcp_metrics::ended(mcp_metrics::kind what, const std::string& transport, const ry::error& why,
                        std::int64_t us) const {
  requests(what, transport, outcome_of(why)).add();
  seconds_[number_of(what)].observe(static_cast<double>(us) / 1e6);
}

}  // namespace mcp
