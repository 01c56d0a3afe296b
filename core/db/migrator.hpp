// Migrates the schemas of the host and its modules. Blocks; used before the modules start and by `runyard migrate`.
// Several nodes may run it concurrently: one applies the migrations, the others wait.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/db/connection.hpp"
#include "core/db/migration_observer.hpp"
#include "core/module/module_set.hpp"

namespace ry::db {

struct migration_step {
  enum class state { applied, pending, changed, unknown };
  std::string module, id;
  state is = state::pending;  // unknown: in the database, but not in this build
  std::string applied_at;  // ISO 8601, UTC; empty unless applied
  bool tolerated = false;  // if unknown: this build starts nevertheless
};

struct migration_problem {
  std::string module;
  std::string message;  // for the operator
};

struct migration_report {
  std::vector<migration_step> applied;  // by this call
  std::vector<migration_problem> problems;
  bool unconfirmed = false;  // confirm() has something to record
  bool ok() const noexcept { return problems.empty(); }
};

class migrator {
 public:
  // Uses the `url` of connect as it is, without a statement timeout.
  explicit migrator(connect_settings connect, std::chrono::milliseconds lock_wait = std::chrono::minutes(5));

  // Applies the pending migrations module by module in the given order (put "core" first). Each runs in its own
  // transaction unless it is RY_MIGRATION_NO_TX (then one statement). A module with a problem keeps its current
  // schema; after a problem of "core" nothing more is applied. If the report is unconfirmed, this object keeps its
  // connection, and with it an advisory lock, until confirm() or its destruction: while the lock is held, nodes of
  // another version wait, because they cannot know yet whether this version will start. `observer` may be nullptr.
  // Throws failure if the database is unreachable or the lock is not acquired in time.
  migration_report up(std::span<const module::module_migrations> modules, migration_observer* observer = nullptr);

  // Records that a version with these migrations has started. Before that, an older version may start again even if
  // the migrations are not declared compatible, because the newer version has written no data.
  void confirm(std::span<const module::module_migrations> modules);

  struct found_migration {
    std::string id;  // empty: not found
    std::string problem;  // then the reason, for the operator
  };
  // Finds the applied migration of a module by id or number ("0002", "2").
  found_migration find(std::string_view module, std::string_view number);
  // Deletes the record of an applied migration; does not change the schema.
  void forget(std::string_view module, std::string_view id);

  // Read-only. Throws failure if the database is unreachable.
  std::vector<migration_step> status(std::span<const module::module_migrations> modules);

 private:
  struct applied_row;
  static bool tolerates(const module::module_migrations& m, const applied_row& d);
  static bool is_replaced(const module::module_migrations& m, const applied_row& d);
  static bool is_outdated(const module::module_migrations& m, const module::migration& step,
                          const std::vector<applied_row>& done);
  static void check_unknown(const module::module_migrations& m, const applied_row& d);
  std::vector<applied_row> applied();
  void open();
  void check_server();
  // Whether a pooler shares one server session between several connections (transaction mode).
  bool shares_sessions();
  void lock(migration_observer* observer = nullptr);
  void announce_start();
  std::vector<applied_row> applied_and_decided(std::span<const module::module_migrations> modules,
                                               migration_observer* observer);
  bool others_start();
  void prepare_core();
  void up_one(const module::module_migrations& m, const std::vector<applied_row>& done, migration_report& report,
              migration_observer* observer);
  void apply(const std::string& module, const module::migration& step);

  const connect_settings settings_;
  connection conn_;
  const std::chrono::milliseconds lock_wait_;
};

// Lower-case hexadecimal SHA-256.
std::string sha256_hex(std::string_view text);

}  // namespace ry::db
