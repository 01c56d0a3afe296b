#include "core/app/boot/settings.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <ry/cpp/color.hpp>
#include <set>
#include <stdexcept>
#include <variant>

#include "core/app/boot/descriptors.hpp"
#include "core/auth/jwks.hpp"
#include "core/auth/role_rules.hpp"
#include "core/auth/secret_box.hpp"
#include "core/db/url.hpp"
#include "core/http/cidr.hpp"
#include "core/http/client/target.hpp"
#include "core/http/client/tls.hpp"
#include "core/http/tls.hpp"

namespace ry::app {

namespace {

bool numeric(const std::string& address) {
  in_addr v4;
  in6_addr v6;
  return inet_pton(AF_INET, address.c_str(), &v4) == 1 || inet_pton(AF_INET6, address.c_str(), &v6) == 1;
}

// The path of a readable file; empty if none is set or it was rejected.
std::string need_file(config::config& c, const char* key) {
  const auto path = c.text(key);
  if (path.empty() || ::access(path.c_str(), R_OK) == 0) return path;
  c.refuse(key, "the file " + path + " cannot be read");
  return {};
}

// Adds the error that `use` throws to the faults.
template <class Use>
void try_out(config::config& c, const char* key, Use use) {
  try {
    use();
  } catch (const std::exception& e) {
    c.refuse(key, e.what());
  }
}

// Browsers send scheme, host and port in lower case, without the scheme's default port.
bool may_be_origin(std::string_view text) {
  if (text == "*" || text == "null") return true;
  const auto scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return false;
  const auto rest = text.substr(scheme + 3);
  if (rest.empty() || rest.find_first_of("/?#@ ") != std::string_view::npos) return false;
  if ((text.starts_with("http://") && text.ends_with(":80")) ||
      (text.starts_with("https://") && text.ends_with(":443")))
    return false;
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Does not repeat the URL, which may contain a password.
void check_public_url(config::config& c, const std::string& url) {
  const auto host = url.find("://");
  // The schema refuses these.
  if (host == std::string::npos || host + 3 == url.size() || url.find_first_of(" \t\r\n") != std::string::npos) return;
  const auto parsed = http::parse_target(url);
  if (const auto* problem = std::get_if<std::string>(&parsed))
    c.refuse("http.public_url", "cannot be used: " + *problem);
  else if (std::get<http::target>(parsed).path.find('?') != std::string::npos || url.find('#') != std::string::npos)
    c.refuse("http.public_url", "must not have a query or a fragment");
}

void check_role_claims(config::config& c, const std::string& key, const std::vector<std::string>& paths) {
  for (const auto& path : paths)
    if (auth::is_user_editable(path))
      c.refuse(key, "\"" + path + "\" must not name roles: users can edit this claim themselves");
}

void check_key_set_file(config::config& c, const std::string& key) {
  const auto path = need_file(c, key.c_str());
  if (path.empty()) return;
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string why;
  if (!auth::parse_jwks(text, &why)) c.refuse(key, "the file " + path + ": " + why);
}

// The settings that auth.jwt and each table of auth.issuers have in common.
auth::issuer_settings issuer_settings(config::config& c, const std::string& at) {
  const auto key = [&at](const char* name) { return at + "." + name; };
  auth::issuer_settings s;
  s.name = at;
  s.hs256_secret = c.text(key("hs256_secret"));
  if (!s.hs256_secret.empty() && s.hs256_secret.size() < 32)
    c.refuse(key("hs256_secret"), "must have at least 32 characters; a shorter one can be guessed");
  check_key_set_file(c, key("jwks_file"));
  s.jwks_url = c.text(key("jwks_url"));
  s.jwks_file = c.text(key("jwks_file"));
  s.issuer = c.text(key("issuer"));
  s.audiences = c.list(key("audience"));
  s.leeway_s = c.integer(key("leeway_seconds"));
  s.roles = {c.list(key("role_claims")), c.list(key("admin_roles")), c.list(key("super_admin_roles"))};
  check_role_claims(c, key("role_claims"), s.roles.claims);
  return s;
}

bool is_issuer_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == name.npos;
}

}  // namespace

std::optional<listen_address> parse_listen(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  listen_address out;
  const auto digits = text.substr(colon + 1);
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (digits.empty() || r.ec != std::errc{} || r.ptr != digits.data() + digits.size()) return std::nullopt;
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  out.address = host.empty() || host == "*" ? "0.0.0.0" : host == "localhost" ? "127.0.0.1" : host;
  if (!numeric(out.address)) return std::nullopt;
  return out;
}

std::string base_url(const listen_address& at, std::uint16_t port, bool tls) {
  std::string host = at.address;
  // Clients cannot connect to the wildcard address.
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (tls ? "https://" : "http://") + host + ":" + std::to_string(port);
}

observe::log_settings log_settings(const config::config& c) {
  static const std::pair<const char*, observe::level> levels[] = {
      {"trace", observe::level::trace}, {"debug", observe::level::debug}, {"info", observe::level::info},
      {"warn", observe::level::warn},   {"error", observe::level::error}, {"off", observe::level::off}};
  observe::log_settings s;
  for (const auto& [name, level] : levels)
    if (c.text("log.level") == name) s.min = level;
  s.json = c.text("log.format") == "json";
  return s;
}

http::settings http_settings(config::config& c) {
  http::settings s;
  if (const auto at = parse_listen(c.text("http.listen"))) {
    s.address = at->address;
    s.port = at->port;
  } else {
    c.refuse("http.listen", "must be ADDRESS:PORT with a numeric address, e.g. 127.0.0.1:8080 or [::1]:0");
  }
  const auto cert = need_file(c, "http.tls.cert"), key = need_file(c, "http.tls.key");
  if (!cert.empty() && !key.empty())
    try_out(c, "http.tls.cert", [&] { const http::serving::tls_context usable(cert, key); });
  s.tls_cert_file = c.text("http.tls.cert");
  s.tls_key_file = c.text("http.tls.key");
  s.base_path = c.text("http.base_path");
  s.cors.origins = c.list("http.cors.origins");
  for (const auto& origin : s.cors.origins)
    if (!may_be_origin(origin))
      c.refuse("http.cors.origins", "\"" + origin +
                                        "\" is not an origin as browsers send it, such as "
                                        "\"https://app.example.org\": no page would match");
  s.cors.allow_credentials = c.flag("http.cors.allow_credentials") ? http::cors_settings::credentials::yes
                                                                   : http::cors_settings::credentials::no;
  if (s.cors.allow_credentials == http::cors_settings::credentials::yes &&
      std::find(s.cors.origins.begin(), s.cors.origins.end(), "*") != s.cors.origins.end())
    c.refuse("http.cors.allow_credentials",
             "cannot be true if http.cors.origins contains \"*\": browsers reject this combination. List the origins.");
  s.cors.max_age = std::chrono::seconds(c.integer("http.cors.max_age_seconds"));
  const bool local = c.text("deployment.mode") == "local";
  s.site.public_url = c.text("http.public_url");
  check_public_url(c, s.site.public_url);
  s.site.hosts = c.list("http.allowed_hosts");
  if (local || !s.site.public_url.empty()) s.site.check = http::site_settings::checks::on;
  if (local) s.site.applies_to = http::site_settings::scope::everyone;
  s.trusted_proxies = c.list("http.trusted_proxies");
  try_out(c, "http.trusted_proxies", [&] { const http::serving::address_set usable(s.trusted_proxies); });
  s.access = c.flag("http.access_log") ? http::access_log::on : http::access_log::off;
  const auto size = [&](const char* key) { return static_cast<std::size_t>(c.integer(key)); };
  s.max_header_bytes = size("http.max_header_bytes");
  s.max_target_bytes = size("http.max_target_bytes");
  s.max_body_bytes = size("http.max_body_bytes");
  s.form_max_total_bytes = size("http.max_form_bytes");
  s.max_connections = max_client_connections(size("http.max_connections"), descriptor_limit());
  s.stream_queue_bytes = size("http.stream_queue_bytes");
  s.stream_queue_pieces = size("http.stream_queue_pieces");
  s.header_timeout = c.duration("http.header_timeout_seconds");
  s.idle_timeout = c.duration("http.idle_timeout_seconds");
  s.body_idle_timeout = c.duration("http.body_idle_timeout_seconds");
  s.body_min_rate = size("http.body_min_rate_bytes");
  s.request_timeout = c.duration("http.request_timeout_seconds");
  s.write_stall_timeout = c.duration("http.write_stall_timeout_seconds");
  s.body_timeout = c.duration("http.body_timeout_seconds");
  s.read_min_rate = size("http.read_min_rate_bytes");
  s.address_connections = size("http.limits.address_connections");
  s.unsent_bytes = {size("http.limits.account_unsent_bytes"), size("http.limits.unsent_bytes")};
  s.bodies = {size("http.limits.account_uploads"), size("http.limits.uploads")};
  s.spool_bytes = {size("http.limits.account_upload_bytes"), size("http.limits.upload_bytes")};
  return s;
}

void check_brand(config::config& c) {
  constexpr double least = 3;  // WCAG 2.2, 1.4.11
  const auto color = ry::color::parse(c.text("brand.color"));
  if (!color) return;  // the schema has already rejected it
  const double ratio = ry::contrast(*color, {255, 255, 255});
  if (ratio >= least) return;
  char text[160];
  std::snprintf(text, sizeof text, "its contrast with white is %.1f:1, but buttons need 3:1: choose a darker color",
                ratio);
  c.refuse("brand.color", text);
}

void check_database(config::config& c) {
  if (const auto url = c.text("database.url"); !url.empty() && !db::usable_url(url))
    c.refuse("database.url",
             "must be the URL of a PostgreSQL database, postgresql://user:password@host/name, or "
             "empty for a private one");
  const auto direct = c.text("database.direct_url");
  if (direct.empty()) return;
  if (!db::usable_url(direct))
    c.refuse("database.direct_url",
             "must be the URL of the PostgreSQL server itself, postgresql://user:password@host/name, "
             "or empty if database.url already is that URL");
  if (c.text("database.url").empty())
    c.refuse("database.direct_url",
             "can be set only if database.url points to a pooler; the private PostgreSQL has no pooler");
}

db::settings db_settings(const config::config& c) {
  db::settings s;
  s.connect.url = c.text("database.url");
  s.direct_url = c.text("database.direct_url");
  s.connect.live = std::make_shared<db::live_url>(s.connect.url);
  s.direct_live = std::make_shared<db::live_url>(s.direct_url);
  if (!s.direct_url.empty()) s.connect.at = db::endpoint::transaction_pooler;
  s.connect.statement_timeout = c.duration("database.statement_timeout_seconds");
  s.connect.transaction_timeout = c.duration("database.transaction_timeout_seconds");
  s.workers = static_cast<std::size_t>(c.integer("database.connections"));
  s.max_transactions = static_cast<std::size_t>(c.integer("database.transactions"));
  s.max_queue = static_cast<std::size_t>(c.integer("database.max_queue"));
  return s;
}

auth::settings auth_settings(config::config& c) {
  auth::settings s;
  s.main = issuer_settings(c, "auth.jwt");
  const std::string table = "auth.issuers";
  std::set<std::string> seen{std::string(auth::own_issuer), s.main.issuer};
  for (const auto& name : c.names(table)) {
    const auto at = table + "." + name;
    if (!is_issuer_name(name)) {
      c.refuse(table, "the name \"" + name + "\" must have 1 to 64 letters, digits, \"_\" and \"-\"");
      continue;
    }
    auto i = issuer_settings(c, at);
    i.subject_prefix = c.has(at + ".subject_prefix") ? c.text(at + ".subject_prefix") : name + ":";
    if (!seen.insert(i.issuer).second)
      c.refuse(at + ".issuer", "is already used by another table, or by the server's own tokens");
    if (i.jwks_url.empty() && i.jwks_file.empty() && i.hs256_secret.empty())
      c.refuse(at, "needs jwks_url, jwks_file or hs256_secret");
    if (!i.jwks_url.empty() && !i.jwks_file.empty())
      c.refuse(at + ".jwks_file", "cannot be combined with " + at + ".jwks_url; keep one");
    s.issuers.push_back(std::move(i));
  }
  return s;
}

http::environment_proxies::variables proxy_variables(const config::environment& env) {
  const auto value = [&env](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const auto it = env.find(std::string_view(name)); it != env.end() && !it->second.empty()) return it->second;
    return std::string();
  };
  return {value({"http_proxy", "HTTP_PROXY"}), value({"https_proxy", "HTTPS_PROXY"}), value({"no_proxy", "NO_PROXY"})};
}

http::client_settings egress_settings(config::config& c) {
  if (const auto path = need_file(c, "egress.ca_file"); !path.empty())
    try_out(c, "egress.ca_file", [&] { const http::tls_context usable(path); });
  http::client_settings s;
  s.guard = c.text("deployment.mode") == "local" ? http::address_guard::off : http::address_guard::on;
  s.ca_file = c.text("egress.ca_file");
  s.idle_limits.total = static_cast<std::size_t>(c.integer("egress.idle_connections"));
  s.idle_limits.per_key = static_cast<std::size_t>(c.integer("egress.idle_connections_per_host"));
  s.idle_limits.idle = c.duration("egress.idle_seconds");
  s.account_lookups = static_cast<std::size_t>(c.integer("egress.account_lookups"));
  s.propagate = trace_settings(c).propagate;
  const auto proxies = proxy_variables(config::process_environment());
  for (const auto& address : {proxies.http, proxies.https})
    if (address.find('@') != std::string::npos) observe::redact(address);
  s.proxies = http::environment_proxies(proxies);
  return s;
}

observe::trace_settings trace_settings(const config::config& c) {
  using observe::trace_settings;
  trace_settings s;
  s.record = c.text("tracing.endpoint").empty() ? observe::recording::off : observe::recording::on;
  s.ratio = c.number("tracing.ratio");
  s.max_queue = static_cast<std::size_t>(c.integer("tracing.max_queue"));
  s.batch = std::min(s.max_queue, static_cast<std::size_t>(c.integer("tracing.batch")));
  const auto accept = c.text("tracing.accept"), propagate = c.text("tracing.propagate");
  s.accept = accept == "none"              ? trace_settings::callers::none
             : accept == "trusted_proxies" ? trace_settings::callers::trusted_proxies
                                           : trace_settings::callers::all;
  s.propagate = propagate == "none"        ? trace_settings::receivers::none
                : propagate == "operators" ? trace_settings::receivers::operators
                                           : trace_settings::receivers::all;
  return s;
}

exporter_settings trace_exporter_settings(const config::config& c) {
  exporter_settings s;
  s.url = c.text("tracing.endpoint");
  if (s.url.empty()) return s;
  while (s.url.ends_with('/')) s.url.pop_back();
  s.url += "/v1/traces";
  for (const auto& line : c.list("tracing.headers")) {
    const auto colon = line.find(": ");
    s.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  s.interval = c.duration("tracing.interval_seconds");
  s.timeout = c.duration("tracing.timeout_seconds");
  s.resource = {{"service.name", c.text("tracing.service_name")},
                {"deployment.environment.name", c.text("deployment.mode")}};
  return s;
}

jobs::queue_settings queue_settings(const config::config& c) {
  jobs::queue_settings s;
  s.lease = c.duration("jobs.lease_seconds");
  s.hold = c.duration("jobs.hold_seconds");
  s.heartbeat = s.lease / 4;  // three heartbeats may be lost before the lease expires
  s.poll = c.duration("jobs.poll_seconds");
  s.batch = static_cast<int>(c.integer("jobs.batch"));
  s.weight = static_cast<int>(c.integer("jobs.weight"));
  return s;
}

limits::settings limit_settings(const config::config& c) {
  limits::settings s;
  s.by_address = {c.integer("http.limits.address_per_minute"), c.integer("http.limits.address_burst")};
  s.by_account = {c.integer("http.limits.account_per_minute"), c.integer("http.limits.account_burst")};
  s.streams_per_account = c.integer("http.limits.account_streams");
  return s;
}

std::vector<std::string> secret_keys(config::config& c) {
  std::vector<std::string> keys;
  const auto add = [&](const char* name, std::string key, const std::string& where) {
    if (!auth::secret_box::usable_key(key)) c.refuse(name, where + "must be 32 bytes, as 64 hex digits or as base64");
    keys.push_back(std::move(key));
  };
  if (auto key = c.text("secrets.key"); !key.empty()) add("secrets.key", std::move(key), "");
  (void)need_file(c, "secrets.key_file");
  if (const auto path = c.text("secrets.key_file"); !path.empty()) {
    std::ifstream in(path);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      const auto from = line.find_first_not_of(" \t\r");
      if (from == std::string::npos || line[from] == '#') continue;
      add("secrets.key_file", line.substr(from, line.find_last_not_of(" \t\r") - from + 1),
          "the key in line " + std::to_string(number) + " of " + path + " ");
    }
  }
  const auto old = c.list("secrets.old_keys");
  if (keys.empty() && !old.empty())
    c.refuse("secrets.old_keys", "requires a current key: set secrets.key or secrets.key_file");
  for (std::size_t i = 0; i < old.size(); ++i) add("secrets.old_keys", old[i], "key " + std::to_string(i + 1) + " ");
  return keys;
}

}  // namespace ry::app
