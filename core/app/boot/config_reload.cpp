#include "core/app/boot/config_reload.hpp"

#include <cerrno>
#include <cstring>

#include "core/app/boot/settings.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

using observe::level;

std::string open_log(const config::config& c) {
  auto log = log_settings(c);
  log.file = c.text("log.file");
  if (observe::configure_log(log)) return {};
  return "log.file " + log.file + " cannot be opened: " + std::strerror(errno);
}

config_reload::config_reload(config_options options, config::config& running, http::server& server,
                             const db::settings& database)
    : options_(std::move(options)), running_(running), server_(server), database_(database) {}

config_reload::outcome config_reload::run() {
  outcome out;
  const auto refuse = [&](const std::string& why) {
    observe::log(level::error, "host", "the configuration was not reloaded", {{"reason", why}});
    out.ok = false;
  };
  // Reopens the log first: a rotated file must be released even if the configuration is invalid.
  if (const auto why = open_log(running_); !why.empty()) refuse(why);
  auto fresh = load_config(options_);
  if (!fresh.faults().empty()) {
    for (const auto& fault : fresh.faults()) refuse(fault.format());
    return out;
  }
  for (const auto& secret : fresh.secret_texts()) observe::redact(secret);
  if (const auto why = open_log(fresh); !why.empty()) refuse(why);
  out.certificate = renew_certificate(fresh);
  out.database = renew_database(fresh);
  return out;
}

std::string config_reload::renew_certificate(const config::config& fresh) {
  const auto cert = fresh.text("http.tls.cert"), key = fresh.text("http.tls.key");
  if (cert.empty() != running_.text("http.tls.cert").empty()) return "needs a restart";
  if (cert.empty()) return "none";
  try {
    return "valid until " + server_.use_certificate(cert, key);
  } catch (const std::runtime_error& e) {  // the file was replaced after the configuration was checked
    observe::log(level::error, "host", "the certificate was not reloaded", {{"reason", e.what()}});
    return "kept";
  }
}

std::string config_reload::renew_database(const config::config& fresh) {
  const auto url = fresh.text("database.url"), direct = fresh.text("database.direct_url");
  if (url.empty() != running_.text("database.url").empty() ||
      direct.empty() != running_.text("database.direct_url").empty())
    return "needs a restart";
  if (url.empty()) return "private PostgreSQL, nothing to reload";
  const bool moved = database_.connect.live->set(url);
  const bool direct_moved = database_.direct_live->set(direct);
  return moved || direct_moved ? "new address or credentials for new connections" : "unchanged";
}

}  // namespace ry::app
