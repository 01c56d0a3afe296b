// The e-mails of sign-up and log-in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accounts {

// html: a fragment, to which the module mail adds its layout.
struct email {
  std::string subject, text, html;
};
// An e-mail whose bodies are encrypted for the outbox.
struct sealed_email {
  std::string subject, bodies;
};

// `link` has the token after '#', so that servers and proxies do not log it.
email confirm_email(std::string_view link, std::int64_t hours);
// For the owner of an account whose address was entered into the sign-up form.
email already_registered_email(std::string_view log_in_link);
email reset_email(std::string_view link, std::int64_t minutes);
struct listed_key {
  std::string id, name;
  std::string last_used;  // empty: never
};
struct key_list {
  std::vector<listed_key> keys;
  bool kept = false;  // true: these keys still work; false: they were revoked
};
email password_changed_email(std::string_view log_in_link, const key_list& keys);
// For the owner of an account whose sessions were all ended.
email sessions_ended_email(std::string_view log_in_link, const key_list& keys);
// For an identity provider that delegates its e-mails. `action`: as provider_mail::action. `link` may be empty.
email provider_email(std::string_view action, std::string_view link, std::string_view code);
// `link`: the page on which the owner can revoke it; empty: the server has no such page.
email new_key_email(std::string_view link, const listed_key& key);

}  // namespace accounts
