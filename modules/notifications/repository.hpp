// All SQL of this module. Every function throws ry::error when the database says no.
#pragma once

#include <ry/cpp/db.hpp>
#include <ry/cpp/notify.hpp>
#include <ry/cpp/page.hpp>

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device_vault.hpp"
#include "outcome.hpp"
#include "settings.hpp"
#include "texts.hpp"
#include "wishes.hpp"
#include "workflow.hpp"

namespace notifications {

// The job that a worker holds.
struct lease {
  std::int64_t job = 0;
  std::int64_t fence = 0;
};

// How notify() ended; see the SQL function.
struct noted {
  ry::uuid id;
  std::string outcome, reason;
  std::optional<std::int64_t> inbox_version;
  std::int64_t inbox_evicted = 0;  // entries that were removed for the new one
};

// The devices of an account, decrypted.
struct device_list {
  std::vector<ry::notify::token> readable;
  std::vector<std::string> names;  // of the readable ones, in their order
  // Devices that cannot be decrypted; the value is the fingerprint.
  std::vector<ry::notify::token> unreadable;
};

// `text` without the secrets: the error text of a driver may contain the token.
std::string masked(std::string text, const std::vector<std::string>& secrets);

// What the outbox says to a worker that wants to deliver a notification.
struct turn {
  enum class kind { send, wait, over };
  kind what = kind::over;
  std::uint64_t wait_ms = 0;
  std::string tid, workflow;
  std::string broadcast;  // the id of the one that it is a part of; empty: none
  ry::uuid account;
  boost::json::object payload;
  std::vector<boost::json::object> gathered;  // the payloads of a digest
  std::uint32_t channels = 0, epoch = 0, attempt = 0;
  std::int64_t expires_unix_us = 0;
  device_list devices;
  person who;
};

// What the orchestrator has to know of an account.
struct subscription_state {
  std::int64_t version = 0;
  person who;
  device_list devices;
  std::vector<std::string> providers;  // it was told of
  bool gone = false;  // the account is no more
};

struct to_follow {
  std::int64_t id = 0;
  ry::notify::sent what;  // its token is empty if the device is gone or cannot be decrypted
  std::string tokens_json;  // until it is decrypted
};

// Of an admin.
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
  ry::task<noted> notify(std::string key, ry::uuid account, occasion what, letter texts, std::int64_t ttl_s,
                         std::int64_t inbox_most, std::optional<act> by) const;
  // The worker's functions throw RY_ABORTED when the job is another worker's by now.
  ry::task<turn> begin_attempt(ry::uuid id, lease by, std::uint32_t served) const;
  // The notification's state.
  ry::task<std::string> end_attempt(ry::uuid id, lease by, verdict how) const;
  ry::task<std::vector<to_follow>> due_to_follow(std::int64_t most) const;
  // state empty: nothing new.
  ry::task<void> followed(std::int64_t delivery, std::string state, std::string detail) const;
  // What a webhook tells of deliveries (channels 0: all of the notification's), once for its id. False: it
  // was told before, nothing is changed.
  ry::task<bool> reported(std::string webhook_id, std::vector<ry::notify::report> told) const;
  ry::task<void> tidy(std::int64_t keep_days) const;

  // ---- accounts' own ----
  ry::task<std::string> settings_json(ry::uuid account) const;
  ry::task<void> put_settings(ry::uuid account, settings_wish w) const;
  // {"time_zone", "quiet_hours", "workflows": as stored}
  ry::task<std::string> preferences_json(ry::uuid account) const;
  // Which part of the wish cannot be; empty: it is done.
  ry::task<std::string> put_preferences(ry::uuid account, preferences_wish w) const;
  // The recipient unsubscribed by an e-mail's link, or subscribed again.
  ry::task<void> follow_subscription(ry::uuid account, std::string category, bool subscribed) const;
  // name: the identity of the device. Returns the number of older devices of the account that were removed.
  ry::task<std::int64_t> put_token(ry::uuid account, device_wish w, std::string name) const;
  // The account's devices, the last registered one first; a JSON array without tokens.
  ry::task<std::string> devices_json(ry::uuid account) const;
  // By the token, the device's name, or its id in devices_json(); provider empty: of any.
  ry::task<void> drop_token(ry::uuid account, std::string token, std::string provider) const;
  // Encrypts rows of the former release, and renews fingerprints that were made with another key, if the row can be decrypted.
  ry::task<void> seal_devices() const;
  std::string fingerprint(std::string_view token) const { return vault_.fingerprint(token); }
  // thread empty: none is open.
  ry::task<void> put_presence(ry::uuid account, std::string session, std::optional<ry::uuid> thread) const;
  ry::task<ry::page_of_rows> deliveries(ry::uuid account, std::optional<std::int64_t> before, std::int64_t limit) const;

  // ---- subscribers ----
  ry::task<void> tell(ry::uuid account) const;
  // Nothing of the account is kept, here nor at the orchestrator.
  ry::task<void> forget(ry::uuid account) const;
  ry::task<subscription_state> subscription(ry::uuid account) const;
  // False: there is a newer version.
  ry::task<bool> told(ry::uuid account, std::int64_t version, std::vector<std::string> providers, lease by) const;

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
  // What the orchestrator took and nobody got yet, by its name there; nullopt: nothing.
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
  // The last account that was written for.
  ry::task<std::optional<ry::uuid>> broadcast_progress(ry::uuid id) const;
  // Notes the progress, and returns the state that decides how to go on.
  ry::task<std::string> broadcast_step(ry::uuid id, std::optional<ry::uuid> after, std::int64_t written,
                                       bool finished) const;

  ry::task<std::optional<ry::uuid>> find_by_email(std::string email) const;
  // In the order of their ids, after one.
  ry::task<std::vector<ry::uuid>> accounts_after(std::optional<ry::uuid> after, std::int64_t most) const;

 private:
  // As device_json() of the database gives them; rows that are plain are sealed on the way.
  ry::task<device_list> opened(std::string tokens_json) const;
  ry::task<void> seal_device(std::string provider, std::string was_name, std::string was_token,
                             device_secret plain) const;
  ry::task<void> seal_deliveries() const;

  const ry::context& ctx_;
  const device_vault& vault_;
};

}  // namespace notifications
