// The egress client behind ry.http_client/1: outgoing HTTP/1.1 requests with an address guard against SSRF, streamed
// responses, a connection pool per loop, and enforced deadlines.
//
// Lifetime: created before the first module; stop() it while the loops still run; destroy it after the loops are
// joined and before they are destroyed. A request stays on the loop of its executor; its handler is called inline
// there. Errors: reasons as in
// ry/if/http_client.h, and RY_INVALID_ARGUMENT "http_client.request" for a method or header
// that cannot be sent, and RY_RESOURCE_EXHAUSTED "http_client.too_large".
#pragma once

#include <ry/if/http_client.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/error.hpp"
#include "core/exec/loop.hpp"
#include "core/http/client/client_settings.hpp"
#include "core/http/client/resolver.hpp"
#include "core/module/host.hpp"
#include "core/observe/tracer.hpp"

namespace ry::exec {
class op_table;
}

namespace ry::http {

struct exchange_request;

// A request of the host itself; its response is buffered completely.
struct fetch_request {
  std::string method = "GET", url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::uint32_t flags = 0;  // RY_CLIENT_*
  std::chrono::milliseconds timeout{10'000};
  std::uint64_t max_bytes = 1024 * 1024;
};
struct fetch_result {
  core::error error;  // error.status == RY_OK: a response arrived
  std::uint32_t status = 0;  // HTTP
  std::uint32_t retry_after_s = 0;  // from the Retry-After of the server
  std::string body;
};

class client {
 public:
  // Throws std::runtime_error with a readable message when the certificates are unusable.
  client(exec::loop_pool& loops, exec::op_table& ops, client_settings settings);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // ry.http_client/1; `host` may be nullptr for the host's own requests. [any]
  ry_status request(const ry_host* host, ry_exec* exec, const ry_client_request& request,
                    const ry_client_handler& handler, void* ctx, ry_op_id* op);
  void resume(ry_op_id op);
  // Posts a task to the loop that closes its idle connections with this pool_key. [any]
  void drop_idle(ry_exec* exec, std::string pool_key);
  ry_status check_url(std::string_view url) const;
  // Registers these certificates; returns their id for ry_client_request::trust. Throws std::runtime_error with a
  // readable message when they are unusable, std::length_error when there are too many sets. Parsing is slow: do not
  // call it on a loop.
  std::uint64_t trust(std::string_view pem);

  // Calls `done` once on exec, or drops it when the loops end first. [any]
  void fetch(ry_exec* exec, const fetch_request& request, std::function<void(fetch_result)> done);

  // Refuses new requests and ends the running ones with RY_CANCELLED. [any]
  void stop();

  const client_stats& stats() const noexcept;
  resolver_stats lookups() const;

 private:
  struct impl;
  void trace(const ry_client_request& r, exchange_request& x) const;
  void route(const ry_client_request& r, exchange_request& x) const;
  std::unique_ptr<impl> impl_;
};

// The ABI table of ry.http_client/1. Its functions find the client through host->rt. [any]
const ry_http_client_v1& http_client_v1() noexcept;

}  // namespace ry::http
