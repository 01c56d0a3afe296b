// Settings of sign-up and log-in without an identity provider, and of the identity webhook.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "password.hpp"

namespace ry {
class settings_faults;
}

namespace accounts {

enum class verification {
  email,  // an account is created when the link in an e-mail is opened
  none  // an account is created immediately; for a server that only its own machine can reach
};

// An identity provider that may send messages to the identity webhook.
struct webhook_sender {
  std::string subject_prefix;  // prefix of the subjects in its messages, as auth.issuers.NAME.subject_prefix
  std::vector<std::string> keys;  // signing keys, decoded
  std::vector<std::string> tokens;  // SHA-256 of each token, for senders that cannot sign
};

struct login_settings {
  bool enabled = false;  // accounts.local_login
  verification verify = verification::email;  // accounts.login.*
  std::string setup_code;  // code that the first sign-up requires; empty: none
  std::string app_url;  // base URL of links in e-mails, without a trailing slash
  std::size_t min_password = 10;
  hash_cost cost;
  std::size_t hash_parallel = 2;
  std::int64_t access_seconds = 900;
  std::int64_t session_days = 30;
  std::int64_t verify_hours = 24;
  std::int64_t reset_minutes = 30;
  std::int64_t attempts_per_network = 120;  // of each kind, per hour

  // accounts.identity_webhook, and accounts.identity_webhook.issuers.NAME. Empty: no such webhook.
  std::vector<webhook_sender> webhook_senders;
};

// `public_url`, `base_path` and `mode` are the host's. Adds unusable values to `faults`.
login_settings read_login_settings(const boost::json::object& settings, std::string_view public_url,
                                   std::string_view base_path, std::string_view mode, ry::settings_faults& faults);

}  // namespace accounts
