// The HTTP/1.1 server: one acceptor, a worker per event loop, routes of modules and of the host.
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

// The table behind "ry.http/1". One for the process: its handles know their server. [any]
const ry_http_v1& http_interface() noexcept;

// What a request brought to prove who is calling. Borrowed.
struct credential {
  enum class kind { bearer, query_token };
  kind from = kind::bearer;
  std::string_view value;
  std::string_view path;  // without http.base_path: a query token is good for one path only
};

// RY_OK with `who`; RY_UNAUTHENTICATED: 401; anything else: 503. `owner` keeps the strings alive.
struct verdict {
  ry_status status = RY_UNAUTHENTICATED;
  ry_principal who{};
  std::shared_ptr<const void> owner;
};

// Implemented by core/app over core/auth; lives longer than the server.
class authenticator {
 public:
  virtual ~authenticator() = default;
  // The verdict when it is known without waiting; else nullopt, and `later` is called exactly once,
  // on `exec`, never inside the call. `c` is borrowed-in. Called on `exec`.
  virtual std::optional<verdict> authenticate(const credential& c, ry_exec* exec,
                                              std::function<void(verdict)> later) = 0;
  // Whether the credential of a verdict (`owner`) was revoked, so that its open streams must end. revocations() grows
  // with each revocation. [any]
  virtual bool revoked(const std::shared_ptr<const void>& /*owner*/) const { return false; }
  virtual std::uint64_t revocations() const noexcept { return 0; }
};

// What a caller may still ask, as its answers say (RateLimit-*).
struct gate_verdict {
  bool allowed = true;
  std::uint64_t limit = 0, remaining = 0;
  std::uint32_t reset_s = 0, retry_after_s = 1;
};

// Implemented by core/limits; lives longer than the server. Decides at once; called on the loops, for routes
// of modules.
class request_gate {
 public:
  virtual ~request_gate() = default;
  // nullopt: no limit is set. Asked before the caller is known.
  virtual std::optional<gate_verdict> by_address(std::string_view address) = 0;
  virtual std::optional<gate_verdict> by_account(std::string_view subject) = 0;
  // A place for a stream or another long request, free again when the last copy goes; null: all are taken.
  virtual std::shared_ptr<const void> seat(std::string_view subject) = 0;
};

enum class access_log { off, on };

struct cors_settings {
  std::vector<std::string> origins;  // exact; "*" = any; empty = no CORS at all
  enum class credentials { no, yes } allow_credentials = credentials::no;
  std::chrono::seconds max_age{600};
};

struct settings {
  std::string address = "127.0.0.1";        // numeric
  std::uint16_t port = 8080;                // 0 picks a free one
  std::string tls_cert_file, tls_key_file;  // PEM; both empty: plain HTTP
  std::string base_path;                    // "/api" or empty
  std::string spool_dir;  // for files of forms; this process's own: start() removes leftovers
  cors_settings cors;
  site_settings site;
  std::vector<std::string> trusted_proxies;  // addresses or CIDR blocks
  access_log access = access_log::on;

  std::size_t max_header_bytes = 48 * 1024;
  std::size_t max_target_bytes = 8 * 1024;
  std::uint64_t max_body_bytes = 1024 * 1024;
  std::size_t max_connections = 20'000;
  // Per peer address (IPv6: /64), except trusted proxies; also no more than are left of max_connections. 0: no limit.
  std::size_t address_connections = 0;
  std::size_t stream_queue_bytes = 1024 * 1024;
  std::size_t stream_queue_pieces = 1024;
  std::uint64_t form_max_total_bytes = 1024ull * 1024 * 1024;  // where the caller gives no limit
  // Limits per account (per address without an account) and in total; 0: no limit.
  quota_limits unsent_bytes;  // of answers that wait for slow clients
  quota_limits bodies;        // request bodies that are being received
  quota_limits spool_bytes;   // received bytes of forms until their requests end

  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds idle_timeout{75'000};       // keep-alive, between requests
  std::chrono::milliseconds body_idle_timeout{20'000};  // no byte of the body
  std::uint64_t body_min_rate = 512;                    // bytes/s, after body_rate_grace
  std::chrono::milliseconds body_rate_grace{15'000};  // also the window of body_min_rate
  std::chrono::milliseconds body_timeout{0};          // for a whole body; 0: no limit
  std::chrono::milliseconds auth_timeout{10'000};  // for the verdict on a credential, then 503
  std::chrono::milliseconds request_timeout{30'000};  // until the answer; routes may differ
  // The window of read_min_rate. While unsent bytes wait, a client that reads less in it is cut.
  std::chrono::milliseconds write_stall_timeout{30'000};
  std::uint64_t read_min_rate = 1024;  // bytes/s; 0: any
};

// Answer of a route of the host itself.
struct host_answer {
  std::uint32_t status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// Where a host route runs: `loop` must be quick, `blocking` may take its time.
enum class runs_on { loop, blocking };

struct host_route {
  std::string method, pattern;
  std::function<host_answer(const ry_request_view&)> handle;
  runs_on where = runs_on::loop;
  std::uint32_t flags = RY_ROUTE_PUBLIC | RY_ROUTE_NO_PREFIX;
};

// What the server needs of the other rooms; all live longer than it.
struct rooms {
  exec::loop_pool* loops = nullptr;
  authenticator* auth = nullptr;            // null: every route that is not public answers 401
  exec::blocking_pool* blocking = nullptr;  // for spool files and files that are sent
  observe::tracer* tracer = nullptr;        // null: nothing is traced
  request_gate* gate = nullptr;             // null: nothing is limited
};

// Lifetime: made before the modules' create(), destroyed after the last module is destroyed
// (handles of requests point into it) and before the loops are joined or right after. Threads: all
// members are for the main thread unless said otherwise; none may be called on a loop. Errors:
// start() throws std::runtime_error with a sentence that names address or file.
class server {
 public:
  server(rooms r, settings s);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  // Routes of the host; they stand in every table published from now on.
  void add_host_route(host_route route);
  const std::vector<host_route>& host_routes() const noexcept;
  // Replaces all routes of modules. When this returns, no request can reach a route that is no
  // longer in the list (requests under way hold their owner, see ry_host::outstanding). Throws
  // std::invalid_argument for a pattern that is wrong or registered twice; the old table stays
  // then.
  void publish(std::vector<module::route> routes);
  // Streams of these owners, which have no route any more, are told RY_WHY_SHUTDOWN; their requests go on.
  // What is left when the time is up is cut; returns how many these were.
  std::size_t part_with(const std::vector<ry_host*>& owners, const std::function<bool()>& time_is_up);
  // Listens on what was bound before. Idle connections cost nothing until the first one comes.
  void start(listener at);
  // Binds and listens.
  void start();
  // PEM files for TLS connections from now on; those that are open keep theirs. Returns until when the certificate is valid.
  // Only if the server was started with TLS. Throws std::runtime_error naming the file that is wrong. [any]
  std::string use_certificate(const std::string& cert_file, const std::string& key_file);
  std::uint16_t port() const noexcept;
  // Connections finish their request, on_cancel and stream_on_close get RY_WHY_SHUTDOWN. Whoever
  // connects meanwhile gets the host's own routes, and 503 with Retry-After for all others; on an
  // inherited listener it waits for the next server. When
  // the last of the others has gone and `done` says that nothing else is under way (empty: nothing is),
  // or at the deadline, the listener is closed and what is left is cut. Returns when no connection is
  // left.
  void drain(std::chrono::steady_clock::time_point deadline, const std::function<bool()>& done = {});

  server_stats stats() const;  // [any]

  struct impl;

 private:
  std::shared_ptr<impl> impl_;
};

}  // namespace ry::http
