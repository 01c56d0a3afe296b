// The service mail/1.
#pragma once

#include <ry/svc/mail.h>
#include <ry/cpp/jobs.hpp>

#include "repository.hpp"

namespace mail {

class service {
 public:
  service(const ry::context& ctx, const repository& repo, const settings& s)
      : ctx_(ctx), repo_(repo), settings_(s), local_(ctx.fact("deployment.mode") == "local") {}
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  // The table of mail/1; its `self` is a service.
  static const ry_mail_v1* table() noexcept;

 private:
  struct caller {
    ry_exec* exec;
    ry_mail_outcome_fn fn;
    void* ctx;
  };
  ry_status check_address(std::string_view address) const;
  ry_status outcomes(const ry_uuid* ids, std::size_t n, std::uint64_t wait_ms, caller c);
  ry::task<void> wait_for_outcomes(std::vector<std::string> ids, std::int64_t until_us, caller c);

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
  const bool local_;
};

}  // namespace mail
