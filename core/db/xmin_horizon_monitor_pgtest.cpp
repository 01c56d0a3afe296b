#include "core/db/xmin_horizon_monitor.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "core/db/test_database.hpp"

namespace ry::db {
namespace {

using namespace std::chrono_literals;

bool wait_for(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

TEST(xmin_horizon_monitor, a_long_transaction_is_measured_and_logged_once) {
  if (!test_database::available()) GTEST_SKIP() << "RY_TEST_DATABASE_URL is not set";
  test_database base;
  settings s;
  s.connect.url = base.url();
  s.workers = 2;
  database db(s);
  ASSERT_TRUE(db.wait_healthy(10s));

  connect_settings other{base.url()};
  other.application_name = "forgotten";
  connection holder(other);
  holder.open();
  testing::internal::CaptureStderr();
  {
    auto tx = holder.begin();
    holder.exec("select pg_current_xact_id()");
    xmin_horizon_monitor h(db, 300ms, 50ms);
    EXPECT_TRUE(wait_for([&] { return h.oldest_seconds() > 0.8; }));
    tx.rollback();
    EXPECT_TRUE(wait_for([&] { return h.oldest_seconds() < 0.3; }));
  }
  const auto log = testing::internal::GetCapturedStderr();
  const auto logged_at = log.find("a long-running transaction holds back vacuum");
  ASSERT_NE(logged_at, std::string::npos) << log;
  EXPECT_EQ(log.find("a long-running transaction holds back vacuum", logged_at + 1), std::string::npos) << log;
  EXPECT_NE(log.find("forgotten"), std::string::npos) << log;
}

}  // namespace
}  // namespace ry::db
