// Sign-up, log-in and their e-mails. Neither the response nor the work before it reveals whether an address has an
// account.
#pragma once

#include <ry/svc/mail.h>

#include <atomic>
#include <ry/cpp/jobs.hpp>
#include <ry/cpp/services.hpp>

#include "account_cache.hpp"
#include "identity_message.hpp"
#include "network.hpp"
#include "sessions.hpp"

namespace accounts {

struct sign_up_form {
  std::string email, password, name, referral_code, setup_code;
};

// A sign-up either waits for its link or, with verification::none, is complete.
struct signed_up {
  std::string proof;  // allows the browser that has it to open the link without the password
  std::optional<session_tokens> tokens;
};

class logins {
 public:
  logins(const ry::context& ctx, const repository& accounts, account_cache& people, const config& cfg,
         const login_settings& settings);

  // Takes the service mail/1. Throws a sentence if it is needed and missing.
  ry::task<void> start();
  void stop() { mail_ = {}; }

  // The next sign-up must have the code of accounts.login.setup_code, and creates the administrator.
  ry::task<bool> needs_setup();
  ry::task<signed_up> sign_up(sign_up_form form, caller from);
  // Requires the proof, or otherwise the password, of the sign-up that the link belongs to.
  ry::task<session_tokens> verify(std::string token, std::string proof, std::string password, caller from);
  ry::task<session_tokens> log_in(std::string email, std::string password, caller from);
  ry::task<void> ask_for_reset(std::string email, caller from);
  ry::task<session_tokens> finish_reset(std::string token, std::string password, caller from);
  ry::task<void> change_password(ry::uuid account, std::string present, std::string next,
                                 std::optional<ry::uuid> session, bool keep_api_keys);
  // For the identity webhook: a user was deleted; e-mails that the provider delegates to this server.
  ry::task<void> close_identity(std::string message, std::string subject);
  ry::task<void> mail_for_provider(std::string message, std::vector<provider_mail> mails);
  // Sends an e-mail: the job "accounts.letter".
  ry::task<ry::job_outcome> write_email(ry::job job);

  sessions& all_sessions() { return sessions_; }
  const login_repository& repo() const { return repo_; }

 private:
  ry::task<bool> admit_first(std::string given);
  ry::task<void> write_confirm(ry::uuid sign_up);
  void report_dropped(const char* kind, std::string_view outcome, const std::string& about) const;
  ry::task<void> write_reset(std::string email_key, std::string key);
  ry::task<void> write_changed(ry::uuid account, bool password, listed_keys keys, std::string key);
  ry::task<void> write_new_key(ry::uuid account, listed_key made, std::string key);
  sealed_email sealed(const email& l) const;
  address need_address(const std::string& typed) const;
  void need_reachable(const address& to) const;
  void need_good_password(std::string_view field, const std::string& password, std::string_view email) const;
  std::string link(std::string_view name, std::string_view token) const;

  const ry::context& ctx_;
  const repository& accounts_;
  const config& cfg_;
  const login_settings& settings_;
  const login_repository repo_;
  password_hasher hasher_;
  sessions sessions_;
  ry::service<ry_mail_v1> mail_;
  std::atomic<bool> set_up_{false};  // a log-in exists; never becomes false again
};

}  // namespace accounts
