#include "core/db/migrator.hpp"

#include <libpq-fe.h>
#include <openssl/evp.h>
#include <ry/if/registrar.h>

#include <algorithm>
#include <random>
#include <ry/cpp/text.hpp>
#include <thread>

#include "core/observe/log.hpp"

namespace ry::db {

namespace {

using namespace std::chrono_literals;
using state = migration_step::state;
constexpr int oldest_version = 150000;
constexpr std::int64_t lock_key = 0x72756e79617264;  // "runyard"
// Held shared by nodes that are starting with migrations that no node has started with yet.
constexpr std::int64_t start_lock_key = lock_key + 1;

connect_settings patient(connect_settings s) {
  s.statement_timeout = 0ms;
  s.transaction_timeout = 10min;
  s.application_name += " migrate";
  return s;
}

std::string quote_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + '"';
}

[[noreturn]] void reject_migration(std::string message) {
  throw failure({RY_FAILED_PRECONDITION, "db.migration", std::move(message), {}, 0, 0});
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (!EVP_Digest(text.data(), text.size(), digest, &n, EVP_sha256(), nullptr))
    throw std::runtime_error("SHA-256 is not available");
  return to_hex(std::span(digest, n));
}

struct migrator::applied_row {
  std::string module, id, checksum, at;
  bool compatible = false;  // declared compatible with older versions
  bool confirmed = true;  // a version with this migration has started
};

migrator::migrator(connect_settings connect, std::chrono::milliseconds lock_wait)
    : settings_(patient(std::move(connect))), conn_(settings_), lock_wait_(lock_wait) {}

// Behind a pooler in transaction mode, the lock and the prepared statements would belong to another session.
void migrator::open() {
  conn_.open();
  if (conn_.behind_pooler() && shares_sessions())
    reject_migration(
        "The database is reached through a connection pooler in transaction mode: set database.direct_url to the address of "
        "the PostgreSQL server itself or of a pooler in session mode. Migrations and notifications need a "
        "dedicated session.");
  check_server();
}

// Marks its session, then checks whether this connection loses it or a second one gets it. A pooler may hand out the
// sessions in turn or the last one first, and other connections take part, so one attempt proves little.
bool migrator::shares_sessions() {
  constexpr int attempts = 5;
  const std::string mark = std::to_string(std::random_device{}());
  const auto marked = [&](connection& c) {
    return c.exec("select current_setting('runyard.session', true)", {}, RY_DB_NO_PREPARE).text(0, 0) == mark;
  };
  conn_.exec("select set_config('runyard.session', $1, false)", {value::text(mark)}, RY_DB_NO_PREPARE);
  connection other(settings_);
  other.open();
  for (int i = 0; i < attempts; ++i) {
    if (!marked(conn_) || !marked(conn_)) return true;
    auto tx = other.begin();
    if (marked(other)) return true;
    if (!marked(conn_) || !marked(conn_)) return true;
    tx.commit();
  }
  return false;
}

void migrator::check_server() {
  const int version = conn_.server_version();
  if (version != 0 && version < oldest_version)
    reject_migration("The server is PostgreSQL " + std::to_string(version / 10000) + "; Runyard needs version " +
                     std::to_string(oldest_version / 10000) + " or later.");
  const auto r = conn_.exec("select current_setting('server_encoding'), current_database()");
  if (r.text(0, 0) == "UTF8") return;
  const std::string name(r.text(0, 1));
  reject_migration("The database \"" + name + "\" has the encoding " + std::string(r.text(0, 0)) +
                   ", which cannot store every text. Create it with the encoding UTF8: create database " +
                   quote_name(name) + " encoding 'UTF8' template template0.");
}

void migrator::lock(migration_observer* observer) {
  // Polls instead of blocking in the server: a waiting statement keeps a snapshot, and CREATE INDEX CONCURRENTLY
  // waits for that snapshot.
  const auto end = std::chrono::steady_clock::now() + lock_wait_;
  bool logged = false;
  while (!conn_.exec("select pg_try_advisory_lock($1::bigint)", {value::int64(lock_key)}).boolean(0, 0)) {
    if (!logged) {
      observe::log(observe::level::info, "db", "another node migrates the database; waiting for it");
      if (observer != nullptr) observer->waiting();
    }
    logged = true;
    if (std::chrono::steady_clock::now() > end)
      reject_migration(
          "Another node has been migrating this database for too long. Check the log of that node, then try again.");
    std::this_thread::sleep_for(50ms);
  }
}

void migrator::prepare_core() try {
  conn_.exec_script(
      "create schema if not exists core;"
      "create table if not exists core.migration ("
      "  module text not null, id text not null, checksum text not null,"
      "  applied_at timestamptz not null default now(), primary key (module, id))");
  // Only if the columns are missing: ALTER TABLE would wait for a backup that reads the table.
  const auto has_columns = conn_.exec(
      "select exists (select from pg_attribute where attrelid = 'core.migration'::regclass and attname = 'confirmed')");
  if (has_columns.boolean(0, 0)) return;
  conn_.exec_script(
      "alter table core.migration"
      "  add column if not exists compatible boolean not null default false,"
      "  add column if not exists confirmed boolean not null default true");
} catch (const failure& f) {
  if (!f.is("42501")) throw;
  const auto who = conn_.exec("select quote_ident(current_database()), quote_ident(current_user)");
  reject_migration("The server's role may not create schemas in its database: " + std::string(f.what()) +
                   ". As its owner: grant create on database " + std::string(who.text(0, 0)) + " to " +
                   std::string(who.text(0, 1)) + ".");
}

std::vector<migrator::applied_row> migrator::applied() {
  if (conn_.exec("select to_regclass('core.migration')").is_null(0, 0)) return {};
  const auto r = conn_.exec(
      "select module, id, checksum, to_char(applied_at at time zone 'UTC', "
      "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'),"
      // Older hosts created the table without these columns.
      " coalesce((to_jsonb(m)->>'compatible')::boolean, false), coalesce((to_jsonb(m)->>'confirmed')::boolean, true)"
      " from core.migration m order by module, id");
  std::vector<applied_row> out;
  for (std::size_t i = 0; i < r.size(); ++i)
    out.push_back({std::string(r.text(i, 0)), std::string(r.text(i, 1)), std::string(r.text(i, 2)),
                   std::string(r.text(i, 3)), r.boolean(i, 4), r.boolean(i, 5)});
  return out;
}

void migrator::apply(const std::string& module, const module::migration& step) {
  const auto checksum = sha256_hex(step.up_sql);
  const ry_value params[] = {value::text(module), value::text(step.id), value::text(checksum),
                             value::boolean((step.flags & RY_MIGRATION_COMPATIBLE) != 0)};
  constexpr char note[] =
      "insert into core.migration(module, id, checksum, compatible, confirmed) values ($1, $2, $3, $4, false)";
  conn_.use_schema(module);
  if (step.flags & RY_MIGRATION_NO_TX) {
    conn_.exec_script(step.up_sql);
    conn_.exec(note, params);
    return;
  }
  auto tx = conn_.begin();
  conn_.exec_script(step.up_sql);
  if (PQtransactionStatus(conn_.native()) != PQTRANS_INTRANS)
    reject_migration("It ends the transaction that it runs in; remove its COMMIT or ROLLBACK.");
  conn_.exec(note, params);
  tx.commit();
}

namespace {

// "0014_start" -> "start"
std::string_view name_in(std::string_view id) {
  return id.substr(std::min(id.find('_'), id.size()));
}

std::int64_t number_in(std::string_view id) {
  return std::stoll("0" + std::string(id.substr(0, id.find('_'))));
}

}  // namespace

// Whether a repeatable migration of this version has replaced an applied one.
bool migrator::is_replaced(const module::module_migrations& m, const applied_row& d) {
  return std::any_of(m.list.begin(), m.list.end(), [&](const auto& s) {
    return (s.flags & RY_MIGRATION_REPEATABLE) != 0 && name_in(s.id) == name_in(d.id) &&
           number_in(s.id) > number_in(d.id);
  });
}

// Whether a newer version has applied a later form of a repeatable migration.
bool migrator::is_outdated(const module::module_migrations& m, const module::migration& step,
                           const std::vector<applied_row>& done) {
  return (step.flags & RY_MIGRATION_REPEATABLE) != 0 && std::any_of(done.begin(), done.end(), [&](const auto& d) {
           return d.module == m.module && name_in(d.id) == name_in(step.id) && number_in(d.id) > number_in(step.id);
         });
}

bool migrator::tolerates(const module::module_migrations& m, const applied_row& d) {
  return d.compatible || !d.confirmed || m.allow_newer_schema;
}

// Checks a migration that a newer version of the module applied.
void migrator::check_unknown(const module::module_migrations& m, const applied_row& d) {
  const auto same =
      std::find_if(m.list.begin(), m.list.end(), [&](auto& s) { return sha256_hex(s.up_sql) == d.checksum; });
  if (same != m.list.end())
    reject_migration("Migration " + same->id + " of module " + m.module + " was applied at " + d.at +
                     " under the name " + d.id + "; give it that name again.");
  if (!tolerates(m, d))
    reject_migration(
        "Module " + m.module + " does not have migration " + d.id + ", which a newer version applied at " + d.at +
        " without declaring it compatible with older versions. Install the newer version again. If this version "
        "works with the newer schema, " +
        (m.module == "core" ? std::string() : "set modules." + m.module + ".allow_newer_schema = true, or ") +
        "remove the record with `runyard migrate forget " + m.module + " " + d.id + "`.");
  observe::log(observe::level::warn, "db", "the schema is newer than this version of the module",
               {{"module", m.module},
                {"migration", d.id},
                {"applied_at", d.at},
                {"accepted_because", d.compatible   ? "it is declared compatible with older versions"
                                     : !d.confirmed ? "the version that applied it has never started"
                                                    : "modules." + m.module + ".allow_newer_schema is true"}});
}

void migrator::up_one(const module::module_migrations& m, const std::vector<applied_row>& done,
                      migration_report& report, migration_observer* observer) {
  std::string last;  // the latest applied migration that this version contains
  for (const auto& d : done) {
    if (d.module != m.module) continue;
    const auto known = std::find_if(m.list.begin(), m.list.end(), [&](auto& s) { return s.id == d.id; });
    if (known == m.list.end()) {
      if (is_replaced(m, d))
        last = std::max(last, d.id);
      else
        check_unknown(m, d);
      continue;
    }
    last = std::max(last, d.id);
    report.unconfirmed |= !d.confirmed;
    if (sha256_hex(known->up_sql) != d.checksum)
      reject_migration("Migration " + d.id + " of module " + m.module + " was changed after it was applied at " + d.at +
                       ((known->flags & RY_MIGRATION_REPEATABLE) != 0
                            ? "; raise the number in its first line."
                            : "; restore the original text and add a new migration instead."));
  }
  conn_.use_schema("core");
  conn_.exec_script("create schema if not exists " + quote_name(m.module));
  for (const auto& step : m.list) {
    if (std::any_of(done.begin(), done.end(), [&](auto& d) { return d.module == m.module && d.id == step.id; }))
      continue;
    if (is_outdated(m, step, done)) continue;
    if (step.id < last)
      reject_migration("Migration " + step.id + " of module " + m.module + " is new but sorts before " + last +
                       ", which has already been applied; give it a later number.");
    if (observer != nullptr) observer->running({m.module, step.id, state::pending, {}});
    try {
      apply(m.module, step);
    } catch (const failure& f) {
      if (observer != nullptr) observer->failed({m.module, step.id, state::pending, {}});
      if (f.connection_lost) throw;
      reject_migration("Migration " + step.id + " of module " + m.module + " failed: " + f.what());
    }
    report.applied.push_back({m.module, step.id, state::applied, {}});
    report.unconfirmed = true;
    observe::log(observe::level::info, "db", "migration applied", {{"module", m.module}, {"id", step.id}});
    if (observer != nullptr) observer->applied(report.applied.back());
  }
}

void migrator::announce_start() {
  // Succeeds immediately: only the holder of the migration lock takes the exclusive mode of this lock.
  conn_.exec("select pg_advisory_lock_shared($1::bigint)", {value::int64(start_lock_key)});
  conn_.exec("select pg_advisory_unlock($1::bigint)", {value::int64(lock_key)});
}

bool migrator::others_start() {
  const auto r = conn_.exec("select pg_try_advisory_lock($1::bigint)", {value::int64(start_lock_key)});
  if (!r.boolean(0, 0)) return true;
  conn_.exec("select pg_advisory_unlock($1::bigint)", {value::int64(start_lock_key)});
  return false;
}

// The applied migrations, read after all other nodes have finished starting with migrations that one of these modules
// does not know and would have to tolerate if that start failed.
std::vector<migrator::applied_row> migrator::applied_and_decided(std::span<const module::module_migrations> modules,
                                                                 migration_observer* observer) {
  auto done = applied();
  const auto undecided = std::find_if(done.begin(), done.end(), [&](const applied_row& d) {
    if (d.confirmed || d.compatible) return false;
    return std::any_of(modules.begin(), modules.end(), [&](const auto& m) {
      return m.module == d.module && !m.allow_newer_schema && !is_replaced(m, d) &&
             std::none_of(m.list.begin(), m.list.end(), [&](const auto& s) { return s.id == d.id; });
    });
  });
  if (undecided == done.end() || !others_start()) return done;
  observe::log(observe::level::info, "db", "another node starts a newer version of a module; waiting for the outcome",
               {{"module", undecided->module}, {"migration", undecided->id}});
  if (observer != nullptr) observer->waiting();
  const auto end = std::chrono::steady_clock::now() + lock_wait_;
  while (others_start()) {
    if (std::chrono::steady_clock::now() > end)
      reject_migration("Another node has been starting a newer version of module " + undecided->module +
                       ", which applied migration " + undecided->id +
                       ", for too long. Check the log of that node, then try again.");
    std::this_thread::sleep_for(50ms);
  }
  return applied();
}

migration_report migrator::up(std::span<const module::module_migrations> modules, migration_observer* observer) {
  migration_report report;
  open();
  lock(observer);
  prepare_core();
  const auto done = applied_and_decided(modules, observer);
  for (const auto& m : modules) {
    try {
      up_one(m, done, report, observer);
    } catch (const failure& f) {
      if (f.connection_lost) throw;
      report.problems.push_back({m.module, f.error.message});
      if (m.module == "core") break;
    }
  }
  if (report.unconfirmed)
    announce_start();
  else
    conn_.close();  // releases the lock
  return report;
}

void migrator::confirm(std::span<const module::module_migrations> modules) {
  if (!conn_.check_alive()) open();
  for (const auto& m : modules)
    for (const auto& step : m.list) {
      const ry_value params[] = {value::text(m.module), value::text(step.id)};
      conn_.exec("update core.migration set confirmed = true where module = $1 and id = $2 and not confirmed", params);
    }
  conn_.close();
}

migrator::found_migration migrator::find(std::string_view module, std::string_view number) {
  open();
  const auto done = applied();
  conn_.close();
  const auto without_zeros = [](std::string_view digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  };
  std::string known, found;
  for (const auto& d : done) {
    if (d.module != module) continue;
    known += (known.empty() ? "" : ", ") + d.id;
    const auto digits = std::string_view(d.id).substr(0, d.id.find('_'));
    if (d.id == number || without_zeros(digits) == without_zeros(number)) found = d.id;
  }
  if (!found.empty()) return {found, {}};
  if (known.empty()) return {{}, "No migration of a module \"" + std::string(module) + "\" has been applied."};
  return {
      {},
      "Module " + std::string(module) + " has no applied migration " + std::string(number) + "; it has " + known + "."};
}

void migrator::forget(std::string_view module, std::string_view id) {
  open();
  lock();
  const ry_value params[] = {value::text(module), value::text(id)};
  conn_.exec("delete from core.migration where module = $1 and id = $2", params);
  observe::log(observe::level::warn, "db", "the record of an applied migration was removed",
               {{"module", std::string(module)}, {"id", std::string(id)}});
  conn_.close();
}

std::vector<migration_step> migrator::status(std::span<const module::module_migrations> modules) {
  open();
  const auto done = applied();
  conn_.close();
  std::vector<migration_step> out;
  for (const auto& m : modules) {
    for (const auto& step : m.list) {
      migration_step s{m.module, step.id, state::pending, {}};
      for (const auto& d : done) {
        if (d.module != m.module || d.id != step.id) continue;
        s.is = sha256_hex(step.up_sql) == d.checksum ? state::applied : state::changed;
        s.applied_at = d.at;
      }
      if (s.is == state::pending && is_outdated(m, step, done)) continue;
      out.push_back(std::move(s));
    }
    for (const auto& d : done)
      if (d.module == m.module && !is_replaced(m, d) &&
          std::none_of(m.list.begin(), m.list.end(), [&](auto& s) { return s.id == d.id; }))
        out.push_back({m.module, d.id, state::unknown, d.at, tolerates(m, d)});
  }
  return out;
}

}  // namespace ry::db
