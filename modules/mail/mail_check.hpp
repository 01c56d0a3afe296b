// `runyard check --mail`: checks the relay and the DNS records of the sender's domain. A driver of ry.command/1; the
// command runs without starting the module.
#pragma once

#include <ry/ext/command.h>

#include <ry/ry.hpp>

#include "dns_records.hpp"
#include "settings.hpp"

namespace mail {

class mail_check {
 public:
  mail_check(const ry::context& ctx, const settings& s) : ctx_(ctx), settings_(s) {}
  mail_check(const mail_check&) = delete;
  mail_check& operator=(const mail_check&) = delete;

  // self: the mail_check.
  static ry_status run(void* self, ry_str arguments_json, ry_exec* exec, const ry_command_call* call) noexcept;

 private:
  ry::task<void> run_command(std::string arguments, ry_command_call call) const;

  const ry::context& ctx_;
  const settings& settings_;
};

}  // namespace mail
