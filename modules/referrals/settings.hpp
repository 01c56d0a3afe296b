// Settings of the module; immutable once the module is created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace referrals {

inline constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "app_url": {"type": "string", "pattern": "^(https?://[^\\s?#]+)?$", "form": "a URL without ? and #, such as https://app.example.org, or empty", "default": "",
      "description": "Base URL of referral links ({app_url}/auth?ref=CODE); empty: http.public_url with http.base_path"},
    "qualify": {"type": "string", "enum": ["signup", "email_verified", "first_run"],
      "default": "email_verified", "description": "Event at which a referral qualifies for credits"},
    "hold_hours": {"type": "integer", "minimum": 0, "maximum": 8760, "default": 0,
      "description": "Hours between qualification and the award of the credits"},
    "bonus_credits": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 100,
      "description": "Credits for each side of a successful referral"},
    "cap_credits": {"type": "integer", "minimum": 0, "maximum": 1000000000, "default": 10000,
      "description": "Maximum number of credits that one account can earn as a referrer"},
    "flag_score": {"type": "integer", "minimum": 0, "maximum": 100, "default": 3,
      "description": "Minimum total weight of abuse signals at which a referral waits for a review; 0: no reviews"},
    "velocity_per_day": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 50,
      "description": "Maximum number of referrals of one referrer within a day; more are a signal of abuse"},
    "disposable_domains": {"type": "array", "items": {"type": "string", "minLength": 1}, "default": [
        "10minutemail.com", "discard.email", "dispostable.com", "emailondeck.com", "fakeinbox.com",
        "getnada.com", "grr.la", "guerrillamail.com", "guerrillamail.net", "guerrillamail.org",
        "guerrillamailblock.com", "mailcatch.com", "maildrop.cc", "mailinator.com", "mailnesia.com",
        "mintemail.com", "moakt.com", "mohmal.com", "mytemp.email", "sharklasers.com",
        "spam4.me", "spamgourmet.com", "temp-mail.org", "tempmail.com", "tempr.email",
        "throwawaymail.com", "trashmail.com", "yopmail.com", "yopmail.fr", "yopmail.net"],
      "description": "Domains of disposable e-mail addresses, whose referrals earn no credits. The value replaces the default list"},
    "refreshes_per_day": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10,
      "description": "Maximum number of refreshes of an account's referral code within a day"},
    "invites_per_hour": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 20,
      "description": "Maximum number of invitations of one account per hour",
      "limit": {"resource": "Invitations per hour", "per": "account", "answer": "429 with `Retry-After`", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "invites_per_day": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 100,
      "description": "Maximum number of invitations of one account per day",
      "limit": {"resource": "Invitations per day", "per": "account", "answer": "429 with `Retry-After`", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "reinvite_days": {"type": "integer", "minimum": 0, "maximum": 3650, "default": 7,
      "description": "Days after which an account may invite the same address again"},
    "send_wait_seconds": {"type": "integer", "minimum": 0, "maximum": 20, "default": 5,
      "description": "Seconds that /send waits for the response of the mail relay before it reports the e-mail as queued"},
    "validate_per_minute": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 60,
      "description": "Maximum number of requests to /validate per minute by one account, address or IPv6 network, per node"}
  }
})";

struct settings {
  std::string app_url;
  std::string qualify;
  std::int64_t hold_hours = 0;
  std::int64_t bonus = 100;
  std::int64_t cap = 10'000;
  std::int64_t flag_score = 3;
  std::int64_t velocity = 50;
  std::vector<std::string> disposable;  // lower case
  std::int64_t refreshes = 10;
  std::int64_t invites_hour = 20;
  std::int64_t invites_day = 100;
  std::int64_t reinvite_days = 7;
  std::uint64_t send_wait_ms = 5'000;
  std::int64_t validate_per_minute = 60;
};

settings read_settings(std::string_view json);

}  // namespace referrals
