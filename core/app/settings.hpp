// From the checked configuration to the settings of each room. What has the right form and still
// cannot be used (an address, a file) is added to the configuration's faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/app/config/config.hpp"
#include "core/app/span_exporter.hpp"
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
// "127.0.0.1:8080", "[::1]:0", "localhost:8080", "*:8080", ":8080" (the last two: all IPv4
// addresses).
std::optional<listen_address> parse_listen(std::string_view text);
// "http://127.0.0.1:8080" as clients of this machine write it.
std::string base_url(const listen_address& at, std::uint16_t port, bool tls);

observe::log_settings log_settings(const config::config& c);
http::settings http_settings(config::config& c);
// Refuses a colour on which buttons could not be seen.
void check_brand(config::config& c);
// Refuses an address that cannot be one, before anybody waits for it.
void check_database(config::config& c);
db::settings db_settings(const config::config& c);
auth::settings auth_settings(config::config& c);
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY, the spelling in small letters first.
http::environment_proxies::variables proxy_variables(const config::environment& env);
http::client_settings egress_settings(config::config& c);
jobs::queue_settings queue_settings(const config::config& c);
observe::trace_settings trace_settings(const config::config& c);
exporter_settings trace_exporter_settings(const config::config& c);
limits::settings limit_settings(const config::config& c);
// Keys of secrets.key, secrets.key_file and secrets.old_keys, the present one first.
std::vector<std::string> secret_keys(config::config& c);

}  // namespace ry::app
