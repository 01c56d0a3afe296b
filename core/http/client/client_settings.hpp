// The settings and counters of the egress client.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/http/client/local_addresses.hpp"
#include "core/http/client/pool.hpp"
#include "core/http/client/proxy.hpp"
#include "core/http/client/resolver.hpp"
#include "core/observe/tracer.hpp"

namespace ry::http {

enum class address_guard { on, off };  // off only in deployment.mode = local

struct client_settings {
  address_guard guard = address_guard::on;
  std::string ca_file;  // PEM, trusted in addition to the system's certificates; empty = none
  std::string user_agent = "runyard";
  pool::limits idle_limits;
  observe::trace_settings::receivers propagate = observe::trace_settings::receivers::all;
  resolver::lookup_fn lookup = resolver::system_lookup;
  std::size_t account_lookups = resolver::options().per_account;  // concurrent lookups of one account
  local_addresses::list_fn interfaces = local_addresses::read_interfaces;
  environment_proxies proxies;  // for requests with RY_CLIENT_ENVIRONMENT_PROXY
};

// Counters since the start, and the gauge `active`.
struct client_stats {
  std::atomic<std::uint64_t> requests{0}, connections_opened{0}, connections_reused{0};
  std::atomic<std::uint64_t> retries{0}, refused{0}, failed{0};
  std::atomic<std::int64_t> active{0};
};

}  // namespace ry::http
