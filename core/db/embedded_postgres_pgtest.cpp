#include "core/db/embedded_postgres.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/db/connection.hpp"
#include "core/db/spawn.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ry::db::connect_settings;
using ry::db::connection;
using ry::db::embedded_postgres;
using ry::db::failure;

struct folder {
  folder() {
    char name[] = "/tmp/ry-embedded-XXXXXX";
    path = ::mkdtemp(name);
    ::chmod(path.c_str(), 0755);
  }
  ~folder() { fs::remove_all(path); }
  fs::path path;
};

std::string ask(const embedded_postgres& pg, std::string_view sql) {
  connect_settings s;
  s.url = pg.url();
  connection c(s);
  c.open();
  auto rows = c.exec(sql);
  return rows.empty() ? std::string() : std::string(rows.text(0, 0));
}

pid_t postmaster(const folder& f) {
  std::ifstream in(f.path / "postgres" / "postmaster.pid");
  pid_t pid = 0;
  in >> pid;
  return pid;
}

TEST(embedded, makes_a_cluster_keeps_its_data_and_stops_cleanly) {
  folder f;
  {
    embedded_postgres pg({f.path});
    pg.start();
    EXPECT_TRUE(pg.running());
    ask(pg, "create table public.kept as select 42 as n");
    EXPECT_EQ(ask(pg, "show listen_addresses"), "");
    EXPECT_EQ(ask(pg, "show fsync"), "on");
    EXPECT_EQ(ask(pg, "select current_database()"), "runyard");
  }
  EXPECT_FALSE(fs::exists(f.path / "postgres" / "postmaster.pid"));
  embedded_postgres again({f.path});
  again.start();
  EXPECT_EQ(ask(again, "select n from public.kept"), "42");
}

TEST(embedded, strangers_cannot_reach_its_socket) {
  folder f;
  embedded_postgres pg({f.path});
  pg.start();
  struct stat st {};
  ASSERT_EQ(::stat((f.path / "pg-socket").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0077, 0u);
  ASSERT_EQ(::stat((f.path / "postgres").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0077, 0u);
  EXPECT_NE(st.st_uid, 0u);
}

TEST(embedded, a_server_that_dies_comes_back_with_its_data) {
  folder f;
  embedded_postgres pg({f.path});
  pg.start();
  ask(pg, "create table public.kept as select 42 as n");
  ::kill(postmaster(f), SIGKILL);
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (pg.running() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
  while (!pg.running() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(pg.running());
  EXPECT_EQ(ask(pg, "select n from public.kept"), "42");
}

TEST(embedded, a_leftover_of_a_killed_host_is_ended_first) {
  folder f;
  pid_t host = ::fork();
  if (host == 0) {
    embedded_postgres pg({f.path});
    pg.start();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(host, &status, 0), host);
  ASSERT_TRUE(WIFSIGNALED(status));
  embedded_postgres pg({f.path});
  pg.start();
  EXPECT_EQ(ask(pg, "select 1"), "1");
}

TEST(embedded, a_long_path_gets_a_short_socket) {
  folder f;
  embedded_postgres pg({f.path / std::string(120, 'x')});
  pg.start();
  EXPECT_EQ(ask(pg, "select 1"), "1");
  const auto socket_dir = ask(pg, "show unix_socket_directories");
  EXPECT_EQ(socket_dir.find("/tmp/runyard-pg-"), 0u) << socket_dir;
  pg.stop();
  EXPECT_FALSE(fs::exists(socket_dir));
}

TEST(embedded, a_server_that_was_stopped_is_ended_all_the_same) {
  folder f;
  embedded_postgres pg({f.path});
  pg.start();
  const auto server = postmaster(f);
  const auto children = ry::db::children_of(server);
  ASSERT_FALSE(children.empty());
  ::kill(server, SIGSTOP);
  for (const auto child : children) ::kill(child, SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  pg.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  // What was killed takes a moment to go.
  const auto gone = [&] { return ry::db::servers_of(f.path / "postgres").empty(); };
  for (int i = 0; i < 1000 && !gone(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(gone());
  embedded_postgres again({f.path});
  again.start();
  EXPECT_EQ(ask(again, "select 1"), "1");
}

// Starts where the lock file names `pid`, as a crash of the machine or a new container leaves it.
void starts_over_a_lock_file_of(pid_t pid) {
  folder f;
  {
    embedded_postgres pg({f.path});
    pg.start();
    ask(pg, "create table public.kept as select 42 as n");
  }
  const auto lock_file = f.path / "postgres" / "postmaster.pid";
  std::ofstream(lock_file) << pid << '\n'
                           << (f.path / "postgres").string() << "\n1\n5432\n\n\n";
  struct stat st {};
  ASSERT_EQ(::stat((f.path / "postgres").c_str(), &st), 0);
  ASSERT_EQ(::chown(lock_file.c_str(), st.st_uid, st.st_gid), 0);
  ASSERT_EQ(::chmod(lock_file.c_str(), 0600), 0);
  embedded_postgres pg({f.path});
  pg.start();
  EXPECT_EQ(ask(pg, "select n from public.kept"), "42");
}

TEST(embedded, a_lock_file_whose_id_went_to_another_server_does_not_stop_it) {
  folder other;
  embedded_postgres neighbour({other.path});
  neighbour.start();
  starts_over_a_lock_file_of(postmaster(other));
  EXPECT_EQ(ask(neighbour, "select 1"), "1") << "whose process is left alone";
}

TEST(embedded, a_lock_file_of_a_process_that_nobody_reaped_does_not_stop_it) {
  const auto user = ry::db::unprivileged_user();
  const pid_t zombie = ::fork();
  if (zombie == 0) {
    if (user && ::setuid(user->uid) != 0) ::_exit(1);
    ::_exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(ry::db::facts_of(zombie)->state, 'Z');
  starts_over_a_lock_file_of(zombie);
  ::waitpid(zombie, nullptr, 0);
}

TEST(embedded, a_data_directory_out_of_reach_gets_a_link_to_its_cluster) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has an unprivileged user to start";
  folder f;
  fs::create_directory(f.path / "closed");
  ::chmod((f.path / "closed").c_str(), 0700);
  const auto data = f.path / "closed" / "data";
  fs::path place;
  {
    embedded_postgres pg({data});
    pg.start();
    ask(pg, "create table public.kept as select 42 as n");
    ASSERT_TRUE(fs::is_symlink(data / "postgres"));
    place = fs::read_symlink(data / "postgres").parent_path();
    EXPECT_EQ(place.parent_path(), "/var/lib");
  }
  {
    embedded_postgres pg({data});
    pg.start();
    EXPECT_EQ(ask(pg, "select n from public.kept"), "42");
  }
  fs::remove_all(place);
  embedded_postgres pg({data});
  try {
    pg.start();
    FAIL() << "started";
  } catch (const failure& e) {
    EXPECT_NE(e.error.message.find("which is gone"), std::string::npos) << e.error.message;
  }
}

TEST(embedded, another_versions_cluster_is_refused_with_both_versions) {
  folder f;
  fs::create_directories(f.path / "postgres");
  std::ofstream(f.path / "postgres" / "PG_VERSION") << "9\n";
  embedded_postgres pg({f.path});
  try {
    pg.start();
    FAIL() << "started";
  } catch (const failure& e) {
    EXPECT_NE(e.error.message.find("PostgreSQL 9"), std::string::npos) << e.error.message;
    EXPECT_NE(e.error.message.find("pg_dump"), std::string::npos) << e.error.message;
  }
}

TEST(embedded, a_machine_without_postgresql_is_told_what_to_install) {
  folder f;
  embedded_postgres pg({f.path, f.path / "nowhere"});
  try {
    pg.start();
    FAIL() << "started";
  } catch (const failure& e) {
    EXPECT_NE(e.error.message.find("no PostgreSQL in"), std::string::npos) << e.error.message;
  }
}

TEST(embedded, why_no_cluster_could_be_made_is_told) {
  folder f;
  const auto programs = f.path / "bin";
  fs::create_directories(programs);
  std::ofstream(programs / "postgres") << "#!/bin/sh\necho 'postgres (PostgreSQL) 15.1'\n";
  std::ofstream(programs / "initdb") << "#!/bin/sh\nseq 1000\necho 'initdb: error: No space left on device' >&2\nexit 1\n";
  for (const char* name : {"postgres", "initdb"})
    fs::permissions(programs / name, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  embedded_postgres pg({f.path / "data", programs});
  try {
    pg.start();
    FAIL() << "started";
  } catch (const failure& e) {
    EXPECT_NE(e.error.message.find("No space left on device"), std::string::npos) << e.error.message;
    EXPECT_EQ(e.error.message.find('\n'), std::string::npos) << e.error.message;
    EXPECT_LT(e.error.message.size(), 700u);
  }
}

}  // namespace
