#include "mcp_metrics.hpp"

namespace mcp {
namespace {

const char* label_of(mcp_metrics::request_kind kind) {
  return kind == mcp_metrics::request_kind::call ? "call" : "list";
}

// The value of the label `outcome`, from a fixed set.
std::string_view outcome_label(const ry::error& outcome) {
  if (outcome.status() == RY_OK) return "ok";
  if (outcome.status() == RY_CANCELLED) return "cancelled";
  if (outcome.is("mcp.timeout")) return "timeout";
  if (outcome.is("mcp.connect_failed")) return "unreachable";
  if (outcome.is("mcp.unauthorized")) return "unauthorized";
  if (outcome.is("mcp.refused")) return "refused";
  if (outcome.is("mcp.protocol_error")) return "malformed";
  if (outcome.is("mcp.rpc")) return "rejected";
  return "error";
}

std::size_t index_of(mcp_metrics::request_kind kind) {
  return static_cast<std::size_t>(kind);
}

}  // namespace

mcp_metrics::mcp_metrics(const ry::context& ctx) : ctx_(ctx) {
  const auto retry = [&](const char* reason) {
    return ctx.metrics().counter("retries_total", "Repeated requests", {{"reason", reason}});
  };
  unsent_retries = retry("connection_ended");
  revision_retries = retry("revision_changed");
  credentials_retries = retry("unauthorized");
  session_retries = retry("session_expired");
  for (const auto kind : {mcp_metrics::request_kind::call, mcp_metrics::request_kind::list})
    seconds_[index_of(kind)] =
        ctx.metrics().histogram("request_seconds", "Duration of a call or a listing of tools, including retries",
                                {{"operation", label_of(kind)}});
}

void mcp_metrics::register_transport(const std::string& transport) const {
  (void)sessions(transport);
  for (const auto kind : {mcp_metrics::request_kind::call, mcp_metrics::request_kind::list})
    for (const char* outcome : {"ok", "unreachable", "timeout", "error"}) (void)requests(kind, transport, outcome);
}

ry::metric mcp_metrics::sessions(const std::string& transport) const {
  std::lock_guard lock(mutex_);
  auto& found = sessions_[transport];
  if (!found) found = ctx_.metrics().gauge("sessions", "Open sessions with MCP servers", {{"transport", transport}});
  return found;
}

ry::metric mcp_metrics::requests(mcp_metrics::request_kind kind, const std::string& transport,
                                 std::string_view outcome) const {
  std::lock_guard lock(mutex_);
  auto& found = requests_[index_of(kind)][{transport, outcome}];
  if (!found)
    found = ctx_.metrics().counter(
        "requests_total", "Completed calls and listings of tools",
        {{"operation", label_of(kind)}, {"transport", transport}, {"outcome", std::string(outcome)}});
  return found;
}

void mcp_metrics::record_request(mcp_metrics::request_kind kind, const std::string& transport, const ry::error& outcome,
                                 std::int64_t us) const {
  requests(kind, transport, outcome_label(outcome)).add();
  seconds_[index_of(kind)].observe(static_cast<double>(us) / 1e6);
}

}  // namespace mcp
