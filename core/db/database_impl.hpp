// The parts of db::database. Internal to core/db.
#pragma once

#include "core/db/database.hpp"
#include "core/db/liveness.hpp"
#include "core/db/notifier.hpp"
#include "core/db/pool.hpp"
#include "core/db/watchdog.hpp"

namespace ry::db {

class database::impl {
 public:
  explicit impl(settings s)
      : workers(s),
        notifications(s.session()),
        alive(workers),
        dog(s.connect, all_connections(workers, notifications),
            [this] { return alive.answers_within(watchdog::ping_limit); }) {}
  pool workers;
  notifier notifications;
  liveness alive;
  watchdog dog;

 private:
  static std::vector<connection*> all_connections(pool& workers, notifier& notifications) {
    auto out = workers.connections();
    out.push_back(&notifications.link());
    return out;
  }
};

}  // namespace ry::db
