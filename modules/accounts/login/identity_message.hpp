// Parses the webhooks of identity providers about users into one structure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../types.hpp"

namespace accounts {

// An e-mail that Supabase asks this server to send (its hook "Send Email").
struct provider_mail {
  std::string to;
  std::string action;  // "signup", "recovery", "invite", "magiclink", "email_change", "reauthentication"
  std::string code;  // the code for the user to enter
  std::string link;  // empty: the e-mail has only the code
};

struct identity_message {
  std::string type;  // "user.created", "INSERT" or the name of the hook
  std::optional<identity> who;  // set if the message creates or changes a user
  std::string deleted;  // the subject of a deleted user; otherwise empty
  std::vector<provider_mail> mails;
};

// Reads these messages:
// - events {type, data} (Clerk and others): user.created, user.updated, user.deleted;
// - hooks of Supabase Auth {metadata, user} ("Before User Created") and {user, email_data} ("Send Email");
// - database webhooks {type, table, schema, record, old_record} of Supabase: INSERT, UPDATE, DELETE.
// Members that are read of a user: email, or Clerk's email_addresses with primary_email_address_id; email_verified, or
// else email_confirmed_at, or the verification status of that address; is_anonymous; name, full_name, first_name and
// last_name, also within user_metadata or raw_user_meta_data; referral_code within user_metadata, raw_user_meta_data,
// unsafe_metadata or public_metadata. identity::network is the network of the address in
// event_attributes.http_request.client_ip (Clerk) or metadata.ip_address (Supabase). Throws ry::error: 400 if the text
// is not a JSON object, 422 with the name of an invalid member of the user.
identity_message read_identity_message(std::string_view body);

}  // namespace accounts
