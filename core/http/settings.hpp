// The settings of the HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/http/quota.hpp"
#include "core/http/site.hpp"

namespace ry::http {

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
  std::chrono::milliseconds body_timeout{0};  // for a complete body; 0: no limit
  std::chrono::milliseconds auth_timeout{10'000};  // for authentication; 503 afterwards
  std::chrono::milliseconds request_timeout{30'000};  // until the answer; a route may set its own
  // The window of read_min_rate. If a client with unsent bytes reads less than that, the server closes the connection.
  std::chrono::milliseconds write_stall_timeout{30'000};
  std::uint64_t read_min_rate = 1024;  // bytes/s; 0: no minimum
};

}  // namespace ry::http
