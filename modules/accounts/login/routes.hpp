// The HTTP routes of sign-up, log-in, sessions and the identity webhook.
#pragma once

#include <ry/cpp/registrar.hpp>

#include "logins.hpp"

namespace accounts {

class login_routes {
 public:
  login_routes(const ry::context& ctx, logins& l, account_cache& cache, const config& cfg,
               const login_settings& settings)
      : ctx_(ctx), logins_(l), cache_(cache), cfg_(cfg), settings_(settings) {}
  // Does not register routes that the settings disable; they return 404.
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> login_config(ry::request r);
  ry::task<ry::response> sign_up(ry::request r);
  ry::task<ry::response> verify(ry::request r);
  ry::task<ry::response> log_in(ry::request r);
  ry::task<ry::response> refresh(ry::request r);
  ry::task<ry::response> log_out(ry::request r);
  ry::task<ry::response> request_reset(ry::request r);
  ry::task<ry::response> complete_reset(ry::request r);
  ry::task<ry::response> change_password(ry::request r);
  ry::task<ry::response> list_sessions(ry::request r);
  ry::task<ry::response> end_session(ry::request r);
  ry::task<ry::response> end_all_sessions(ry::request r);
  ry::task<ry::response> identity_webhook(ry::request r);

  ry::response token_response(std::uint32_t status, session_tokens t, bool in_cookie) const;
  std::string cookie(std::string_view value, std::int64_t seconds) const;

  const ry::context& ctx_;
  logins& logins_;
  account_cache& cache_;
  const config& cfg_;
  const login_settings& settings_;
};

}  // namespace accounts
