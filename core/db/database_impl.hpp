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
      : workers(s), hints(s.session()), alive(workers), dog(s.connect, all_connections(workers, hints), [this] {
          return alive.answers_within(watchdog::ping_limit);
        }) {}
  pool workers;
  notifier hints;
  liveness alive;
  watchdog dog;

 private:
  static std::vector<connection*> all_connections(pool& workers, notifier& hints) {
    auto out = workers.connections();
    out.push_back(&hints.link());
    return out;
  }
};

}  // namespace ry::db
