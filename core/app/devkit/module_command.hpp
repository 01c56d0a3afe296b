// Commands that a module carries out (ry/ext/command.h) without a server. The modules are created as in `runyard
// check`, and outgoing HTTP works.
#pragma once

#include <optional>
#include <string>

#include "core/app/boot/load_config.hpp"
#include "core/app/config/exit_code.hpp"

namespace ry::app {

struct model_check_options {
  std::string model;  // alias or provider/model
  long long timeout_seconds = 60;  // for one response
  std::optional<long long> total_timeout_seconds;  // for all responses; nullopt: five times timeout_seconds
  format as = format::text;
};
// `runyard model check`: queries the configured provider and prints its capabilities.
exit_code check_model(const config_options& options, const model_check_options& check);

struct mail_check_options {
  std::string dns_server;  // ADDRESS:PORT; empty: those of the system
  format as = format::text;
};
// `runyard check --mail`: checks the relay and the DNS records of the sender's domain. The report is written to
// `report`, or to standard output if that is nullptr.
exit_code check_mail(const config_options& options, const mail_check_options& check, std::string* report);

}  // namespace ry::app
