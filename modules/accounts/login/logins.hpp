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

// The result of a sign-up, which is pending until its link is opened or, with verification::none, complete.
struct sign_up_result {
  std::string proof;  // a client that has it can open the link without the password
  std::optional<session_tokens> tokens;
};

class logins {
 public:
  logins(const ry::context& ctx, const repository& accounts, account_cache& cache, const config& cfg,
         const login_settings& settings);

  // Acquires the service mail/1. Throws an error that names the missing settings if e-mail is required and unavailable.
  ry::task<void> start();
  void stop() { mail_ = {}; }

  // Whether the next sign-up requires the code of accounts.login.setup_code and creates the administrator.
  ry::task<bool> needs_setup();
  ry::task<sign_up_result> sign_up(sign_up_form form, caller from);
  // Completes a sign-up. Requires its proof, or otherwise its password.
  ry::task<session_tokens> verify(std::string token, std::string proof, std::string password, caller from);
  ry::task<session_tokens> log_in(std::string email, std::string password, caller from);
  ry::task<void> request_reset(std::string email, caller from);
  ry::task<session_tokens> complete_reset(std::string token, std::string password, caller from);
  ry::task<void> change_password(ry::uuid account, std::string current, std::string next,
                                 std::optional<ry::uuid> session, bool keep_api_keys);
  // For the identity webhook: a user was deleted; the provider delegates e-mails to this server.
  ry::task<void> close_identity(std::string message, std::string subject);
  ry::task<void> send_provider_emails(std::string message, std::vector<provider_mail> mails);
  // Sends an e-mail: the job "accounts.letter".
  ry::task<ry::job_outcome> send_email(ry::job job);

  sessions& all_sessions() { return sessions_; }
  const login_repository& repo() const { return repo_; }

 private:
  ry::task<bool> check_setup_code(std::string code);
  ry::task<void> send_confirmation(ry::uuid sign_up);
  void report_dropped(const char* kind, std::string_view outcome, const std::string& about) const;
  ry::task<void> send_reset(std::string email_key, std::string key);
  ry::task<void> send_session_notice(ry::uuid account, bool password, key_list keys, std::string key);
  ry::task<void> send_new_key_notice(ry::uuid account, listed_key new_key, std::string key);
  sealed_email sealed(const email& content) const;
  address require_address(const std::string& typed) const;
  void require_reachable(const address& to) const;
  void require_good_password(std::string_view field, const std::string& password, std::string_view email) const;
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
