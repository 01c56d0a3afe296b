#include "core/app/boot/migration_progress.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/db/migrator.hpp"

namespace ry::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

db::migration_step step(const char* id) {
  return {"shop", id, db::migration_step::state::pending, {}};
}

// Collects the reports.
class reports {
 public:
  std::function<void(const std::string&)> listener() {
    return [this](const std::string& sentence) {
      std::lock_guard lock(mutex_);
      sentences_.push_back(sentence);
      changed_.notify_all();
    };
  }
  // Waits until there are at least n reports, then returns all.
  std::vector<std::string> wait_for(std::size_t n) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 10s, [&] { return sentences_.size() >= n; }));
    return sentences_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> sentences_;
};

TEST(migration_progress_test, reports_a_migration_repeatedly_until_it_ends) {
  reports received;
  testing::internal::CaptureStderr();
  {
    migration_progress progress(received.listener(), {}, 20ms);
    progress.running(step("0001_slow"));
    EXPECT_THAT(received.wait_for(3), testing::Each(testing::Eq("applying migration 0001_slow of module shop")));
    progress.applied(step("0001_slow"));
    const auto until_now = received.wait_for(3).size();
    std::this_thread::sleep_for(100ms);
    EXPECT_LE(received.wait_for(3).size(), until_now + 1) << "a report in progress may follow";
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("a migration is still running"), HasSubstr("module=shop"),
                             HasSubstr("migration=0001_slow"), HasSubstr("seconds=0")));
}

TEST(migration_progress_test, quick_migrations_report_progress_but_are_not_logged) {
  reports received;
  std::vector<std::string> applied;
  testing::internal::CaptureStderr();
  {
    migration_progress progress(
        received.listener(), [&](const auto& s) { applied.push_back(s.id); }, 1s);
    for (auto until = std::chrono::steady_clock::now() + 1300ms; std::chrono::steady_clock::now() < until;) {
      progress.running(step("0001_a"));
      std::this_thread::sleep_for(1ms);
      progress.applied(step("0001_a"));
      progress.running(step("0002_b"));
      std::this_thread::sleep_for(1ms);
    }
    progress.failed(step("0002_b"));
    EXPECT_FALSE(received.wait_for(1).empty());
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_THAT(applied, testing::AllOf(testing::Not(IsEmpty()), testing::Each("0001_a")));
}

TEST(migration_progress_test, waiting_for_another_node_is_reported) {
  reports received;
  testing::internal::CaptureStderr();
  {
    migration_progress progress(received.listener(), {}, 20ms);
    progress.waiting();
    EXPECT_THAT(received.wait_for(2).back(), HasSubstr("waiting for another node"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("still waiting for another node"));
}

}  // namespace
}  // namespace ry::app
