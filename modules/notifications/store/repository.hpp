// All SQL statements of this module. Every function throws ry::error if the database reports an error.
#pragma once

#include <ry/cpp/db.hpp>
#include <ry/cpp/notify.hpp>
#include <ry/cpp/page.hpp>

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "store/device_vault.hpp"
#include "types/account_requests.hpp"
#include "types/outcome.hpp"
#include "workflows/templates.hpp"
#include "workflows/workflow.hpp"

namespace notifications {

// A worker's lease on its job.
struct lease {
  std::int64_t job = 0;
  std::int64_t fence = 0;
};

// The result of notify(); see the SQL function.
struct notify_result {
  ry::uuid id;
  std::string outcome, reason;
  std::optional<std::int64_t> inbox_version;
  std::int64_t inbox_evicted = 0;  // entries that were removed to make room
};

// The devices of an account, decrypted.
struct device_list {
  std::vector<ry::notify::token> readable;
  std::vector<std::string> names;  // names of the readable devices, in their order
  // Devices that cannot be decrypted; their value is the fingerprint.
  std::vector<ry::notify::token> unreadable;
};

// Replaces secrets in `text` with "***", because the error text of a driver may contain the token.
std::string masked(std::string text, const std::vector<std::string>& secrets);

// The answer of the outbox to a worker that begins a delivery.
struct delivery_start {
  enum class action { send, wait, done };
  action next = action::done;  // done: there is nothing left to deliver
  std::uint64_t wait_ms = 0;
  std::string tid, workflow;
  std::string broadcast;  // id of the broadcast; empty: none
  ry::uuid account;
  boost::json::object payload;
  std::vector<boost::json::object> digest_payloads;  // the payloads of a digest
  std::uint32_t channels = 0, epoch = 0, attempt = 0;
  std::int64_t expires_unix_us = 0;
  device_list devices;
  person recipient;
};

// The account's data for the orchestrator.
struct subscription_state {
  std::int64_t version = 0;
  person recipient;
  device_list devices;
  std::vector<std::string> providers;  // providers in the last version that the orchestrator received
  bool gone = false;  // the account was deleted
};

struct tracked_delivery {
  std::int64_t id = 0;
  ry::notify::sent sent;  // its token is empty if the device was removed or cannot be decrypted
  std::string tokens_json;  // the encrypted device, before it is decrypted
};

// An action of an administrator, for the audit log.
struct audit_action {
  std::string actor, action, detail_json;
};

struct inbox_state {
  std::int64_t unread = 0, version = 0, last = 0;
};
struct inbox_row {
  std::int64_t seq = 0;
  std::string json;
};

class repository {
 public:
  repository(const ry::context& ctx, const device_vault& vault) : ctx_(ctx), vault_(vault) {}

  ry::task<void> configure(settings s) const;
  // Returns nullopt if there is no such account.
  ry::task<std::optional<person>> find_person(ry::uuid account) const;

  // ---- the outbox ----
  // inbox_limit: number of entries that the inbox keeps. audit: the action to record in the audit log.
  ry::task<notify_result> notify(std::string key, ry::uuid account, notification_event event, rendered_texts texts,
                                 std::int64_t ttl_s, std::int64_t inbox_limit, std::optional<audit_action> audit) const;
  // begin_attempt() and end_attempt() throw RY_ABORTED if another worker now owns the job.
  ry::task<delivery_start> begin_attempt(ry::uuid id, lease owner, std::uint32_t supported) const;
  // The token of the link that decides about this approval; nullopt: it does not wait for a decision.
  ry::task<std::optional<std::string>> approval_token(ry::uuid account, ry::uuid approval) const;
  // Ends the notification of an approval that was decided, has expired or was cancelled. Returns the version of the inbox if
  // it changed.
  ry::task<std::optional<std::int64_t>> resolve_approval(ry::uuid account, ry::uuid approval, std::string status) const;
  // Returns the new state of the notification.
  ry::task<std::string> end_attempt(ry::uuid id, lease owner, attempt_verdict v) const;
  ry::task<std::vector<tracked_delivery>> due_deliveries(std::int64_t limit) const;
  // Stores the result of a poll. state empty: the delivery has no new state.
  ry::task<void> record_poll_result(std::int64_t delivery, std::string state, std::string detail) const;
  // Applies a webhook's reports about deliveries (channels 0: all of the notification), once per id. Returns false if
  // they were applied before.
  ry::task<bool> apply_reports(std::string webhook_id, std::vector<ry::notify::report> reports) const;
  ry::task<void> delete_expired(std::int64_t keep_days) const;

  // ---- routes of accounts ----
  ry::task<std::string> settings_json(ry::uuid account) const;
  ry::task<void> put_settings(ry::uuid account, settings_request request) const;
  // {"time_zone", "quiet_hours", "workflows": as stored}
  ry::task<std::string> preferences_json(ry::uuid account) const;
  // Returns the invalid part of the request; empty on success.
  ry::task<std::string> put_preferences(ry::uuid account, preferences_request request) const;
  // Call it when the recipient unsubscribes through the link of an e-mail, or subscribes again.
  ry::task<void> apply_subscription(ry::uuid account, std::string category, bool subscribed) const;
  // name: the identity of the device. Returns the number of older devices of the account that were removed.
  ry::task<std::int64_t> put_device(ry::uuid account, device_request request, std::string name) const;
  // The account's devices, the latest first; a JSON array without tokens.
  ry::task<std::string> devices_json(ry::uuid account) const;
  // Deletes a device by its token, its name, or its id in devices_json(). provider empty: any.
  ry::task<void> delete_device(ry::uuid account, std::string token, std::string provider) const;
  // Encrypts rows of the previous release, and renews fingerprints that were computed with another key, if the row can
  // be decrypted.
  ry::task<void> seal_devices() const;
  std::string fingerprint(std::string_view token) const { return vault_.fingerprint(token); }
  // thread empty: the session shows no thread.
  ry::task<void> put_presence(ry::uuid account, std::string session, std::optional<ry::uuid> thread) const;
  ry::task<ry::page_of_rows> deliveries(ry::uuid account, std::optional<std::int64_t> before, std::int64_t limit) const;

  // ---- subscribers ----
  ry::task<void> queue_subscriber_update(ry::uuid account) const;
  // Removes all data of the account, here and at the orchestrator.
  ry::task<void> delete_account(ry::uuid account) const;
  ry::task<subscription_state> subscription(ry::uuid account) const;
  // Returns false if there is a newer version.
  ry::task<bool> confirm_subscriber_update(ry::uuid account, std::int64_t version, std::vector<std::string> providers,
                                           lease owner) const;

  // ---- the inbox ----
  ry::task<ry::page_of_rows> inbox(ry::uuid account, bool only_unread, std::optional<std::int64_t> before,
                                   std::int64_t limit) const;
  ry::task<inbox_state> inbox_head(ry::uuid account) const;
  ry::task<std::vector<inbox_row>> inbox_after(ry::uuid account, std::int64_t seq, std::int64_t limit) const;
  struct read_mark {
    std::int64_t marked = 0, unread = 0, version = 0;
  };
  // id empty: all entries. Returns nullopt if there is no such entry.
  ry::task<std::optional<read_mark>> mark_read(ry::uuid account, std::optional<ry::uuid> id) const;

  // ---- operators ----
  ry::task<ry::page_of_rows> list(std::string state, std::optional<ry::uuid> account, std::optional<ry::uuid> before,
                                  std::int64_t limit) const;
  ry::task<std::optional<std::string>> details(ry::uuid id) const;
  ry::task<bool> requeue(std::string actor, ry::uuid id) const;
  ry::task<bool> cancel(std::string actor, ry::uuid id) const;
  // The key of the notification if the orchestrator accepted it and has not delivered it; otherwise nullopt.
  ry::task<std::optional<std::string>> withdrawable(ry::uuid id) const;
  ry::task<void> record_withdrawal(std::string actor, ry::uuid id) const;

  // ---- broadcasts ----
  ry::task<void> create_broadcast(audit_action audit, ry::uuid id, std::string workflow, std::string payload_json,
                                  std::optional<std::string> at) const;
  // {"accounts", "email", "push", "in_app"}
  ry::task<std::string> audience(std::string workflow) const;
  ry::task<ry::page_of_rows> broadcasts(std::optional<ry::uuid> before, std::int64_t limit) const;
  ry::task<std::optional<std::string>> broadcast_details(ry::uuid id) const;
  // Returns the new state; empty if the state does not allow the action; nullopt if there is no such broadcast.
  ry::task<std::optional<std::string>> change_broadcast_state(std::string actor, ry::uuid id, std::string action) const;
  // The last account for which a notification was written.
  ry::task<std::optional<ry::uuid>> broadcast_progress(ry::uuid id) const;
  // Stores the progress, and returns the state of the broadcast, which decides how to continue.
  ry::task<std::string> advance_broadcast(ry::uuid id, std::optional<ry::uuid> after, std::int64_t written,
                                          bool finished) const;

  ry::task<std::optional<ry::uuid>> find_by_email(std::string email) const;
  // Up to `limit` accounts, ordered by id, after a given one.
  ry::task<std::vector<ry::uuid>> accounts_after(std::optional<ry::uuid> after, std::int64_t limit) const;

 private:
  // tokens_json: a list in the form of the SQL function device_json(). Encrypts unencrypted rows in the database.
  ry::task<device_list> decrypt_devices(std::string tokens_json) const;
  ry::task<void> seal_device(std::string provider, std::string stored_name, std::string stored_token,
                             device_secret plain) const;
  ry::task<void> seal_deliveries() const;

  const ry::context& ctx_;
  const device_vault& vault_;
};

}  // namespace notifications
