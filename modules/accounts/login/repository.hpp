// The SQL statements of sign-up, log-in and sessions. Every function throws ry::error if the database reports an error.
// Hashes have 32 bytes.
#pragma once

#include <ry/cpp/db.hpp>

#include "../types.hpp"
#include "address.hpp"
#include "login/emails.hpp"

namespace accounts {

struct new_login {
  ry::uuid id;
  accounts::address address;
  std::string password_hash;
  std::string name;
  std::string referral_code;
  std::string network;  // the network of the sign-up; may be empty
};

// A pending sign-up: its link has not been opened yet.
struct open_sign_up {
  ry::uuid id;
  accounts::address address;
  std::string password_hash, proof_hash;
};

struct credentials {
  ry::uuid account;
  std::string password_hash;
};

// The account of a session, with the claims of its tokens.
struct owner {
  ry::uuid account;
  std::string subject, email, name;
  std::uint32_t role = RY_ROLE_USER;
  bool verified = false;
};

struct refresh_result {
  bool reused = false;
  ry::uuid session, account;
};

// An ended session or a revoked API key, see session_of_key().
struct ended_session {
  std::string subject, session;
  std::int64_t ended_unix_us;
};

class login_repository {
 public:
  explicit login_repository(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> begin_sign_up(new_login user, std::string proof_hash, std::int64_t hours) const;
  // Throws RY409 if the address has an account.
  ry::task<void> create_login(new_login user, const tier* first_tier) const;
  // Like create_login(); the account becomes super_admin if there is no other log-in.
  ry::task<void> create_first_login(new_login user, const tier* first_tier) const;
  ry::task<bool> has_logins() const;
  ry::task<std::optional<open_sign_up>> find_sign_up_by_token(std::string token_hash) const;
  ry::task<std::optional<open_sign_up>> find_sign_up(ry::uuid id) const;
  ry::task<void> delete_sign_up(ry::uuid id) const;
  // Returns false if another request was first, or the sign-up has expired.
  ry::task<bool> complete_sign_up(std::string token_hash, ry::uuid account, const tier* first_tier) const;

  ry::task<std::optional<credentials>> find_login(std::string email_key) const;
  ry::task<std::optional<credentials>> find_login(ry::uuid account) const;
  // The e-mail address of the account: that of its log-in, or one that its identity provider verified; empty: unknown.
  ry::task<std::string> mail_address(ry::uuid account) const;
  ry::task<void> rehash(ry::uuid account, std::string from, std::string to) const;
  ry::task<owner> owner_of(ry::uuid account) const;

  ry::task<void> open_session(ry::uuid account, ry::uuid session, std::string hash, std::string user_agent,
                              std::int64_t days) const;
  ry::task<std::optional<refresh_result>> refresh(std::string hash, std::string next, std::int64_t days) const;
  ry::task<std::optional<refresh_result>> session_of(std::string refresh_hash) const;
  // Ends one session (`only`), or all except one (`except`). Returns the ended ones.
  ry::task<std::vector<std::string>> end_sessions(ry::uuid account, std::optional<ry::uuid> only,
                                                  std::optional<ry::uuid> except) const;
  ry::task<std::string> list_sessions(ry::uuid account, std::string current_session) const;  // a JSON array
  ry::task<std::vector<ended_session>> recently_ended_sessions(std::int64_t seconds) const;

  ry::task<void> queue_reset(std::string email_key) const;
  ry::task<std::optional<ry::uuid>> complete_reset(std::string token_hash, std::string password_hash) const;
  ry::task<std::vector<std::string>> set_password(ry::uuid account, std::string password_hash,
                                                  std::optional<ry::uuid> keep, bool keep_api_keys) const;
  ry::task<void> end_all_sessions(ry::uuid account, bool revoke_api_keys) const;
  // Whether there is a valid reset link with this token.
  ry::task<bool> has_reset(std::string token_hash) const;

  // These functions enqueue an e-mail, once per `key`; a link's token becomes valid in the same transaction. They
  // return the outcome of mail.enqueue(); empty if there was nothing to send.
  ry::task<std::string> mail(std::string to, sealed_email content, std::string key) const;
  ry::task<std::string> mail_sign_up(open_sign_up s, sealed_email content, std::string token_hash) const;
  // Sends nothing if the account already has enough recent links.
  ry::task<std::string> mail_reset(ry::uuid account, std::string to, sealed_email content, std::string key,
                                   std::string token_hash, std::int64_t minutes) const;

  // Returns false if this message was handled before.
  ry::task<bool> apply_identity(std::string hook, identity user, const tier* first_tier) const;
  // Closes the account of the subject. Returns false if it has none, or if this message was handled before.
  ry::task<bool> close_identity(std::string hook, std::string subject) const;
  ry::task<void> delete_expired() const;

 private:
  const ry::context& ctx_;
};

}  // namespace accounts
