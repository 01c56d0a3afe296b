// The parts of db::database. Internal to the room.
#pragma once

#include "core/db/database.hpp"
#include "core/db/notifier.hpp"
#include "core/db/pool.hpp"

namespace ry::db {

class database::impl {
 public:
  explicit impl(settings s) : workers(s), hints(s.connect) {}
  pool workers;
  notifier hints;
};

}  // namespace ry::db
