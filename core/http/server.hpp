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
#include "core/http/services.hpp"
#include "core/http/settings.hpp"
#include "core/http/site.hpp"
#include "core/http/stats.hpp"
#include "core/module/registration.hpp"

namespace ry::observe {
class tracer;
}

namespace ry::http {

// The ABI table of ry.http/1. One per process: each handle identifies its server. [any]
const ry_http_v1& http_v1() noexcept;

// Serves HTTP for the host. Lifetime: created before the modules' create(), destroyed after the last module (request
// handles point into it) and before or right after the loops are joined. Threads: call members on the main thread
// unless marked otherwise, never on a loop. Errors: start() throws std::runtime_error with a message that names the
// address or file.
class server {
 public:
  server(server_context r, settings s);
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
  // Drains the routes of these owners after their removal: their streams get RY_REASON_SHUTDOWN, their requests
  // continue. When time_is_up() returns true, closes the connections of the remaining ones; returns their number.
  std::size_t end_requests_of(const std::vector<ry_host*>& owners, const std::function<bool()>& time_is_up);
  // Listens on the bound socket.
  void start(listener at);
  // Binds and listens.
  void start();
  // Loads PEM files for new TLS connections; open connections keep their certificate. Returns the end of its validity.
  // Requires that the server was started with TLS. Throws std::runtime_error that names the invalid file. [any]
  std::string use_certificate(const std::string& cert_file, const std::string& key_file);
  std::uint16_t port() const noexcept;
  // Drains the server: connections finish their request; on_cancel and stream_on_close get RY_REASON_SHUTDOWN. New
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
