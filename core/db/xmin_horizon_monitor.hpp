// Monitors long-running transactions (the xmin horizon): while one is open, vacuum keeps every row version that it
// might still see, and frequently updated tables (jobs, runs) bloat. Logs each such transaction once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/db/database.hpp"

namespace ry::db {

class xmin_horizon_monitor {
 public:
  // alarm 0: only measure. The database must outlive this object, or be stopped first.
  xmin_horizon_monitor(database& db, std::chrono::milliseconds alarm,
                       std::chrono::milliseconds every = std::chrono::seconds(15));
  ~xmin_horizon_monitor();
  xmin_horizon_monitor(const xmin_horizon_monitor&) = delete;
  xmin_horizon_monitor& operator=(const xmin_horizon_monitor&) = delete;

  // Age of the oldest open transaction at the latest check. Covers the transactions that our role may see: its own,
  // or all with pg_monitor; prepared transactions always. 0: none. [any]
  double oldest_seconds() const noexcept;

 private:
  struct state {
    std::chrono::milliseconds alarm;
    std::atomic<std::int64_t> oldest_ms{0};
    std::atomic<bool> asking{false};
    std::string logged;  // the transaction that was logged last; only accessed by look()
    void look(connection& c);
  };
  database& db_;
  const std::shared_ptr<state> state_;
  std::uint64_t id_ = 0;
};

}  // namespace ry::db
