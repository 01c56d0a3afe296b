// Converts the checked configuration to the settings of each core component. A value that is well-formed but
// unusable (an address, a file) is added to the configuration's faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/app/boot/span_exporter.hpp"
#include "core/app/config/config.hpp"
#include "core/auth/authenticator.hpp"
#include "core/db/database.hpp"
#include "core/http/client/client.hpp"
#include "core/http/server.hpp"
#include "core/jobs/queue.hpp"
#include "core/limits/rate_limiter.hpp"
#include "core/observe/log.hpp"
#include "core/observe/tracer.hpp"

namespace ry::app {

struct listen_address {
  std::string address;  // numeric
  std::uint16_t port = 0;
};
// Accepts "127.0.0.1:8080", "[::1]:0", "localhost:8080", "*:8080" and ":8080" (the last two: all IPv4 addresses).
std::optional<listen_address> parse_listen(std::string_view text);
// The URL for clients on this machine, e.g. "http://127.0.0.1:8080".
std::string base_url(const listen_address& at, std::uint16_t port, bool tls);

observe::log_settings log_settings(const config::config& c);
http::settings http_settings(config::config& c);
// Rejects a colour with too little contrast for buttons.
void check_brand(config::config& c);
// Rejects an invalid address before the server waits for it.
void check_database(config::config& c);
db::settings db_settings(const config::config& c);
auth::settings auth_settings(config::config& c);
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY; the lower-case names take precedence.
http::environment_proxies::variables proxy_variables(const config::environment& env);
http::client_settings egress_settings(config::config& c);
jobs::queue_settings queue_settings(const config::config& c);
observe::trace_settings trace_settings(const config::config& c);
exporter_settings trace_exporter_settings(const config::config& c);
limits::settings limit_settings(const config::config& c);
// Keys of secrets.key, secrets.key_file and secrets.old_keys, the current one first.
std::vector<std::string> secret_keys(config::config& c);

}  // namespace ry::app
