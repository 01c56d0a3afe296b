// All SQL of this module. Every function throws ry::error if the database reports an error.
#pragma once

#include <ry/cpp/db.hpp>
#include <ry/cpp/notify.hpp>
#include <ry/cpp/page.hpp>

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/request_bodies.hpp"
#include "delivery/device_vault.hpp"
#include "delivery/outcome.hpp"
#include "events/workflow.hpp"
#include "settings.hpp"
#include "templates.hpp"

namespace notifications {

// The job of a worker.
struct lease {
  std::int64_t job = 0;
  std::int64_t fence = 0;
};

// The result of notify(); see the SQL function.
struct noted {
  ry::uuid id;
  std::string outcome, reason;
  std::optional<std::int64_t> inbox_version;
  std::int64_t inbox_evicted = 0;  // entries that were removed to make room
};

// The devices of an account, decrypted.
struct device_list {
  std::vector<ry::notify::token> readable;
  std::vector<std::string> names;  // of the readable devices, in their order
  // Devices that cannot be decrypted; the value is the fingerprint.
  std::vector<ry::notify::token> unreadable;
};

// `text` without secrets: the error text of a driver may contain the token.
std::string masked(std::string text, const std::vector<std::string>& secrets);

// What the outbox returns to a worker that begins a delivery.
struct turn {
  enum class kind { send, wait, over };
  kind what = kind::over;
  std::uint64_t wait_ms = 0;
  std::string tid, workflow;
  std::string broadcast;  // the id of its broadcast; empty: none
  ry::uuid account;
  boost::json::object payload;
  std::vector<boost::json::object> gathered;  // the payloads of a digest
  std::uint32_t channels = 0, epoch = 0, attempt = 0;
  std::int64_t expires_unix_us = 0;
  device_list devices;
  person who;
};

// The account's data for the orchestrator.
struct subscription_state {
  std::int64_t version = 0;
  person who;
  device_list devices;
  std::vector<std::string> providers;  // last version that the orchestrator got
  bool gone = false;  // the account was deleted
};

struct to_follow {
  std::int64_t id = 0;
  ry::notify::sent what;  // its token is empty if the device was removed or cannot be decrypted
  std::string tokens_json;  // until it is decrypted
};

// A query of an admin.
struct act {
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
  // nullopt: no such account.
  ry::task<std::optional<person>> find_person(ry::uuid account) const;

  // ---- the outbox ----
  // inbox_most: entries that the inbox keeps. by: the actor, for the audit log.
  ry::task<noted> notify(std::string key, ry::uuid account, notification_event what, rendered_texts texts,
                         std::int64_t ttl_s, std::int64_t inbox_most, std::optional<act> by) const;
  // The worker's functions throw RY_ABORTED if another worker holds the job now.
  ry::task<turn> begin_attempt(ry::uuid id, lease by, std::uint32_t served) const;
  // The notification's state.
  ry::task<std::string> end_attempt(ry::uuid id, lease by, verdict how) const;
  ry::task<std::vector<to_follow>> due_to_follow(std::int64_t most) const;
  // state empty: unchanged.
  ry::task<void> followed(std::int64_t delivery, std::string state, std::string detail) const;
  // Applies a webhook's report about deliveries (channels 0: all of the notification), once per id. False: it was
  // applied before; nothing changes.
  ry::task<bool> reported(std::string webhook_id, std::vector<ry::notify::report> reports) const;
  ry::task<void> tidy(std::int64_t keep_days) const;

  // ---- accounts' own ----
  ry::task<std::string> settings_json(ry::uuid account) const;
  ry::task<void> put_settings(ry::uuid account, settings_request w) const;
  // {"time_zone", "quiet_hours", "workflows": as stored}
  ry::task<std::string> preferences_json(ry::uuid account) const;
  // The invalid part of the request; empty: success.
  ry::task<std::string> put_preferences(ry::uuid account, preferences_request w) const;
  // The recipient unsubscribed through an e-mail's link, or subscribed again.
  ry::task<void> follow_subscription(ry::uuid account, std::string category, bool subscribed) const;
  // name: the identity of the device. Returns the number of older devices of the account that were removed.
  ry::task<std::int64_t> put_token(ry::uuid account, device_request w, std::string name) const;
  // The account's devices, the latest first; a JSON array without tokens.
  ry::task<std::string> devices_json(ry::uuid account) const;
  // By the token, the device's name, or its id in devices_json(); provider empty: any.
  ry::task<void> drop_token(ry::uuid account, std::string token, std::string provider) const;
  // Encrypts rows of the previous release, and renews fingerprints that were made with another key, if the row can be
  // decrypted.
  ry::task<void> seal_devices() const;
  std::string fingerprint(std::string_view token) const { return vault_.fingerprint(token); }
  // thread empty: no thread is open.
  ry::task<void> put_presence(ry::uuid account, std::string session, std::optional<ry::uuid> thread) const;
  ry::task<ry::page_of_rows> deliveries(ry::uuid account, std::optional<std::int64_t> before, std::int64_t limit) const;

  // ---- subscribers ----
  ry::task<void> queue_subscriber_update(ry::uuid account) const;
  // Removes all data of the account, here and at the orchestrator.
  ry::task<void> forget(ry::uuid account) const;
  ry::task<subscription_state> subscription(ry::uuid account) const;
  // False: there is a newer version.
  ry::task<bool> subscriber_updated(ry::uuid account, std::int64_t version, std::vector<std::string> providers,
                                    lease by) const;

  // ---- the inbox ----
  ry::task<ry::page_of_rows> inbox(ry::uuid account, bool only_unread, std::optional<std::int64_t> before,
                                   std::int64_t limit) const;
  ry::task<inbox_state> inbox_head(ry::uuid account) const;
  ry::task<std::vector<inbox_row>> inbox_after(ry::uuid account, std::int64_t seq, std::int64_t most) const;
  struct read_mark {
    std::int64_t marked = 0, unread = 0, version = 0;
  };
  // id empty: all. nullopt: there is no such entry.
  ry::task<std::optional<read_mark>> mark_read(ry::uuid account, std::optional<ry::uuid> id) const;

  // ---- operators ----
  ry::task<ry::page_of_rows> list(std::string state, std::optional<ry::uuid> account, std::optional<ry::uuid> before,
                                  std::int64_t limit) const;
  ry::task<std::optional<std::string>> details(ry::uuid id) const;
  ry::task<bool> requeue(std::string actor, ry::uuid id) const;
  ry::task<bool> cancel(std::string actor, ry::uuid id) const;
  // The orchestrator's name of a message that it accepted and has not delivered; nullopt: none.
  ry::task<std::optional<std::string>> withdrawable(ry::uuid id) const;
  ry::task<void> withdrawn(std::string actor, ry::uuid id) const;

  // ---- broadcasts ----
  ry::task<void> create_broadcast(act by, ry::uuid id, std::string workflow, std::string payload_json,
                                  std::optional<std::string> at) const;
  // {"accounts", "email", "push", "in_app"}
  ry::task<std::string> audience(std::string workflow) const;
  ry::task<ry::page_of_rows> broadcasts(std::optional<ry::uuid> before, std::int64_t limit) const;
  ry::task<std::optional<std::string>> broadcast_details(ry::uuid id) const;
  // The new state; empty: the action does not apply; nullopt: there is no such broadcast.
  ry::task<std::optional<std::string>> steer_broadcast(std::string actor, ry::uuid id, std::string action) const;
  // The last account for which a notification was written.
  ry::task<std::optional<ry::uuid>> broadcast_progress(ry::uuid id) const;
  // Stores the progress, and returns the state that decides how to continue.
  ry::task<std::string> broadcast_step(ry::uuid id, std::optional<ry::uuid> after, std::int64_t written,
                                       bool finished) const;

  ry::task<std::optional<ry::uuid>> find_by_email(std::string email) const;
  // Ordered by id, after a given one.
  ry::task<std::vector<ry::uuid>> accounts_after(std::optional<ry::uuid> after, std::int64_t most) const;

 private:
  // In the form of the database's device_json(); unencrypted rows are encrypted on the way.
  ry::task<device_list> opened(std::string tokens_json) const;
  ry::task<void> seal_device(std::string provider, std::string was_name, std::string was_token,
                             device_secret plain) const;
  ry::task<void> seal_deliveries() const;

  const ry::context& ctx_;
  const device_vault& vault_;
};

}  // namespace notifications
