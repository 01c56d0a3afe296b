#include "core/db/xmin_horizon_monitor.hpp"

#include "core/observe/log.hpp"

namespace ry::db {

namespace {

constexpr char oldest_sql[] =
    "select (extract(epoch from clock_timestamp() - began) * 1000)::bigint, who, began::text, doing from ("
    "  select xact_start as began, 'process ' || pid as who, "
    "         coalesce(nullif(application_name, ''), backend_type) || ', ' || coalesce(state, '') as doing "
    "    from pg_stat_activity "
    "   where xact_start is not null and pid <> pg_backend_pid() and backend_type <> 'autovacuum worker' "
    "     and datname = current_database() "
    "  union all "
    "  select prepared, 'prepared transaction ' || gid, 'waits for COMMIT PREPARED or ROLLBACK PREPARED' "
    "    from pg_prepared_xacts where database = current_database()) t "
    "order by began limit 1";

}  // namespace

void xmin_horizon_monitor::state::look(connection& c) {
  const auto r = c.exec(oldest_sql, {}, RY_DB_READ_ONLY);
  const auto age = r.empty() ? 0 : r.int64(0, 0);
  oldest_ms = age;
  if (alarm.count() == 0 || age < alarm.count()) return;
  const auto who = std::string(r.text(0, 1)) + " since " + std::string(r.text(0, 2));
  if (who == logged) return;
  logged = who;
  observe::log(observe::level::warn, "db", "a long-running transaction holds back vacuum",
               {{"seconds", std::to_string(age / 1000)}, {"session", who}, {"state", std::string(r.text(0, 3))}});
}

xmin_horizon_monitor::xmin_horizon_monitor(database& db, std::chrono::milliseconds alarm,
                                           std::chrono::milliseconds every)
    : db_(db), state_(std::make_shared<state>()) {
  state_->alarm = alarm;
  // This channel gets no wake-ups; listen() only provides the interval.
  id_ = db_.listen(
      "core.horizon",
      [&db, s = state_] {
        if (s->asking.exchange(true)) return;
        db.submit(
            [s](connection& c) {
              try {
                if (c.is_open()) s->look(c);
              } catch (...) {
                s->asking = false;
                throw;
              }
              s->asking = false;
            },
            priority::high);
      },
      every);
}

xmin_horizon_monitor::~xmin_horizon_monitor() {
  db_.unlisten(id_);
}

double xmin_horizon_monitor::oldest_seconds() const noexcept {
  return static_cast<double>(state_->oldest_ms.load()) / 1000;
}

}  // namespace ry::db
