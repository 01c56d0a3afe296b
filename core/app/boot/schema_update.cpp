#include "core/app/boot/schema_update.hpp"

#include <thread>

#include "core/app/boot/module_names.hpp"
#include "core/db/failure.hpp"
#include "core/observe/log.hpp"
#include "core/schema/core_migrations.hpp"

namespace ry::app {

using namespace std::chrono_literals;

std::vector<module::module_migrations> all_migrations(const module::module_set& modules) {
  std::vector<module::module_migrations> all;
  all.push_back({host_database_schema, schema::core_migrations()});
  for (auto& m : modules.migrations()) all.push_back(std::move(m));
  return all;
}

db::migration_report update_schema(db::migrator& migrator, const std::vector<module::module_migrations>& migrations,
                                   std::chrono::milliseconds wait_limit, const std::function<bool()>& stopping,
                                   db::migration_observer& observer) {
  const auto deadline = std::chrono::steady_clock::now() + wait_limit;
  while (true) {
    try {
      return migrator.up(migrations, &observer);
    } catch (const db::failure& e) {
      if (e.error.status != RY_UNAVAILABLE || std::chrono::steady_clock::now() >= deadline || stopping()) throw;
      observe::log(observe::level::warn, "db", "waiting for the database", {{"error", e.what()}});
    }
    std::this_thread::sleep_for(500ms);
  }
}

void confirm_schema(db::migrator& migrator, const std::vector<module::module_migrations>& migrations) {
  try {
    migrator.confirm(migrations);
  } catch (const db::failure& e) {
    observe::log(observe::level::warn, "db", "cannot record that the applied migrations are in use",
                 {{"error", e.what()}});
  }
}

}  // namespace ry::app
