// Objects that the components of this module share. Lives as long as the module. Thread: any.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/cpp/registrar.hpp>

#include <boost/json/object.hpp>
#include <string>

#include "store/repository.hpp"

namespace notifications {

using orchestrators = ry::drivers<ry_notify_orchestrator_v1>;

struct module_context {
  const ry::context& ctx;
  const settings& config;
  const repository& repo;
  const orchestrators& drivers;
  ry::service<ry_accounts_v1> accounts;  // set when the module starts
  notifications::templates templates;  // set when the module starts
  links task_links;
  site deployment;  // for texts
  std::string own_url;  // of this server, for links to its pages; empty: unknown
  // Counters for reached limits of accounts.
  ry::metric device_limit_reached, inbox_limit_reached;

  // Whether notifications are available in the deployment's mode.
  bool enabled() const;
  // The configured driver; empty if it is not loaded.
  orchestrators::entry driver() const { return drivers.find(config.orchestrator); }

  // Whether the driver always sends on all channels of a workflow.
  static bool cannot_omit_channels(const orchestrators::entry& driver) {
    return (driver->table->capabilities & RY_NOTIFY_ALL_CHANNELS) != 0;
  }
  // The driver for notifications with a disabled channel if the configured one cannot omit channels; empty if it is not
  // loaded.
  orchestrators::entry fallback_driver() const {
    return config.orchestrator == "builtin" ? orchestrators::entry() : drivers.find("builtin");
  }

  ry::task<ry::uuid> caller(ry::request r) const;
  // Stores one notification and wakes the workers.
  ry::task<notify_result> notify(std::string key, ry::uuid account, notification_event event, person recipient,
                                 std::optional<audit_action> audit = std::nullopt) const;
  ry::task<std::int64_t> inbox_entries_of(ry::uuid account) const;
  // Wakes the streams of an account's inbox.
  void inbox_changed(const ry::uuid& account, std::int64_t version) const;
};

// Counts the result of a message on each of these channels.
void count_deliveries(const ry::context& ctx, std::uint32_t channels, const char* outcome, double n = 1);

std::string inbox_topic(const ry::uuid& account);

// The query parameter `limit`.
std::int64_t limit_of(const ry::request& r);

}  // namespace notifications
