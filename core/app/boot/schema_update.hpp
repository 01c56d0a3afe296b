// Migrations of the host and of the loaded modules, in the order in which they must run.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "core/db/migrator.hpp"
#include "core/module/module_set.hpp"

namespace ry::app {

std::vector<module::module_migrations> all_migrations(const module::module_set& modules);

// Applies pending migrations. If the database is unreachable it retries until `wait_limit` has passed or `stopping`
// returns true. Throws db::failure.
db::migration_report update_schema(db::migrator& migrator, const std::vector<module::module_migrations>& migrations,
                                   std::chrono::milliseconds wait_limit, const std::function<bool()>& stopping,
                                   db::migration_observer& observer);

// Records that these versions have started with their migrations, see db::migrator::confirm(). A failure is logged;
// the next start records it then.
void confirm_schema(db::migrator& migrator, const std::vector<module::module_migrations>& migrations);

}  // namespace ry::app
