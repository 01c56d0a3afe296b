#include "core/db/watchdog.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "core/db/database.hpp"
#include "core/db/embedded_postgres.hpp"
#include "core/db/spawn.hpp"

namespace ry::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A private server that the test stops with SIGSTOP: it keeps its sockets but never answers.
class a_hung_server : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-watchdog-XXXXXX";
    dir = ::mkdtemp(name);
    ::chmod(dir.c_str(), 0755);
    server.emplace(embedded_settings{dir});
    server->start();
    settings s;
    s.connect.url = server->url();
    s.workers = 3;
    s.drain = 500ms;
    db.emplace(s);
    ASSERT_TRUE(db->wait_healthy(10s));
  }
  void TearDown() override {
    go_on();
    db.reset();
    server.reset();
    fs::remove_all(dir);
  }
  // Repeats until all processes are stopped, because one that still runs may fork another.
  void hang() const {
    const auto end = std::chrono::steady_clock::now() + 20s;
    bool all = false;
    while (!all && std::chrono::steady_clock::now() < end) {
      all = true;
      for (const auto each : servers_of(dir / "postgres")) {
        if (is_stopped(each)) continue;
        all = false;
        ::kill(each, SIGSTOP);
      }
      std::this_thread::sleep_for(10ms);
    }
    ASSERT_TRUE(all);
  }
  void go_on() const {
    for (const auto each : servers_of(dir / "postgres")) ::kill(each, SIGCONT);
  }
  static bool is_stopped(pid_t process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name_end = text.rfind(')');
    return name_end == std::string::npos || text.compare(name_end, 3, ") T") == 0;  // ended or stopped
  }
  // Returns the statement's outcome; "" = success.
  std::future<std::string> ask(const char* sql = "select 1", priority l = priority::normal) {
    auto outcome = std::make_shared<std::promise<std::string>>();
    auto out = outcome->get_future();
    db->submit(
        [outcome, sql](connection& c) {
          try {
            c.exec(sql);
            outcome->set_value("");
          } catch (const failure& f) {
            outcome->set_value(f.error.status == RY_UNAVAILABLE ? "unavailable" : f.what());
          }
        },
        l);
    return out;
  }

  fs::path dir;
  std::optional<embedded_postgres> server;
  std::optional<database> db;
};

TEST_F(a_hung_server, fails_waiting_calls_reports_unhealthy_and_recovers) {
  EXPECT_EQ("", ask().get());
  hang();
  // More than there are connections, so that some calls queue.
  std::vector<std::future<std::string>> pending;
  for (int i = 0; i < 8; ++i) pending.push_back(ask("insert into pg_temp.nowhere values (1)"));
  pending.push_back(ask("select 1", priority::high));
  const auto end = std::chrono::steady_clock::now() + 40s;
  for (auto& a : pending) {
    ASSERT_EQ(std::future_status::ready, a.wait_until(end));
    EXPECT_EQ("unavailable", a.get());
  }
  while (db->healthy() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(db->healthy());
  auto late = ask();
  ASSERT_EQ(std::future_status::ready, late.wait_for(20s)) << "later calls fail sooner";
  EXPECT_EQ("unavailable", late.get());
  go_on();
  ASSERT_TRUE(db->wait_healthy(40s));
  EXPECT_EQ("", ask().get());
}

TEST_F(a_hung_server, is_detected_quickly) {
  EXPECT_TRUE(db->responsive(2s));
  hang();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(db->responsive(500ms));
  EXPECT_FALSE(db->responsive(500ms));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s) << "the second check returns immediately";
  go_on();
  ASSERT_TRUE(db->wait_healthy(40s));
  const auto end = std::chrono::steady_clock::now() + 40s;
  while (!db->responsive(2s) && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(db->responsive(2s));
}

TEST_F(a_hung_server, does_not_delay_the_shutdown) {
  auto pending = ask("select pg_sleep(60)");
  hang();
  const auto begin = std::chrono::steady_clock::now();
  db->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
  EXPECT_EQ("unavailable", pending.get());
}

TEST_F(a_hung_server, a_long_statement_is_not_treated_as_a_hang) {
  auto pending = ask("select pg_sleep(8)");
  EXPECT_EQ("", pending.get());
  EXPECT_TRUE(db->healthy());
}

// An answer of another host must not count for the host that hangs.
TEST_F(a_hung_server, is_replaced_by_another_host_of_the_same_url) {
  const auto second = dir / "second";
  fs::create_directory(second);
  ::chmod(second.c_str(), 0755);
  embedded_postgres other(embedded_settings{second});
  other.start();
  const auto hosts = other.url().substr(other.url().find("host=") + 5);
  settings two;
  two.connect.url = server->url() + "," + hosts;
  two.workers = 3;
  two.drain = 500ms;
  db.emplace(two);
  ASSERT_TRUE(db->wait_healthy(10s));
  EXPECT_EQ("", ask("create schema only_on_the_first").get());
  hang();
  auto pending = ask();
  // Earlier than the statement timeout, which a working server would enforce.
  ASSERT_EQ(std::future_status::ready, pending.wait_for(25s));
  EXPECT_EQ("unavailable", pending.get());
  const auto end = std::chrono::steady_clock::now() + 40s;
  std::string outcome;
  do {
    auto again = ask("create schema only_on_the_first");
    ASSERT_EQ(std::future_status::ready, again.wait_until(end));
    outcome = again.get();
  } while (outcome == "unavailable" && std::chrono::steady_clock::now() < end);
  EXPECT_EQ("", outcome);
  db.reset();
}

}  // namespace
}  // namespace ry::db
