#include "core/app/migration_progress.hpp"

#include <utility>

#include "core/db/migrator.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace {

std::string sentence(const std::string& module, const std::string& migration) {
  return migration.empty() ? "waiting for another node that migrates the database"
                           : "applying migration " + migration + " of module " + module;
}

}  // namespace

migration_progress::migration_progress(std::function<void(const std::string&)> alive,
                                       std::function<void(const db::migration_step&)> on_applied,
                                       std::chrono::milliseconds interval)
    : alive_(std::move(alive)), on_applied_(std::move(on_applied)), interval_(interval), thread_([this] { watch(); }) {}

migration_progress::~migration_progress() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void migration_progress::waiting() { set(activity{{}, {}, clock::now()}); }

void migration_progress::running(const db::migration_step& step) { set(activity{step.module, step.id, clock::now()}); }

void migration_progress::applied(const db::migration_step& step) {
  set(std::nullopt);
  if (on_applied_) on_applied_(step);
}

void migration_progress::failed(const db::migration_step&) { set(std::nullopt); }

void migration_progress::set(std::optional<activity> current) {
  std::lock_guard lock(mutex_);
  current_ = std::move(current);
}

void migration_progress::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval_, [this] { return ended_; })) {
    if (!current_) continue;
    const activity what = *current_;
    lock.unlock();
    report(what);
    lock.lock();
  }
}

void migration_progress::report(const activity& what) const {
  if (alive_) alive_(sentence(what.module, what.migration));
  const auto age = clock::now() - what.since;
  if (age < interval_) return;
  const auto seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(age).count());
  if (what.migration.empty())
    observe::log(observe::level::info, "db", "still waiting for another node that migrates the database",
                 {{"seconds", seconds}});
  else
    observe::log(observe::level::info, "db", "a migration is still running",
                 {{"module", what.module}, {"migration", what.migration}, {"seconds", seconds}});
}

}  // namespace ry::app
