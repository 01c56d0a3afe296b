// Reports long migrations. Every `interval` while migrations run, or while the server waits for another node's
// migrations, it calls `on_progress`; the server then asks its service manager for more time. A migration that runs
// longer than `interval` is logged, with the elapsed time, once per `interval`.
//
// Threads: the migrating thread calls the observer's members; a thread of this object calls `on_progress`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/db/migration_observer.hpp"

namespace ry::app {

class migration_progress final : public db::migration_observer {
 public:
  static constexpr std::chrono::seconds default_interval{5};

  // Both functions may be empty. `on_progress` receives a message that describes the work in progress.
  explicit migration_progress(std::function<void(const std::string&)> on_progress = {},
                              std::function<void(const db::migration_step&)> on_applied = {},
                              std::chrono::milliseconds interval = default_interval);
  ~migration_progress() override;
  migration_progress(const migration_progress&) = delete;
  migration_progress& operator=(const migration_progress&) = delete;

  void waiting() override;
  void running(const db::migration_step& step) override;
  void applied(const db::migration_step& step) override;
  void failed(const db::migration_step& step) override;

 private:
  using clock = std::chrono::steady_clock;
  struct activity {
    std::string module, migration;  // empty: waiting for another node
    clock::time_point since, next_report;
  };
  void begin(std::string module, std::string migration);
  void end();
  void watch();
  static void report(const activity& what);

  const std::function<void(const std::string&)> on_progress_;
  const std::function<void(const db::migration_step&)> on_applied_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<activity> current_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace ry::app
