// Brings the schemas of the host and its modules up to date. Blocks; used before the modules start
// and by `runyard migrate`. Several nodes may do it at once: one works, the others wait and find it
// done.
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
  std::string applied_at;     // ISO 8601, UTC; empty unless applied
  bool tolerated = false;     // of unknown: this build starts nevertheless
};

struct migration_problem {
  std::string module;
  std::string message;  // one sentence for the operator
};

struct migration_report {
  std::vector<migration_step> applied;  // by this call
  std::vector<migration_problem> problems;
  bool unconfirmed = false;  // confirm() has something to record
  bool ok() const noexcept { return problems.empty(); }
};

class migrator {
 public:
  // `url` of connect is used as it is; there is no statement time-out.
  explicit migrator(connect_settings connect,
                    std::chrono::milliseconds lock_wait = std::chrono::minutes(5));

  // Applies what is pending, module by module in the order given (put "core" first), each step in a
  // transaction of its own unless it is RY_MIGRATION_NO_TX (one statement then). A module with a
  // problem is left where it stands; after a problem of "core" nothing more is tried. If it is to be confirmed, this object
  // keeps its connection and with it a lock that lasts until confirm() or the end of this object: as long as it is held,
  // another version cannot know whether this one will start, and waits. `observer`
  // may be nullptr. Throws failure when the database cannot be reached or the lock is not had in
  // time.
  migration_report up(std::span<const module::module_migrations> modules, migration_observer* observer = nullptr);

  // Records that the versions that know these migrations have started with them. Until then an older version may
  // take their place whether or not the migrations are declared compatible: nothing was written by the newer one.
  void confirm(std::span<const module::module_migrations> modules);

  struct found_migration {
    std::string id;       // empty: there is none
    std::string problem;  // then a sentence
  };
  // The applied migration of a module with that id or number ("0002", "2").
  found_migration find(std::string_view module, std::string_view number);
  // Removes the record of an applied migration; the schema stays as it is.
  void forget(std::string_view module, std::string_view id);

  // Changes nothing. Throws failure when the database cannot be reached.
  std::vector<migration_step> status(std::span<const module::module_migrations> modules);

 private:
  struct applied_row;
  static bool tolerates(const module::module_migrations& m, const applied_row& d);
  static void check_unknown(const module::module_migrations& m, const applied_row& d);
  std::vector<applied_row> applied();
  void open();
  void check_server();
  // Whether the pooler behind the address gives one session to several connections in turn.
  bool shares_sessions();
  void lock(migration_observer* observer = nullptr);
  void announce_start();
  std::vector<applied_row> applied_and_decided(std::span<const module::module_migrations> modules,
                                               migration_observer* observer);
  bool others_start();
  void prepare_core();
  void up_one(const module::module_migrations& m, const std::vector<applied_row>& done,
              migration_report& report, migration_observer* observer);
  void apply(const std::string& module, const module::migration& step);

  const connect_settings settings_;
  connection conn_;
  const std::chrono::milliseconds lock_wait_;
};

// Lower-case hexadecimal SHA-256.
std::string sha256_hex(std::string_view text);

}  // namespace ry::db
