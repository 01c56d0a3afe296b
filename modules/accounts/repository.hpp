// All SQL statements of this module, except those of sign-up and log-in. Every function throws ry::error if the
// database reports an error.
#pragma once

#include <ry/cpp/page.hpp>

#include "types.hpp"

namespace accounts {

// A row of api_key joined with its account.
struct stored_key {
  std::string secret_hash;
  account_ptr owner;
  std::int64_t expires_unix_us = 0;  // 0 = never
  bool use_outdated = false;  // the stored time of the last use is more than a minute old
};

struct new_key {
  std::string id;
  std::string secret_hash;
  std::string name;
  std::optional<std::int64_t> expires_in_days;
};

// A change of a balance by `actor`. `ref` makes it idempotent.
struct balance_change {
  std::string actor;
  std::string action;  // "grant" or "revoke"; also the kind of the ledger entry
  std::int64_t delta_micro = 0;
  std::string ref;
  std::string note_json;
};

// Filter for the audit log; a member without a value matches everything.
struct audit_filter {
  std::optional<ry::uuid> account;
  std::optional<std::string> actor;
  std::optional<std::string> action;
};

// A closed account.
struct closure {
  std::int64_t id;  // id of its audit entry
  std::string subject;
  std::int64_t closed_unix_us;
  bool returned;  // the subject has an account again
};

// An event about an account that an administrator publishes. The key makes it idempotent.
struct published_event {
  std::string kind;
  std::string key;
  ry::uuid account;
  std::string payload_json;
};

struct account_row {
  std::string tier;
  std::uint32_t role;
  std::string json;  // an object, without the limits
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  // Stores the settings that SQL functions read.
  ry::task<void> store_settings(std::int64_t low_percent, std::int64_t audit_days, bool verifies) const;
  // Creates the account if it is new, and updates it with the data of the identity.
  ry::task<account_ptr> provision(identity user, const tier* first_tier) const;
  // Returns nullptr if the account is unknown or closed.
  ry::task<account_ptr> find(ry::uuid id) const;
  ry::task<std::optional<account_row>> describe(ry::uuid id) const;

  // Records that a token of the account's identity provider has this role.
  ry::task<void> record_token_role(ry::uuid id, std::uint32_t role) const;
  // The highest role that the account has or that a token has had for it. RY_ROLE_USER for an unknown account.
  ry::task<std::uint32_t> highest_role(ry::uuid id) const;
  // Closes the account: removes the personal data and publishes account.deleted. Returns false if there is none.
  ry::task<bool> close(std::string actor, ry::uuid id, std::string detail_json) const;
  ry::task<std::vector<closure>> recent_closures(std::int64_t seconds) const;
  // Returns {"event_id":...,"replayed":...}. Throws "db.RY404" or, if the key was used with another payload,
  // "db.RY409".
  ry::task<std::string> publish(std::string actor, published_event e) const;

  // Changes both in one transaction, each with its audit entry.
  ry::task<void> change(std::string actor, ry::uuid id, std::optional<std::string> tier,
                        std::optional<std::int64_t> role) const;
  // Returns {"balance_credits":...,"balance_micro":...,"replayed":...}. Throws "db.RY409" if `ref` was used with
  // another amount, or if a revocation exceeds the balance.
  ry::task<std::string> move_balance(ry::uuid id, balance_change m) const;
  // Newest first, only entries older than `before`.
  ry::task<ry::page_of_rows> ledger(ry::uuid id, std::optional<std::int64_t> before, std::int64_t limit) const;
  // Newest first, for all accounts.
  ry::task<ry::page_of_rows> audit(audit_filter filter, std::optional<std::int64_t> before, std::int64_t limit) const;

  // Deletes up to `limit` entries that are older than audit_days. Returns their number.
  ry::task<std::int64_t> delete_old_audit_entries(std::int64_t limit) const;

  // Writes the audit entry of an admin.act event, once even if the event is delivered again.
  ry::task<void> record_admin_action(std::int64_t event, std::int64_t at_unix_us, std::string act_json) const;

  // Returns the key as JSON, without its secret; empty if the account already has `limit` keys. Throws "db.RY401" if
  // the caller's `session` has ended.
  ry::task<std::string> add_key(std::string actor, ry::uuid account, new_key key, std::int64_t limit,
                                std::optional<ry::uuid> session) const;
  ry::task<std::string> list_keys(ry::uuid account) const;  // a JSON array
  // Returns false if the account has no such key.
  ry::task<bool> revoke_key(std::string actor, ry::uuid account, std::string id) const;
  // Returns nullopt if the key is unknown, revoked or expired.
  ry::task<std::optional<stored_key>> key(std::string id) const;
  ry::task<void> record_key_use(std::string id) const;

  // Subjects whose account or keys were changed within the last 20 seconds.
  ry::task<std::vector<std::string>> recently_changed_subjects() const;

 private:
  const ry::context& ctx_;
};

}  // namespace accounts
