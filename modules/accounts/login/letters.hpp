// The mails of sign-up and log-in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accounts {

// html: a fragment, which the module mail frames.
struct letter {
  std::string subject, text, html;
};
// An e-mail with bodies that are encrypted for the outbox.
struct sealed_letter {
  std::string subject, bodies;
};

// `link` holds the token after '#', where no server on the way writes it down.
letter confirm_letter(std::string_view link, std::int64_t hours);
// To somebody who has an account and whose address was typed into the sign-up form.
letter known_letter(std::string_view log_in_link);
letter reset_letter(std::string_view link, std::int64_t minutes);
struct listed_key {
  std::string id, name;
  std::string last_used;  // empty: never
};
struct listed_keys {
  std::vector<listed_key> keys;
  bool kept = false;  // they were not revoked
};
letter changed_letter(std::string_view log_in_link, const listed_keys& keys);
// All sessions of the account were ended.
letter ended_letter(std::string_view log_in_link, const listed_keys& keys);
// For an identity provider that has no mailer of its own. `action`: as provider_mail::action. `link` may be empty.
letter provider_letter(std::string_view action, std::string_view link, std::string_view code);
// `link`: where the owner can revoke it; empty: the server knows no page.
letter new_key_letter(std::string_view link, const listed_key& made);

}  // namespace accounts
