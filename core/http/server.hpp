// The HTTP/1.1 server: one acceptor, one worker per event loop, and the routes of the modules and the host.
#pragma once

#include <ry/if/http.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/listener.hpp"
#include "core/http/quota.hpp"
#include "core/http/site.hpp"
#include "core/http/stats.hpp"
#include "core/module/registration.hpp"

namespace ry::observe {
class tracer;
}

namespace ry::http {

// The ABI table of "ry.http/1". One per process: each handle identifies its server. [any]
const ry_http_v1& http_interface() noexcept;

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
  virtual std::shared_ptr<const void> seat(std::string_view subject) = 0;
};

enum class access_log { off, on };

struct cors_settings {
  std::vector<std::string> origins;  // exact; "*" = any; empty = CORS disabled
  enum class credentials { no, yes } allow_credentials = credentials::no;
  std::chrono::seconds max_age{600};
};

struct settings {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 8080;  // 0 picks a free one
  std::string tls_cert_file, tls_key_file;  // PEM; both empty: plain HTTP
  std::string base_path;  // "/api" or empty
  std::string spool_dir;  // for files of forms; exclusive to this process: start() removes leftovers
  cors_settings cors;
  site_settings site;
  std::vector<std::string> trusted_proxies;  // addresses or CIDR blocks
  access_log access = access_log::on;

  std::size_t max_header_bytes = 48 * 1024;
  std::size_t max_target_bytes = 8 * 1024;
  std::uint64_t max_body_bytes = 1024 * 1024;
  std::size_t max_connections = 20'000;
  // Per peer address (IPv6: /64), except trusted proxies; at most the free part of max_connections. 0: no limit.
  std::size_t address_connections = 0;
  std::size_t stream_queue_bytes = 1024 * 1024;
  std::size_t stream_queue_pieces = 1024;
  std::uint64_t form_max_total_bytes = 1024ull * 1024 * 1024;  // if the caller sets no limit
  // Limits per account (per address without an account) and in total; 0: no limit.
  quota_limits unsent_bytes;  // response bytes buffered for slow clients
  quota_limits bodies;  // request bodies being received
  quota_limits spool_bytes;  // received form bytes, until their requests end

  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds idle_timeout{75'000};  // keep-alive, between requests
  std::chrono::milliseconds body_idle_timeout{20'000};  // between two reads of the body
  std::uint64_t body_min_rate = 512;  // bytes/s, after body_rate_grace
  std::chrono::milliseconds body_rate_grace{15'000};  // also the window of body_min_rate
  std::chrono::milliseconds body_timeout{0};  // for a whole body; 0: no limit
  std::chrono::milliseconds auth_timeout{10'000};  // for authentication; 503 afterwards
  std::chrono::milliseconds request_timeout{30'000};  // until the answer; a route may set its own
  // The window of read_min_rate. If a client with unsent bytes reads less than that, the server closes the connection.
  std::chrono::milliseconds write_stall_timeout{30'000};
  std::uint64_t read_min_rate = 1024;  // bytes/s; 0: no minimum
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
struct rooms {
  exec::loop_pool* loops = nullptr;
  authenticator* auth = nullptr;  // null: all routes except public ones answer 401
  exec::blocking_pool* blocking = nullptr;  // for spool files and for files to send
  observe::tracer* tracer = nullptr;  // null: tracing is off
  request_gate* gate = nullptr;  // null: no rate limits
};

// Serves HTTP for the host. Lifetime: created before the modules' create(), destroyed after the last module (request
// handles point into it) and before or right after the loops are joined. Threads: call members on the main thread
// unless marked otherwise, never on a loop. Errors: start() throws std::runtime_error with a message that names the
// address or file.
class server {
 public:
  server(rooms r, settings s);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  // Adds a host route to every table published from now on.
  void add_host_route(host_route route);
  const std::vector<host_route>& host_routes() const noexcept;
  // Replaces all module routes. After this returns, no new request reaches a removed route; in-flight requests hold
  // their owner (see ry_host::outstanding). Throws std::invalid_argument for an invalid or duplicate pattern, and
  // keeps the old table.
  void publish(std::vector<module::route> routes);
  // Drains the routes of these owners after their removal: their streams get RY_WHY_SHUTDOWN, their requests go on.
  // When time_is_up() returns true, closes the connections of the remaining ones; returns their number.
  std::size_t part_with(const std::vector<ry_host*>& owners, const std::function<bool()>& time_is_up);
  // Listens on the bound socket.
  void start(listener at);
  // Binds and listens.
  void start();
  // Loads PEM files for new TLS connections; open connections keep their certificate. Returns the end of its validity.
  // Requires that the server was started with TLS. Throws std::runtime_error that names the invalid file. [any]
  std::string use_certificate(const std::string& cert_file, const std::string& key_file);
  std::uint16_t port() const noexcept;
  // Drains the server: connections finish their request; on_cancel and stream_on_close get RY_WHY_SHUTDOWN. New
  // clients reach only host routes and get 503 with Retry-After for others; on an inherited listener they wait in the
  // backlog for the next server. The listener closes at the deadline, or when all connections accepted before the
  // drain have ended and `done` returns true (empty: always true); the remaining connections are then closed. Returns
  // when no connection is left.
  void drain(std::chrono::steady_clock::time_point deadline, const std::function<bool()>& done = {});

  server_stats stats() const;  // [any]

  struct impl;

 private:
  std::shared_ptr<impl> impl_;
};

}  // namespace ry::http
