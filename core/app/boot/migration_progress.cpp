#include "core/app/boot/migration_progress.hpp"

#include <utility>

#include "core/db/migrator.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace {

constexpr int looks_per_interval = 5;

std::string sentence(const std::string& module, const std::string& migration) {
  return migration.empty() ? "waiting for another node that migrates the database"
                           : "applying migration " + migration + " of module " + module;
}

}  // namespace

migration_progress::migration_progress(std::function<void(const std::string&)> on_progress,
                                       std::function<void(const db::migration_step&)> on_applied,
                                       std::chrono::milliseconds interval)
    : on_progress_(std::move(on_progress)),
      on_applied_(std::move(on_applied)),
      interval_(interval),
      thread_([this] { watch(); }) {}

migration_progress::~migration_progress() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void migration_progress::waiting() {
  begin({}, {});
}

void migration_progress::running(const db::migration_step& step) {
  begin(step.module, step.id);
}

void migration_progress::applied(const db::migration_step& step) {
  end();
  if (on_applied_) on_applied_(step);
}

void migration_progress::failed(const db::migration_step&) {
  end();
}

void migration_progress::begin(std::string module, std::string migration) {
  const auto now = clock::now();
  std::lock_guard lock(mutex_);
  current_ = activity{std::move(module), std::move(migration), now, now + interval_};
}

void migration_progress::end() {
  std::lock_guard lock(mutex_);
  current_.reset();
}

void migration_progress::watch() {
  std::unique_lock lock(mutex_);
  auto next_sign = clock::now() + interval_;
  while (!changed_.wait_for(lock, interval_ / looks_per_interval, [this] { return ended_; })) {
    if (!current_) continue;
    const auto now = clock::now();
    const bool sign_is_due = now >= next_sign, report_is_due = now >= current_->next_report;
    if (sign_is_due) next_sign = now + interval_;
    if (report_is_due) current_->next_report = now + interval_;
    const activity what = *current_;
    lock.unlock();
    if (sign_is_due && on_progress_) on_progress_(sentence(what.module, what.migration));
    if (report_is_due) report(what);
    lock.lock();
  }
}

void migration_progress::report(const activity& what) {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - what.since);
  const auto seconds = std::to_string(age.count());
  if (what.migration.empty())
    observe::log(observe::level::info, "db", "still waiting for another node that migrates the database",
                 {{"seconds", seconds}});
  else
    observe::log(observe::level::info, "db", "a migration is still running",
                 {{"module", what.module}, {"migration", what.migration}, {"seconds", seconds}});
}

}  // namespace ry::app
