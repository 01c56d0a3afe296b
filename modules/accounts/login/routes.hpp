// The HTTP routes of sign-up, log-in, sessions and the identity webhook.
#pragma once

#include <ry/cpp/registrar.hpp>

#include "logins.hpp"

namespace accounts {

class login_routes {
 public:
  login_routes(const ry::context& ctx, logins& all, account_cache& people, const config& cfg,
               const login_settings& settings)
      : ctx_(ctx), logins_(all), people_(people), cfg_(cfg), settings_(settings) {}
  // Does not register routes that the settings disable; they return 404.
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> about(ry::request r);
  ry::task<ry::response> sign_up(ry::request r);
  ry::task<ry::response> verify(ry::request r);
  ry::task<ry::response> log_in(ry::request r);
  ry::task<ry::response> refresh(ry::request r);
  ry::task<ry::response> log_out(ry::request r);
  ry::task<ry::response> ask_for_reset(ry::request r);
  ry::task<ry::response> finish_reset(ry::request r);
  ry::task<ry::response> change_password(ry::request r);
  ry::task<ry::response> list_sessions(ry::request r);
  ry::task<ry::response> end_session(ry::request r);
  ry::task<ry::response> end_all_sessions(ry::request r);
  ry::task<ry::response> identity_webhook(ry::request r);

  ry::response answer(std::uint32_t status, session_tokens t, bool in_cookie) const;
  std::string cookie(std::string_view value, std::int64_t seconds) const;

  const ry::context& ctx_;
  logins& logins_;
  account_cache& people_;
  const config& cfg_;
  const login_settings& settings_;
};

}  // namespace accounts
