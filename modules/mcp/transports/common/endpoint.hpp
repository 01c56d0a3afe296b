// Shared by the HTTP transports: their configuration and a single HTTP exchange.
#pragma once

#include <ry/cpp/mcp.hpp>
#include <ry/ry.hpp>

namespace mcp_transport {

struct endpoint {
  std::string url;
  ry::headers fields;  // from the configuration
  std::string account;
  std::uint32_t client_flags = RY_CLIENT_FOLLOW_REDIRECTS;
  std::uint64_t connect_timeout_ms = 10'000;
  // Idle timeout of a response or stream. It exceeds all limits of the module `mcp`, which applies its own timeouts to
  // calls and sessions.
  std::uint64_t idle_ms = 25 * 3'600'000ULL;
};

// Reads {"url", "headers"}. Throws ry::error RY_INVALID_ARGUMENT.
endpoint read_endpoint(const ry::mcp::target& t);
// Reads the configuration and checks the URL with the host's address guard. Also throws RY_PERMISSION_DENIED.
void check_endpoint(const ry::context& ctx, const ry::mcp::target& t);

// `reference` resolved against `base`; empty if it is invalid or leads to another origin.
std::string same_origin_url(std::string_view base, std::string_view reference);

// `fields` replace those with the same name in `base`.
ry::headers merged_headers(const ry::headers& base, const ry::headers& fields);

// Normalizes a content type: "Application/JSON; charset=utf-8" becomes "application/json".
std::string media_type(std::string_view content_type);

// Converts errors of the address guard and the sockets for on_sent and on_closed.
ry::error error_of(ry_status st, const ry_error_view* err);

// One HTTP exchange. It does not delete itself. All calls run on the executor of start().
class http_exchange {
 public:
  http_exchange() = default;
  http_exchange(const http_exchange&) = delete;
  http_exchange& operator=(const http_exchange&) = delete;

  ry_status start(const ry::context& ctx, ry_exec* exec, const ry::client_request& request);
  void cancel(const ry::context& ctx) const noexcept { ctx.core().op_cancel(ctx.host(), op_); }
  void resume(const ry::context& ctx) const noexcept { ctx.interface<ry_http_client_v1>().resume(ctx.host(), op_); }
  ry_op_id op() const noexcept { return op_; }

 protected:
  virtual ~http_exchange() = default;
  virtual void head(const ry_client_response& r) = 0;
  // RY_RESOURCE_EXHAUSTED pauses reading (backpressure).
  virtual ry_status data(std::string_view bytes) = 0;
  virtual void done(ry_status st, const ry_error_view* err) noexcept = 0;

 private:
  ry_op_id op_ = 0;
};

// The first header with this name.
std::string_view field_of(const ry_client_response& r, std::string_view name) noexcept;
// All headers with this name, joined by ", ".
std::string fields_of(const ry_client_response& r, std::string_view name);
std::string fields_of(const ry::headers& all, std::string_view name);

// Cancels an exchange after `ms` if it is still running. Throws std::bad_alloc only.
void cancel_after(const ry::context& ctx, ry_exec* exec, ry_op_id op, std::uint64_t ms);
// Time limit for the last messages of a closed session.
inline constexpr std::uint64_t close_timeout_ms = 3000;

}  // namespace mcp_transport
