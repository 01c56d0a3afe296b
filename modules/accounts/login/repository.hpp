// The SQL of sign-up, log-in and sessions. Every function throws ry::error if the database reports an error. Hashes
// have 32 bytes.
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

// A sign-up that waits for its link to be opened.
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

struct refreshed {
  bool reused = false;
  ry::uuid session, account;
};

// Also a revoked key, see session_of_key().
struct ended_session {
  std::string subject, session;
  std::int64_t ended_unix_us;
};

class login_repository {
 public:
  explicit login_repository(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> begin_sign_up(new_login who, std::string proof_hash, std::int64_t hours) const;
  // Throws RY409 if the address has an account.
  ry::task<void> make_login(new_login who, const tier* first_tier) const;
  // The same; the account becomes super_admin if there is no other log-in.
  ry::task<void> make_first_login(new_login who, const tier* first_tier) const;
  ry::task<bool> has_logins() const;
  ry::task<std::optional<open_sign_up>> sign_up_of_link(std::string token_hash) const;
  ry::task<std::optional<open_sign_up>> sign_up(ry::uuid id) const;
  ry::task<void> drop_sign_up(ry::uuid id) const;
  // False: another request was first, or the time is over.
  ry::task<bool> finish_sign_up(std::string token_hash, ry::uuid account, const tier* first_tier) const;

  ry::task<std::optional<credentials>> find_login(std::string email_key) const;
  ry::task<std::optional<credentials>> find_login(ry::uuid account) const;
  // The e-mail address of the account: that of its log-in, or one that its identity provider verified; empty: unknown.
  ry::task<std::string> mail_address(ry::uuid account) const;
  ry::task<void> rehash(ry::uuid account, std::string from, std::string to) const;
  ry::task<owner> owner_of(ry::uuid account) const;

  ry::task<void> open_session(ry::uuid account, ry::uuid session, std::string hash, std::string user_agent,
                              std::int64_t days) const;
  ry::task<std::optional<refreshed>> refresh(std::string hash, std::string next, std::int64_t days) const;
  ry::task<std::optional<refreshed>> session_of(std::string refresh_hash) const;
  // Ends one session, or all but one. Returns the ended ones.
  ry::task<std::vector<std::string>> end_sessions(ry::uuid account, std::optional<ry::uuid> only,
                                                  std::optional<ry::uuid> but) const;
  ry::task<std::string> list_sessions(ry::uuid account, std::string present) const;  // a JSON array
  ry::task<std::vector<ended_session>> ended_lately(std::int64_t seconds) const;

  ry::task<void> ask_for_reset(std::string email_key) const;
  ry::task<std::optional<ry::uuid>> finish_reset(std::string token_hash, std::string password_hash) const;
  ry::task<std::vector<std::string>> set_password(ry::uuid account, std::string password_hash,
                                                  std::optional<ry::uuid> keep, bool keep_api_keys) const;
  ry::task<void> end_all_sessions(ry::uuid account, bool revoke_api_keys) const;
  // Whether a reset link with this token is valid now.
  ry::task<bool> has_reset(std::string token_hash) const;

  // Puts an e-mail into the outbox, once per `key`; a link's token becomes valid in the same transaction. Returns the
  // outcome of mail.enqueue(); empty: there was nothing to write.
  ry::task<std::string> mail(std::string to, sealed_email l, std::string key) const;
  ry::task<std::string> mail_sign_up(open_sign_up s, sealed_email l, std::string token_hash) const;
  // Not if the account already has enough links.
  ry::task<std::string> mail_reset(ry::uuid account, std::string to, sealed_email l, std::string key,
                                   std::string token_hash, std::int64_t minutes) const;

  // False: this message was handled before.
  ry::task<bool> identity_event(std::string hook, identity who, const tier* first_tier) const;
  // Closes the account of the subject. False: it has none, or this message was handled before.
  ry::task<bool> identity_deleted(std::string hook, std::string subject) const;
  ry::task<void> tidy() const;

 private:
  const ry::context& ctx_;
};

}  // namespace accounts
