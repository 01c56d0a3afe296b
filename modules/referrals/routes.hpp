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
struct neighbours {
  ry::service<ry_accounts_v1> accounts;
  ry::service<ry_mail_v1> mail;
};

class routes {
 public:
  // `app_url`: empty if the public address is not configured.
  routes(const ry::context& ctx, const repository& repo, const settings& s, std::string app_url, const neighbours& n,
         const referral_metrics& counted)
      : ctx_(ctx),
        repo_(repo),
        settings_(s),
        app_url_(std::move(app_url)),
        neighbours_(n),
        metrics_(counted),
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
  ry::task<ry::response> act(ry::request r, std::string what);
  ry::task<ry::response> act_on_code(ry::request r, std::string what);

  struct verdict {
    std::string address;
    bool success = false;
    bool queued = false;  // the relay has not accepted it yet
    std::string message;
    std::int64_t wait_s = 0;  // of an address beyond the caller's limit
  };
  ry::task<ry::uuid> caller(ry::request r) const;
  std::string address_fault(const std::string& address) const;
  // One verdict per address, in order. The addresses are valid and distinct.
  ry::task<std::vector<verdict>> invite(ry::uuid account, std::vector<std::string> addresses) const;
  ry::task<void> learn(std::vector<invited> written, std::vector<verdict>* to) const;

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
  const std::string app_url_;
  const neighbours& neighbours_;
  const referral_metrics& metrics_;
  rate validations_;
};

}  // namespace referrals
