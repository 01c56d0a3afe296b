// Types that the files of this module share: accounts, tiers, the identity in a token, API keys.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/cpp/types.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ry {
class settings_faults;
}

namespace accounts {

// Limits of one tier. The view refers to this object, which therefore never moves.
struct tier {
  std::string name;
  bool all_models = false;
  std::vector<std::string> models;
  std::int64_t concurrent_runs = 0;
  std::int64_t threads = 0;
  std::int64_t custom_mcps = 0;
  std::int64_t upload_file_bytes = 0;
  std::int64_t upload_files = 0;
  std::int64_t starting_micro = 0;  // credits of a new account, in micro-credits
  std::int64_t api_keys = 50;

  std::vector<ry_str> model_views;
  ry_tier_view view{};
};

// Settings of accounts and tiers; immutable once the module is created.
struct config {
  std::map<std::string, std::unique_ptr<const tier>, std::less<>> tiers;
  const tier* default_tier = nullptr;
  std::int64_t low_credit_percent = 20;
  std::int64_t audit_days = 365;  // 0: unlimited
  std::int64_t new_api_keys_hour = 60;  // of one account
  bool allow_anonymous = false;  // anonymous users of the identity provider

  // Returns the default tier for an unknown name.
  const tier& find(std::string_view name) const;
  bool has_tier(std::string_view name) const { return tiers.find(name) != tiers.end(); }
};

// Applies the settings to the built-in tiers. Adds unusable values to `faults`.
config read_config(std::string_view settings_json, ry::settings_faults& faults);
// The limits of a tier as its accounts see them: {"concurrent_runs":1,...,"models":[...]}.
std::string limits_json(const tier& t);

// A cached account. Immutable once shared.
struct account {
  ry::uuid id;
  std::string id_text;
  std::string subject;
  std::string tier;
  std::string email;
  std::string display_name;
  std::uint32_t role = RY_ROLE_USER;
  bool verified = false;
  std::int64_t read_us = 0;  // monotonic time at which the database returned it
};
using account_ptr = std::shared_ptr<const account>;

// The identity in a token.
struct identity {
  std::string subject;
  std::optional<ry::uuid> id;  // the subject, if it is a UUID
  std::string email;
  std::string name;
  std::string phone;
  std::string avatar;  // URL
  std::string referral_code;
  std::string network;  // network of the user, "203.0.113.0/24"; empty: unknown
  bool verified = false;
  std::uint32_t role = RY_ROLE_USER;  // the role in the token
  std::optional<bool> anonymous;  // nullopt: unknown, as for an API key
  std::optional<std::int64_t> issued_unix_us;  // of the token
};

// Reads the identity from a token's claims. Name: user_metadata.full_name, .name, .display_name, the claim `name`, else
// the part of the e-mail address before the '@'. Verified: the claim email_verified or app_metadata.email_verified
// (user_metadata does not count, because users edit it), else xms_edov of Microsoft Entra. Anonymous: the claim
// is_anonymous (Supabase), or firebase.sign_in_provider "anonymous". Avatar: user_metadata.avatar_url, .picture, the
// claim `picture`. Phone: the claims `phone`, `phone_number`, else user_metadata.phone. Ignores values that are too
// long or contain control characters.
identity read_identity(const ry_principal& principal);

// An API key: ry_<16 hex digits>_<64 hex digits>.
struct api_key {
  std::string id;
  std::string secret;
};
inline constexpr std::string_view api_key_prefix = "ry_";
// Upper limit for the lifetime of stream tokens, regardless of the credential that created them.
inline constexpr std::int64_t query_token_lifetime_s = 8 * 86'400;
// The claim "sid" of principals with this key, so that revoking the key also revokes the tokens created with it.
std::string session_of_key(std::string_view id);
bool is_api_key_id(std::string_view text);
// Returns nullopt if the text is malformed.
std::optional<api_key> parse_api_key(std::string_view text);
api_key make_api_key();
// SHA-256, 32 bytes. The secret has 256 random bits, so a slow hash would add nothing.
std::string hash_secret(std::string_view secret);
// Compares in constant time.
bool same_hash(std::string_view a, std::string_view b);

}  // namespace accounts
