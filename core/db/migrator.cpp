#include "core/db/migrator.hpp"

#include <libpq-fe.h>
#include <openssl/evp.h>
#include <ry/if/registrar.h>

#include <algorithm>
#include <thread>

#include "core/observe/log.hpp"

namespace ry::db {

namespace {

using namespace std::chrono_literals;
using state = migration_step::state;
constexpr std::int64_t lock_key = 0x72756e79617264;  // "runyard"

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

[[noreturn]] void refuse(std::string message) {
  throw failure({RY_FAILED_PRECONDITION, "db.migration", std::move(message), {}, 0, 0});
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (!EVP_Digest(text.data(), text.size(), digest, &n, EVP_sha256(), nullptr))
    throw std::runtime_error("SHA-256 is not available");
  std::string out;
  for (unsigned i = 0; i < n; ++i) {
    out.push_back("0123456789abcdef"[digest[i] >> 4]);
    out.push_back("0123456789abcdef"[digest[i] & 15]);
  }
  return out;
}

struct migrator::applied_row {
  std::string module, id, checksum, at;
};

migrator::migrator(connect_settings connect, std::chrono::milliseconds lock_wait)
    : conn_(patient(std::move(connect))), lock_wait_(lock_wait) {}

// Behind a pooler the lock would be another session's, and so would what is prepared.
void migrator::open() {
  constexpr char pooler[] =
      "The database is reached through a connection pooler: give the address of the PostgreSQL server "
      "itself in database.direct_url. Migrations and notifications need a session of their own.";
  try {
    conn_.open();
  } catch (const failure& f) {
    // As pgbouncer words it; a server takes these parameters.
    if (f.server_message.find("unsupported startup parameter") != std::string::npos) refuse(pooler);
    throw;
  }
  const auto own = conn_.exec("select pg_backend_pid()", {}, RY_DB_NO_PREPARE).int64(0, 0);
  if (own != conn_.backend_pid()) refuse(pooler);
}

void migrator::lock() {
  // Waiting inside the server would hold a snapshot, on which CREATE INDEX CONCURRENTLY waits in
  // turn.
  const auto end = std::chrono::steady_clock::now() + lock_wait_;
  bool said = false;
  while (!conn_.exec("select pg_try_advisory_lock($1::bigint)", {value::int64(lock_key)})
              .boolean(0, 0)) {
    if (!said)
      observe::log(observe::level::info, "db",
                   "another node migrates the database; waiting for it");
    said = true;
    if (std::chrono::steady_clock::now() > end)
      refuse(
          "Another node has been migrating this database for too long; see what it does and try "
          "again.");
    std::this_thread::sleep_for(50ms);
  }
}

void migrator::prepare_core() {
  conn_.exec_script(
      "create schema if not exists core;"
      "create table if not exists core.migration ("
      "  module text not null, id text not null, checksum text not null,"
      "  applied_at timestamptz not null default now(), primary key (module, id))");
}

std::vector<migrator::applied_row> migrator::applied() {
  if (conn_.exec("select to_regclass('core.migration')").is_null(0, 0)) return {};
  const auto r = conn_.exec(
      "select module, id, checksum, to_char(applied_at at time zone 'UTC', "
      "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
      " from core.migration order by module, id");
  std::vector<applied_row> out;
  for (std::size_t i = 0; i < r.size(); ++i)
    out.push_back({std::string(r.text(i, 0)), std::string(r.text(i, 1)), std::string(r.text(i, 2)),
                   std::string(r.text(i, 3))});
  return out;
}

void migrator::apply(const std::string& module, const module::migration& step) {
  const auto checksum = sha256_hex(step.up_sql);
  const ry_value params[] = {value::text(module), value::text(step.id), value::text(checksum)};
  constexpr char note[] = "insert into core.migration(module, id, checksum) values ($1, $2, $3)";
  conn_.use_schema(module);
  if (step.flags & RY_MIGRATION_NO_TX) {
    conn_.exec_script(step.up_sql);
    conn_.exec(note, params);
    return;
  }
  auto tx = conn_.begin();
  conn_.exec_script(step.up_sql);
  if (PQtransactionStatus(conn_.native()) != PQTRANS_INTRANS)
    refuse("It ends the transaction that it runs in; take out its COMMIT or ROLLBACK.");
  conn_.exec(note, params);
  tx.commit();
}

void migrator::up_one(const module::module_migrations& m, const std::vector<applied_row>& done,
                      migration_report& report,
                      const std::function<void(const migration_step&)>& progress) {
  std::string last;  // the newest that was applied
  for (const auto& d : done) {
    if (d.module != m.module) continue;
    last = std::max(last, d.id);
    const auto known =
        std::find_if(m.list.begin(), m.list.end(), [&](auto& s) { return s.id == d.id; });
    if (known == m.list.end())
      refuse("The database is ahead of this build: module " + m.module +
             " does not know migration " + d.id + ", which was applied at " + d.at +
             "; install the newer version again.");
    if (sha256_hex(known->up_sql) != d.checksum)
      refuse("Migration " + d.id + " of module " + m.module +
             " was changed after it was applied at " + d.at +
             "; put the old text back and add a new migration instead.");
  }
  conn_.use_schema("core");
  conn_.exec_script("create schema if not exists " + quote_name(m.module));
  for (const auto& step : m.list) {
    if (std::any_of(done.begin(), done.end(),
                    [&](auto& d) { return d.module == m.module && d.id == step.id; }))
      continue;
    if (step.id < last)
      refuse("Migration " + step.id + " of module " + m.module + " is new but sorts before " +
             last + ", which was applied already; give it a later number.");
    try {
      apply(m.module, step);
    } catch (const failure& f) {
      if (f.connection_lost) throw;
      refuse("Migration " + step.id + " of module " + m.module + " failed: " + f.what());
    }
    report.applied.push_back({m.module, step.id, state::applied, {}});
    observe::log(observe::level::info, "db", "migration applied",
                 {{"module", m.module}, {"id", step.id}});
    if (progress) progress(report.applied.back());
  }
}

migration_report migrator::up(std::span<const module::module_migrations> modules,
                              const std::function<void(const migration_step&)>& progress) {
  migration_report report;
  open();
  lock();
  prepare_core();
  const auto done = applied();
  for (const auto& m : modules) {
    try {
      up_one(m, done, report, progress);
    } catch (const failure& f) {
      if (f.connection_lost) throw;
      report.problems.push_back({m.module, f.error.message});
      if (m.module == "core") break;
    }
  }
  conn_.close();  // gives the lock back
  return report;
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
      out.push_back(std::move(s));
    }
    for (const auto& d : done)
      if (d.module == m.module &&
          std::none_of(m.list.begin(), m.list.end(), [&](auto& s) { return s.id == d.id; }))
        out.push_back({m.module, d.id, state::unknown, d.at});
  }
  return out;
}

}  // namespace ry::db
