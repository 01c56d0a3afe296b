// What the webhooks of identity providers say about a user, in one shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../types.hpp"

namespace accounts {

struct identity_message {
  std::string type;             // as sent, "user.created"
  std::optional<identity> who;  // set when the message makes or changes a user
};

// The user is the object `data`, `user`, `data.user` or `record` with an `id`; read are: email, or
// Clerk's email_addresses with primary_email_address_id; email_verified, email_confirmed_at or the
// verification status of that address; name, full_name, first_name and last_name, also within
// user_metadata or raw_user_meta_data; referral_code within user_metadata, raw_user_meta_data,
// unsafe_metadata or public_metadata. The network is that of event_attributes.http_request.client_ip
// (Clerk). Throws ry::error (400 for what is no JSON object, 422 naming
// a member of a user that cannot be used).
identity_message read_identity_message(std::string_view body);

}  // namespace accounts
