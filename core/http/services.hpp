// The services that the HTTP server uses: authentication, rate limits, loops; and the routes of the host.
#pragma once

#include <ry/if/http.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/exec/blocking_pool.hpp"
#include "core/exec/loop.hpp"
#include "core/module/registration.hpp"

namespace ry::observe {
class tracer;
}

namespace ry::http {

// The credential of a request. Views are borrowed.
struct credential {
  enum class kind { bearer, query_token };
  kind from = kind::bearer;
  std::string_view value;
  std::string_view path;  // without http.base_path; a query token is valid for one path only
};

// Result of authentication: RY_OK with `who`, RY_UNAUTHENTICATED (401), or another status (503). `owner` keeps the
// strings alive.
struct verdict {
  ry_status status = RY_UNAUTHENTICATED;
  ry_principal who{};
  std::shared_ptr<const void> owner;
};

// Authenticates requests. core/app implements it with core/auth; it outlives the server.
class authenticator {
 public:
  virtual ~authenticator() = default;
  // Returns the verdict if it is known without waiting; otherwise returns nullopt and calls `later` exactly once on
  // `exec`, never inside this call. `c` is valid only during the call. Called on `exec`.
  virtual std::optional<verdict> authenticate(const credential& c, ry_exec* exec,
                                              std::function<void(verdict)> later) = 0;
  // True if the credential of a verdict (`owner`) was revoked, so that its open streams must end. revocations() counts
  // revocations. [any]
  virtual bool revoked(const std::shared_ptr<const void>& /*owner*/) const { return false; }
  virtual std::uint64_t revocations() const noexcept { return 0; }
};

// Decision of a rate limiter; the members are sent as RateLimit-* and Retry-After.
struct gate_verdict {
  bool allowed = true;
  std::uint64_t limit = 0, remaining = 0;
  std::uint32_t reset_s = 0, retry_after_s = 1;
};

// Rate limiter for module routes. core/limits implements it; it outlives the server. Called on the loops; never
// blocks.
class request_gate {
 public:
  virtual ~request_gate() = default;
  // nullopt: no limit is set. The server calls this before it authenticates the caller.
  virtual std::optional<gate_verdict> by_address(std::string_view address) = 0;
  virtual std::optional<gate_verdict> by_account(std::string_view subject) = 0;
  // A permit for a stream or another long request, released with its last copy; null: none is available.
  virtual std::shared_ptr<const void> stream_permit(std::string_view subject) = 0;
};

// The response of a host route.
struct host_answer {
  std::uint32_t status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// Where a host route runs: `loop` handlers must not block, `blocking` handlers run on the blocking pool.
enum class runs_on { loop, blocking };

struct host_route {
  std::string method, pattern;
  std::function<host_answer(const ry_request_view&)> handle;
  runs_on where = runs_on::loop;
  std::uint32_t flags = RY_ROUTE_PUBLIC | RY_ROUTE_NO_PREFIX;
};

// The host services that the server uses; all outlive it.
struct server_context {
  exec::loop_pool* loops = nullptr;
  authenticator* auth = nullptr;  // null: all routes except public ones answer 401
  exec::blocking_pool* blocking = nullptr;  // for spool files and for files to send
  observe::tracer* tracer = nullptr;  // null: tracing is off
  request_gate* gate = nullptr;  // null: no rate limits
};

}  // namespace ry::http
