// Looks for transactions that stay open: as long as one does, vacuum keeps every row that it might still see,
// and tables which change much (jobs, runs) grow and slow down. Says so in the log, once for each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/db/database.hpp"

namespace ry::db {

class horizon {
 public:
  // alarm 0: only measures. The database outlives it, or is stopped first.
  horizon(database& db, std::chrono::milliseconds alarm,
          std::chrono::milliseconds every = std::chrono::seconds(15));
  ~horizon();
  horizon(const horizon&) = delete;
  horizon& operator=(const horizon&) = delete;

  // Age of the oldest open transaction as of the last look, of those that our role may see: its own, or with
  // pg_monitor all; prepared ones always. 0: none. [any]
  double oldest_seconds() const noexcept;

 private:
  struct state {
    std::chrono::milliseconds alarm;
    std::atomic<std::int64_t> oldest_ms{0};
    std::atomic<bool> asking{false};
    std::string told;  // whom the log has named; only inside a look
    void look(connection& c);
  };
  database& db_;
  const std::shared_ptr<state> state_;
  std::uint64_t id_ = 0;
};

}  // namespace ry::db
