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

TEST(embedded, creates_a_cluster_keeps_its_data_and_stops_cleanly) {
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

TEST(embedded, other_users_cannot_reach_its_socket) {
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

TEST(embedded, a_killed_server_is_restarted_with_its_data) {
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

TEST(embedded, a_server_left_by_a_killed_host_is_terminated_first) {
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

TEST(embedded, a_server_stopped_by_a_signal_is_terminated) {
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
  // Killed processes take a moment to disappear.
  const auto gone = [&] { return ry::db::servers_of(f.path / "postgres").empty(); };
  for (int i = 0; i < 1000 && !gone(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(gone());
  embedded_postgres again({f.path});
  again.start();
  EXPECT_EQ(ask(again, "select 1"), "1");
}

// Starts with a lock file that names `pid`, as after a machine crash or in a new container.
void starts_over_a_lock_file_of(pid_t pid) {
  folder f;
  {
    embedded_postgres pg({f.path});
    pg.start();
    ask(pg, "create table public.kept as select 42 as n");
  }
  const auto lock_file = f.path / "postgres" / "postmaster.pid";
  std::ofstream(lock_file) << pid << '\n' << (f.path / "postgres").string() << "\n1\n5432\n\n\n";
  struct stat st {};
  ASSERT_EQ(::stat((f.path / "postgres").c_str(), &st), 0);
  ASSERT_EQ(::chown(lock_file.c_str(), st.st_uid, st.st_gid), 0);
  ASSERT_EQ(::chmod(lock_file.c_str(), 0600), 0);
  embedded_postgres pg({f.path});
  pg.start();
  EXPECT_EQ(ask(pg, "select n from public.kept"), "42");
}

TEST(embedded, a_lock_file_with_a_reused_process_id_does_not_prevent_the_start) {
  folder other;
  embedded_postgres neighbour({other.path});
  neighbour.start();
  starts_over_a_lock_file_of(postmaster(other));
  EXPECT_EQ(ask(neighbour, "select 1"), "1") << "the other process must not be signalled";
}

TEST(embedded, a_lock_file_of_a_zombie_process_does_not_prevent_the_start) {
  const auto user = ry::db::unprivileged_user();
  const pid_t zombie = ::fork();
  if (zombie == 0) {
    if (user && ::setuid(user->uid) != 0) ::_exit(1);
    ::_exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(ry::db::process_info_of(zombie)->state, 'Z');
  starts_over_a_lock_file_of(zombie);
  ::waitpid(zombie, nullptr, 0);
}

TEST(embedded, a_cluster_of_a_shared_user_is_transferred_to_the_dedicated_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root runs PostgreSQL as another user";
  folder f;
  const auto owner = [&](const fs::path& p) {
    struct stat st {};
    return ::lstat(p.c_str(), &st) == 0 ? st.st_uid : uid_t{0};
  };
  const auto settings_of = [&](std::vector<std::string> users) {
    ry::db::embedded_settings s;
    s.data_dir = f.path;
    s.users = std::move(users);
    return s;
  };
  {
    embedded_postgres pg(settings_of({"nobody"}));
    pg.start();
    ask(pg, "create table public.kept as select 42 as n");
  }
  const auto former = owner(f.path / "postgres");
  {
    embedded_postgres pg(settings_of({"postgres", "nobody"}));
    pg.start();
    EXPECT_EQ(ask(pg, "select n from public.kept"), "42");
  }
  EXPECT_NE(owner(f.path / "postgres"), former);
  EXPECT_EQ(owner(f.path / "postgres" / "PG_VERSION"), owner(f.path / "postgres"));
  EXPECT_EQ(owner(f.path / "pg-socket"), owner(f.path / "postgres"));
}

TEST(embedded, an_inaccessible_data_directory_gets_a_link_to_its_cluster) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has an unprivileged user to start";
  folder f;
  fs::create_directory(f.path / "closed");
  ::chmod((f.path / "closed").c_str(), 0700);
  const auto data = f.path / "closed" / "data";
  fs::path parent;
  {
    embedded_postgres pg({data});
    pg.start();
    ask(pg, "create table public.kept as select 42 as n");
    ASSERT_TRUE(fs::is_symlink(data / "postgres"));
    parent = fs::read_symlink(data / "postgres").parent_path();
    EXPECT_EQ(parent.parent_path(), "/var/lib");
  }
  {
    embedded_postgres pg({data});
    pg.start();
    EXPECT_EQ(ask(pg, "select n from public.kept"), "42");
  }
  fs::remove_all(parent);
  embedded_postgres pg({data});
  try {
    pg.start();
    FAIL() << "started";
  } catch (const failure& e) {
    EXPECT_NE(e.error.message.find("which does not exist"), std::string::npos) << e.error.message;
  }
}

// Programs that report the given version for `postgres --version`; started as a server they fail and print it.
void make_stub_programs(const fs::path& bindir, const std::string& version) {
  fs::create_directories(bindir);
  std::ofstream(bindir / "postgres") << "#!/bin/sh\n[ \"$1\" = --version ] && echo 'postgres (PostgreSQL) " << version
                                     << "' && exit\necho 'stub " << version << " was started'\nexit 1\n";
  std::ofstream(bindir / "initdb") << "#!/bin/sh\necho 'stub " << version << " creates no cluster' >&2\nexit 1\n";
  for (const char* name : {"postgres", "initdb"})
    fs::permissions(bindir / name, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                       fs::perms::others_read | fs::perms::others_exec);
}

// A directory that looks like a cluster to the version check. PG_VERSION contains exactly `text`.
fs::path make_stub_cluster(const folder& f, const std::string& text) {
  const auto cluster = f.path / "data" / "postgres";
  fs::create_directories(cluster);
  ::chmod((f.path / "data").c_str(), 0755);
  std::ofstream(cluster / "PG_VERSION") << text;
  return cluster;
}

struct attempt {
  std::string error;  // empty: it started
  std::string log;
};

attempt start_on(const folder& f, const fs::path& bindir = {}) {
  attempt out;
  testing::internal::CaptureStderr();
  try {
    embedded_postgres pg({f.path / "data", bindir});
    pg.start();
  } catch (const failure& e) {
    out.error = e.what();
  }
  out.log = testing::internal::GetCapturedStderr();
  return out;
}

struct path_in_front {
  explicit path_in_front(const std::string& dirs) : before(std::getenv("PATH")) {
    ::setenv("PATH", (dirs + ":" + before).c_str(), 1);
  }
  ~path_in_front() { ::setenv("PATH", before.c_str(), 1); }
  std::string before;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr auto chapter = "docs/postgres-upgrade.md";

TEST(embedded, an_older_versions_cluster_is_refused_with_the_upgrade_steps) {
  folder f;
  const auto cluster = make_stub_cluster(f, "15\n");
  make_stub_programs(f.path / "bin", "17.2");
  const auto a = start_on(f, f.path / "bin");
  EXPECT_TRUE(has(a.error, cluster.string() + " was created by PostgreSQL 15")) << a.error;
  EXPECT_TRUE(has(a.error, "Installed: 17 (" + (f.path / "bin").string() + ")")) << a.error;
  EXPECT_TRUE(has(a.error, "until you run pg_upgrade")) << a.error;
  EXPECT_TRUE(has(a.error, "pg_dump")) << a.error;
  EXPECT_TRUE(has(a.error, chapter)) << a.error;
  EXPECT_TRUE(has(a.error, "Use the programs of PostgreSQL 15")) << a.error;
  EXPECT_FALSE(has(a.error, "cannot convert")) << a.error;
  EXPECT_FALSE(has(a.log, "is older than")) << a.log;
  EXPECT_EQ(std::distance(fs::directory_iterator(cluster), {}), 1) << "the cluster is untouched";
}

TEST(embedded, a_newer_versions_cluster_is_refused_without_an_upgrade) {
  folder f;
  const auto cluster = make_stub_cluster(f, "17\n");
  make_stub_programs(f.path / "bin", "15.20 (Debian 15.20-0+deb12u1)");
  const auto a = start_on(f, f.path / "bin");
  EXPECT_TRUE(has(a.error, cluster.string() + " was created by PostgreSQL 17")) << a.error;
  EXPECT_TRUE(has(a.error, "Installed: 15 (")) << a.error;
  EXPECT_TRUE(has(a.error, "cannot convert a cluster to an older version")) << a.error;
  EXPECT_TRUE(has(a.error, "(pg_dump) that PostgreSQL 15 or an older version created")) << a.error;
  EXPECT_FALSE(has(a.error, "pg_upgrade")) << a.error;
  EXPECT_TRUE(has(a.error, chapter)) << a.error;
}

TEST(embedded, the_package_of_a_missing_version_and_the_installed_versions_are_named) {
  folder f;
  make_stub_cluster(f, "11\n");
  make_stub_programs(f.path / "12", "12.1");
  const path_in_front path((f.path / "12").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "Install the package postgresql-11")) << a.error;
  EXPECT_TRUE(has(a.error, "12 (" + (f.path / "12").string() + ")")) << a.error;
}

TEST(embedded, the_version_that_created_the_cluster_serves_it_and_a_newer_one_is_mentioned) {
  folder f;
  make_stub_cluster(f, "11\n");
  make_stub_programs(f.path / "11", "11.22");
  make_stub_programs(f.path / "12", "12.1");
  const path_in_front path((f.path / "12").string() + ":" + (f.path / "11").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "stub 11.22 was started")) << a.error;
  EXPECT_TRUE(has(a.log, "is older than the newest installed one")) << a.log;
  EXPECT_TRUE(has(a.log, "version=11")) << a.log;
  EXPECT_TRUE(has(a.log, chapter)) << a.log;
}

TEST(embedded, the_newest_version_serves_its_cluster_without_a_warning) {
  folder f;
  make_stub_cluster(f, "900\n");
  make_stub_programs(f.path / "900", "900.1");
  const path_in_front path((f.path / "900").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "stub 900.1 was started")) << a.error;
  EXPECT_FALSE(has(a.log, "is older than")) << a.log;
}

TEST(embedded, programs_that_do_not_run_are_ignored_with_a_warning) {
  folder f;
  make_stub_cluster(f, "11\n");
  make_stub_programs(f.path / "11", "11.22");
  make_stub_programs(f.path / "broken", "11.22");
  std::ofstream(f.path / "broken" / "postgres")
      << "#!/bin/sh\necho 'libicui18n.so.72: cannot open shared object file' >&2\nexit 127\n";
  const path_in_front path((f.path / "broken").string() + ":" + (f.path / "11").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "stub 11.22 was started")) << a.error;
  EXPECT_TRUE(has(a.log, (f.path / "broken").string())) << a.log;
  EXPECT_TRUE(has(a.log, "libicui18n.so.72")) << a.log;

  const auto only = start_on(f, f.path / "broken");
  EXPECT_TRUE(has(only.error, "Installed: none")) << only.error;
}

TEST(embedded, a_damaged_version_file_is_rejected) {
  folder f;
  make_stub_programs(f.path / "bin", "15.1");
  for (const char* text : {"", "\n", "15rubbish\n", " 15\n", "-15\n", "0\n", "15.1\n", "99999999999\n", "fifteen\n",
                           "9\n", "9.\n", "9.x\n", "15\n                                  \n",
                           "\x1b[2J\x01\xff and a line that is too long to be shown whole\n"}) {
    const auto cluster = make_stub_cluster(f, text);
    const auto a = start_on(f, f.path / "bin");
    EXPECT_TRUE(has(a.error, (cluster / "PG_VERSION").string() + " is damaged")) << a.error;
    EXPECT_TRUE(has(a.error, (cluster / "base" / "1" / "PG_VERSION").string())) << a.error;
    EXPECT_TRUE(has(a.error, "docs/backup.md")) << a.error;
    EXPECT_FALSE(has(a.error, "whole")) << a.error;
    EXPECT_FALSE(has(a.error, "\x1b")) << a.error;
  }
}

TEST(embedded, a_version_of_two_parts_is_printed_completely) {
  folder f;
  make_stub_cluster(f, "9.6\n");
  make_stub_programs(f.path / "9.5", "9.5.25");
  const path_in_front path((f.path / "9.5").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "was created by PostgreSQL 9.6,")) << a.error;
  EXPECT_TRUE(has(a.error, "the package postgresql-9.6 (")) << a.error;
  EXPECT_TRUE(has(a.error, "9.5 (" + (f.path / "9.5").string() + ")")) << a.error;
}

TEST(embedded, each_installed_version_is_listed_once) {
  folder f;
  make_stub_cluster(f, "11\n");
  make_stub_programs(f.path / "one", "12.1");
  make_stub_programs(f.path / "two", "12.3");
  const path_in_front path((f.path / "one").string() + ":" + (f.path / "two").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "12 (" + (f.path / "one").string() + ")")) << a.error;
  EXPECT_FALSE(has(a.error, (f.path / "two").string())) << a.error;
}

TEST(embedded, a_version_file_that_is_not_a_regular_file_is_refused) {
  folder f;
  make_stub_programs(f.path / "bin", "15.1");
  const auto file = make_stub_cluster(f, "15\n") / "PG_VERSION";
  std::ofstream(f.path / "secret") << "root:secret\n";
  const auto is_refused = [&](const char* kind) {
    const auto a = start_on(f, f.path / "bin");
    EXPECT_TRUE(has(a.error, file.string() + " is not a regular file")) << kind << ": " << a.error;
    EXPECT_FALSE(has(a.error, "secret")) << kind << ": " << a.error;
    fs::remove(file);
  };
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
  is_refused("FIFO");
  for (const char* target : {"/dev/zero", "/nonexistent"}) {
    fs::create_symlink(target, file);
    is_refused(target);
  }
  fs::create_symlink(f.path / "secret", file);
  is_refused("symbolic link");
  fs::create_directory(file);
  is_refused("directory");
}

TEST(embedded, a_lock_file_that_is_not_a_regular_file_is_refused) {
  folder f;
  make_stub_programs(f.path / "bin", "15.1");
  const auto file = make_stub_cluster(f, "15\n") / "postmaster.pid";
  ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
  const auto a = start_on(f, f.path / "bin");
  EXPECT_TRUE(has(a.error, file.string() + " is not a regular file")) << a.error;
}

TEST(embedded, a_cluster_without_a_version_file_is_refused_and_kept) {
  for (const char* part : {"base", "global"}) {
    folder f;
    make_stub_programs(f.path / "bin", "15.1");
    const auto cluster = make_stub_cluster(f, "15\n");
    fs::remove(cluster / "PG_VERSION");
    fs::create_directory(cluster / part);
    testing::internal::CaptureStderr();
    try {
      embedded_postgres pg({f.path / "data", f.path / "bin"});
      pg.start();
      ADD_FAILURE() << "started";
    } catch (const failure& e) {
      const std::string text = e.what();
      EXPECT_TRUE(has(text, "has no file PG_VERSION. The server has not changed the cluster.")) << text;
      EXPECT_TRUE(has(text, (cluster / "base" / "1" / "PG_VERSION").string())) << text;
      EXPECT_EQ(e.error.reason, embedded_postgres::wrong_version);
    }
    testing::internal::GetCapturedStderr();
    EXPECT_TRUE(fs::exists(cluster / part));
  }
}

TEST(embedded, a_directory_that_is_not_a_cluster_is_refused_and_kept) {
  folder f;
  make_stub_programs(f.path / "bin", "15.1");
  const auto cluster = make_stub_cluster(f, "15\n");
  fs::rename(cluster / "PG_VERSION", cluster / "notes");
  const auto a = start_on(f, f.path / "bin");
  EXPECT_TRUE(has(a.error, "move it away. The server then creates an empty database")) << a.error;
  EXPECT_TRUE(fs::exists(cluster / "notes"));
}

TEST(embedded, a_cluster_next_to_the_new_one_is_named_in_a_warning) {
  folder f;
  make_stub_programs(f.path / "bin", "15.1");
  const auto cluster = make_stub_cluster(f, "15\n");
  const fs::path beside = cluster.string() + ".15";
  fs::rename(cluster, beside);
  fs::create_directory(cluster.string() + ".17");  // without PG_VERSION
  const auto a = start_on(f, f.path / "bin");
  EXPECT_TRUE(has(a.error, "creates no cluster")) << a.error;
  EXPECT_TRUE(has(a.log, "creates an empty cluster")) << a.log;
  EXPECT_TRUE(has(a.log, beside.string())) << a.log;
  EXPECT_TRUE(has(a.log, chapter)) << a.log;
  EXPECT_FALSE(has(a.log, cluster.string() + ".17")) << a.log;
}

TEST(embedded, the_newest_version_creates_a_cluster_wherever_it_is_installed) {
  folder f;
  make_stub_programs(f.path / "11", "11.22");
  make_stub_programs(f.path / "900", "900.1");
  make_stub_programs(f.path / "other", "900.1");
  std::ofstream(f.path / "other" / "initdb") << "#!/bin/sh\necho 'not the first' >&2\nexit 1\n";
  const path_in_front path((f.path / "11").string() + ":" + (f.path / "900").string() + ":" +
                           (f.path / "other").string());
  const auto a = start_on(f);
  EXPECT_TRUE(has(a.error, "stub 900.1 creates no cluster")) << a.error;
  EXPECT_FALSE(has(a.log, "an empty cluster")) << a.log;
}

TEST(embedded, relative_entries_of_path_are_skipped) {
  folder f;
  make_stub_cluster(f, "11\n");
  make_stub_programs(f.path / "bin", "11.22");
  const auto before = fs::current_path();
  fs::current_path(f.path);
  const path_in_front path("bin:./bin");
  const auto a = start_on(f);
  fs::current_path(before);
  EXPECT_TRUE(has(a.error, "the package postgresql-11")) << a.error;
}

TEST(embedded, a_cluster_of_another_user_is_refused_with_the_reason) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read every cluster";
  folder f;
  const auto cluster = make_stub_cluster(f, "15\n");
  fs::permissions(cluster, fs::perms::none);
  make_stub_programs(f.path / "bin", "15.1");
  const auto a = start_on(f, f.path / "bin");
  fs::permissions(cluster, fs::perms::owner_all);
  EXPECT_TRUE(has(a.error, "Permission denied")) << a.error;
  EXPECT_TRUE(has(a.error, "Start the server as the user")) << a.error;
}

TEST(embedded, without_postgresql_the_error_names_the_package) {
  folder f;
  embedded_postgres pg({f.path, f.path / "nowhere"});
  try {
    pg.start();
    FAIL() << "started";
  } catch (const failure& e) {
    EXPECT_NE(e.error.message.find("no PostgreSQL in"), std::string::npos) << e.error.message;
  }
}

TEST(embedded, a_failed_initdb_is_reported_with_its_output) {
  folder f;
  const auto programs = f.path / "bin";
  fs::create_directories(programs);
  std::ofstream(programs / "postgres") << "#!/bin/sh\necho 'postgres (PostgreSQL) 15.1'\n";
  std::ofstream(programs / "initdb")
      << "#!/bin/sh\nseq 1000\necho 'initdb: error: No space left on device' >&2\nexit 1\n";
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
