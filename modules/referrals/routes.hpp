// The HTTP routes of this module.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/svc/mail.h>
#include <ry/cpp/registrar.hpp>

#include "rate.hpp"
#include "referral_metrics.hpp"
#include "repository.hpp"

namespace referrals {

// Services of other modules, set before the first request. `mail` may stay empty.
struct module_services {
  ry::service<ry_accounts_v1> accounts;
  ry::service<ry_mail_v1> mail;
};

class routes {
 public:
  // `app_url`: base URL of referral links; empty: unknown.
  routes(const ry::context& ctx, const repository& repo, const settings& s, std::string app_url,
         const module_services& n, const referral_metrics& metrics)
      : ctx_(ctx),
        repo_(repo),
        settings_(s),
        app_url_(std::move(app_url)),
        services_(n),
        metrics_(metrics),
        validations_(s.validate_per_minute) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> code(ry::request r);
  ry::task<ry::response> refresh(ry::request r);
  ry::task<ry::response> send(ry::request r);
  ry::task<ry::response> send_bulk(ry::request r);
  ry::task<ry::response> stats(ry::request r);
  ry::task<ry::response> history(ry::request r);
  ry::task<ry::response> received(ry::request r);
  ry::task<ry::response> validate(ry::request r);

  ry::task<ry::response> flagged(ry::request r);
  ry::task<ry::response> review_action(ry::request r, std::string action);
  ry::task<ry::response> code_action(ry::request r, std::string action);

  struct send_result {
    std::string address;
    bool success = false;
    bool queued = false;  // the relay has not accepted the e-mail yet
    std::string message;
    std::int64_t wait_s = 0;  // not 0: the address exceeds the caller's limit
  };
  ry::task<ry::uuid> caller(ry::request r) const;
  std::string address_fault(const std::string& address) const;
  // Returns one result per address, in order. The addresses must be valid and distinct.
  ry::task<std::vector<send_result>> invite(ry::uuid account, std::vector<std::string> addresses) const;
  ry::task<void> apply_outcomes(std::vector<invitation_result> written, std::vector<send_result>* to) const;

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
  const std::string app_url_;
  const module_services& services_;
  const referral_metrics& metrics_;
  rate_limiter validations_;
};

}  // namespace referrals
