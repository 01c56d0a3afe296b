// The e-mails of sign-up and log-in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accounts {

// html: a fragment that the module mail puts into its layout.
struct email {
  std::string subject, text, html;
};
// An e-mail with bodies that are encrypted for the outbox.
struct sealed_email {
  std::string subject, bodies;
};

// `link` has the token after '#', so that no server on the way logs it.
email confirm_email(std::string_view link, std::int64_t hours);
// For the owner of an account whose address was entered into the sign-up form.
email known_email(std::string_view log_in_link);
email reset_email(std::string_view link, std::int64_t minutes);
struct listed_key {
  std::string id, name;
  std::string last_used;  // empty: never
};
struct listed_keys {
  std::vector<listed_key> keys;
  bool kept = false;  // the keys that were not revoked
};
email changed_email(std::string_view log_in_link, const listed_keys& keys);
// All sessions of the account were ended.
email ended_email(std::string_view log_in_link, const listed_keys& keys);
// For an identity provider without a mailer. `action`: as provider_mail::action. `link` may be empty.
email provider_email(std::string_view action, std::string_view link, std::string_view code);
// `link`: the page on which the owner can revoke it; empty: the server has no such page.
email new_key_email(std::string_view link, const listed_key& made);

}  // namespace accounts
