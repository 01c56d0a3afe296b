// `runyard model check`: sends requests to a configured model through the drivers that runs use, and reports its
// capabilities. Limits requests, tokens per answer and time. Contributed to ry.command/1; does not require start() of
// the module.
#pragma once
#include <ry/ext/command.h>

#include <ry/ry.hpp>

#include "model_check/model_probe.hpp"
#include "model_check/model_report.hpp"
#include "models/providers.hpp"
#include "settings/settings.hpp"

namespace runs {

class model_check {
 public:
  model_check(const ry::context& ctx, const settings& config, const provider_set& providers)
      : ctx_(ctx), config_(config), providers_(providers) {}
  model_check(const model_check&) = delete;
  model_check& operator=(const model_check&) = delete;

  // `self` is the model_check object.
  static ry_status run(void* self, ry_str arguments_json, ry_exec* exec, const ry_command_call* call) noexcept;

 private:
  class check_sequence;
  ry::task<void> run_checks(std::string arguments, ry_exec* exec, ry_command_call call) const;

  const ry::context& ctx_;
  const settings& config_;
  const provider_set& providers_;
};

}  // namespace runs
