#include "core/db/embedded_postgres.hpp"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <ry/cpp/text.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/db/cluster_files.hpp"
#include "core/db/cluster_owner.hpp"
#include "core/db/connection.hpp"
#include "core/db/embedded_error.hpp"
#include "core/db/failure.hpp"
#include "core/db/postgres_versions.hpp"
#include "core/db/spawn.hpp"
#include "core/exec/resource_limits.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace fs = std::filesystem;
using namespace embedded;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

constexpr auto role = "runyard";  // owner of the cluster and name of its database
constexpr auto start_limit = 60s;  // crash recovery may take long
constexpr std::uintmax_t log_max = 10 << 20;

// One eighth of the memory that the process may use, within bounds. The kernel allocates pages on first use, so a
// small database stays small.
long shared_buffers_mb() {
  const auto memory_mb = static_cast<long>(exec::usable_memory_bytes() >> 20);
  return std::clamp(memory_mb / 8, 64L, 256L);
}

}  // namespace

class embedded_postgres::impl {
 public:
  explicit impl(embedded_settings s) : settings_(std::move(s)), owner_(settings_.users) {}
  ~impl() { stop(); }

  void start() {
    const auto begin = clock::now();
    std::promise<void> ready;
    auto result = ready.get_future();
    // PostgreSQL receives its parent-death signal when the thread that started it ends, so this thread lives as long
    // as this object.
    thread_ = std::thread([this, &ready] {
      try {
        prepare();
        launch();
        make_database();
        running_ = true;
        ready.set_value();
      } catch (...) {
        end_server(SIGINT);
        leave_socket_dir();
        ready.set_exception(std::current_exception());
        return;
      }
      supervise();
    });
    try {
      result.get();
    } catch (...) {
      thread_.join();
      throw;
    }
    start_time_ = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
    observe::log(observe::level::info, "db", "embedded PostgreSQL is ready",
                 {{"version", programs_.version.text()},
                  {"data", cluster_.string()},
                  {"ms", std::to_string(start_time_.count())}});
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      if (pid_ > 0) ::kill(pid_, SIGINT);
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::string url() const { return url_of(role); }
  bool running() const noexcept { return running_; }
  std::chrono::milliseconds start_time() const noexcept { return start_time_; }

 private:
  std::string url_of(std::string_view database) const {
    return "postgresql://" + std::string(role) + "@/" + std::string(database) +
           "?host=" + percent_encoded(socket_dir_.string());
  }

  void prepare() {
    owner_.choose();
    const auto data = fs::absolute(make_dir(settings_.data_dir));
    place_ = owner_.reachable(data);
    cluster_ = place_ / "postgres";
    log_ = place_ / "postgres.log";
    const auto made_by = cluster_version(cluster_);
    programs_ = choose_installation(cluster_, made_by, settings_.bindir, owner_.user());
    socket_dir_ = cluster_owner::socket_dir(place_);
    owner_.make_socket_dir(socket_dir_, place_);
    if (!made_by) make_cluster();
    end_leftover();
    if (made_by) owner_.claim(cluster_, log_);
  }

  // Detects an interrupted upgrade by docs/postgres-upgrade.md, which leaves the cluster under another name.
  void warn_of_clusters_beside() const {
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(place_, ec)) {
      const auto name = entry.path().filename().string();
      const auto version = name.starts_with("postgres.") ? name.substr(9) : std::string();
      if (version.empty() || version.find_first_not_of("0123456789.") != std::string::npos) continue;
      if (!fs::exists(entry.path() / "PG_VERSION", ec)) continue;
      observe::log(observe::level::warn, "db",
                   "the server creates an empty cluster, and there is another cluster next to it; if "
                   "an upgrade was interrupted, stop the server and follow \"Interrupted exchange\" "
                   "in docs/postgres-upgrade.md",
                   {{"empty", cluster_.string()}, {"existing", entry.path().string()}});
    }
  }

  void make_cluster() {
    observe::log(observe::level::info, "db", "creating a private PostgreSQL cluster", {{"data", cluster_.string()}});
    std::error_code ec;
    if (fs::exists(cluster_) && !fs::is_empty(cluster_))
      refuse(cluster_.string() +
             " is not empty and is not a PostgreSQL cluster; move it away. The server then creates "
             "an empty database.");
    warn_of_clusters_beside();
    // Created under another name and then renamed, so that an interrupted first start leaves no partial cluster.
    const auto fresh = place_ / "postgres.new";
    fs::remove_all(fresh, ec);
    make_dir(fresh);
    own(fresh, owner_.user(), 0700);
    const auto made =
        run_program({(programs_.bindir / "initdb").string(), "-D", fresh.string(), "-U", role, "--auth=trust", "-E",
                     "UTF8", "--locale=C.UTF-8", "--data-checksums", "--no-instructions"},
                    owner_.user());
    if (made.status != 0) {
      fs::remove_all(fresh, ec);
      refuse("initdb failed: " + tail(made.output));
    }
    fs::remove(cluster_, ec);
    fs::rename(fresh, cluster_, ec);
    if (ec) refuse("Cannot rename " + fresh.string() + ": " + ec.message());
  }

  // After a crash of our process, its PostgreSQL server may still run or be shutting down, and its children may
  // outlive it briefly. The data directory is exclusively ours (core/app/boot/data_dir_lock.hpp), so a lock file that
  // names another process is stale: its process id was reused or belongs to a zombie. PostgreSQL would refuse to start
  // with such a file.
  void end_leftover() {
    const auto lock_file = cluster_ / "postmaster.pid";
    const auto lock = first_bytes(lock_file, 32, "Remove it and start the server again.", "db.embedded");
    const auto pid = static_cast<pid_t>(std::atoi(first_line(lock.value_or("")).c_str()));
    const auto begin = clock::now();
    int sent = 0;
    for (auto left = servers_of(cluster_, pid); !left.empty(); left = servers_of(cluster_, pid)) {
      const auto waited = clock::now() - begin;
      const int wanted = waited > 13s ? SIGKILL : waited > 10s ? SIGQUIT : SIGINT;
      const bool has_server = std::find(left.begin(), left.end(), pid) != left.end();
      if (waited > 20s)
        refuse("A PostgreSQL server (process " + std::to_string(left.front()) + ") still uses " + cluster_.string() +
               " and does not end.");
      if (has_server && wanted != sent) ::kill(pid, sent = wanted);
      if (wanted == SIGKILL || (!has_server && waited > 3s))
        for (const auto each : left) ::kill(each, SIGKILL);
      std::this_thread::sleep_for(10ms);
    }
    std::error_code ec;
    if (pid > 1 && process_info_of(pid) && fs::remove(lock_file, ec))
      observe::log(observe::level::warn, "db", "a leftover lock file of PostgreSQL is removed",
                   {{"file", lock_file.string()}, {"process", std::to_string(pid)}});
  }

  void launch() {
    std::error_code ec;
    if (fs::file_size(log_, ec) > log_max && !ec) fs::rename(log_, place_ / "postgres.log.1", ec);
    const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) refuse("Cannot write " + log_.string() + ": " + last_error());
    std::vector<std::string> argv = {(programs_.bindir / "postgres").string(), "-D", cluster_.string()};
    const auto set = [&](const std::string& setting) {
      argv.push_back("-c");
      argv.push_back(setting);
    };
    set("listen_addresses=");
    set("unix_socket_directories=" + socket_dir_.string());
    set("unix_socket_permissions=0700");
    set("max_connections=" + std::to_string(settings_.max_connections));
    set("shared_buffers=" + std::to_string(shared_buffers_mb()) + "MB");
    set("huge_pages=off");
    set("jit=off");
    set("max_parallel_workers_per_gather=0");
    set("max_wal_size=1GB");
    set("checkpoint_timeout=15min");
    set("autovacuum_naptime=15s");
    set("log_min_messages=warning");
    set("log_line_prefix=%m [%p] ");
    set("logging_collector=off");
    set("cluster_name=runyard");
    set("timezone=UTC");
    pid_t child = 0;
    try {
      // Fast shutdown when this process ends, even if it crashes.
      child = spawn({std::move(argv), owner_.user(), log, SIGINT});
    } catch (...) {
      ::close(log);
      throw;
    }
    ::close(log);
    {
      std::lock_guard lock(mutex_);
      pid_ = child;
      if (stopping_) ::kill(pid_, SIGINT);
    }
    const auto begin = clock::now();
    const auto url = url_of("postgres");
    while (true) {
      if (const auto ended = reap(WNOHANG)) refuse("PostgreSQL did not start: " + tail_of(log_));
      if (PQping(url.c_str()) == PQPING_OK) return;
      if (clock::now() - begin > start_limit) refuse("PostgreSQL was not ready within a minute: " + tail_of(log_));
      std::this_thread::sleep_for(5ms);
    }
  }

  void make_database() {
    connect_settings s;
    s.url = url_of("postgres");
    connection c(s);
    c.open();
    if (c.exec("select 1 from pg_database where datname = $1", {value::text(role)}).empty())
      c.exec_script(std::string("create database ") + role);
  }

  // Returns the exit status once the server has ended. Only on the thread.
  std::optional<int> reap(int flags) {
    int status = 0;
    pid_t got;
    do got = ::waitpid(pid_, &status, flags);
    while (got < 0 && errno == EINTR);
    if (got == 0) return std::nullopt;
    std::lock_guard lock(mutex_);
    pid_ = 0;
    return status;
  }

  // Escalates from fast shutdown to immediate shutdown to SIGKILL: a stopped or hung server does not handle signals.
  // Committed data is safe in the WAL.
  void end_server(int signal) noexcept {
    {
      std::lock_guard lock(mutex_);
      if (pid_ <= 0) return;
      ::kill(pid_, signal);
    }
    const auto begin = clock::now();
    int sent = signal;
    while (!reap(WNOHANG)) {
      const auto waited = clock::now() - begin;
      if (waited > 13s || (waited > 1s && is_stopped())) {
        if (std::exchange(sent, SIGKILL) != SIGKILL) kill_server();
      } else if (waited > 10s && sent == signal) {
        ::kill(pid_, sent = SIGQUIT);
      }
      std::this_thread::sleep_for(5ms);
    }
  }

  bool is_stopped() const noexcept {
    try {
      const auto info = process_info_of(pid_);
      return info && info->state == 'T';
    } catch (const std::exception&) {
      return false;
    }
  }

  // Also kills the children: they do not exit by themselves if they are stopped too.
  void kill_server() noexcept {
    observe::log(observe::level::warn, "db", "embedded PostgreSQL did not stop in time; killing it");
    std::vector<pid_t> children;
    try {
      children = children_of(pid_);
    } catch (const std::exception&) {
      // Running children detect that their server has terminated.
    }
    ::kill(pid_, SIGKILL);
    for (const auto child : children) ::kill(child, SIGKILL);
  }

  void supervise() {
    auto pause = 100ms;
    while (true) {
      const auto begin = clock::now();
      {
        std::unique_lock lock(mutex_);
        while (!stopping_) {
          lock.unlock();
          const bool ended = reap(WNOHANG).has_value();
          lock.lock();
          if (ended) break;
          wake_.wait_for(lock, 50ms);
        }
        running_ = false;
        if (stopping_) break;
      }
      observe::log(observe::level::error, "db", "embedded PostgreSQL exited; restarting it", {{"log", tail_of(log_)}});
      if (clock::now() - begin > 60s) pause = 100ms;
      while (!restarted(pause)) {
        std::lock_guard lock(mutex_);
        if (stopping_) break;
      }
    }
    end_server(SIGINT);
    leave_socket_dir();
  }

  // A socket directory in /tmp must be removed: no other program does it.
  void leave_socket_dir() noexcept {
    std::error_code ec;
    if (socket_dir_.parent_path() != place_) fs::remove(socket_dir_, ec);
  }

  bool restarted(std::chrono::milliseconds& pause) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, pause, [this] { return stopping_; })) return false;
    }
    pause = std::min<std::chrono::milliseconds>(pause * 2, 10s);
    try {
      end_leftover();
      launch();
      running_ = true;
      return true;
    } catch (const failure& f) {
      observe::log(observe::level::error, "db", "embedded PostgreSQL did not start", {{"error", f.what()}});
      end_server(SIGINT);
      return false;
    }
  }

  const embedded_settings settings_;
  cluster_owner owner_;
  installation programs_;
  fs::path place_, cluster_, log_, socket_dir_;
  std::chrono::milliseconds start_time_{};
  std::atomic<bool> running_{false};

  std::mutex mutex_;  // guards pid_ and stopping_
  std::condition_variable wake_;
  pid_t pid_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

embedded_postgres::embedded_postgres(embedded_settings settings) : impl_(std::make_unique<impl>(std::move(settings))) {}
embedded_postgres::~embedded_postgres() = default;
bool embedded_postgres::exists(const fs::path& data_dir) {
  std::error_code ec;
  return fs::exists(data_dir / "postgres" / "PG_VERSION", ec);
}
void embedded_postgres::start() {
  impl_->start();
}
std::string embedded_postgres::url() const {
  return impl_->url();
}
bool embedded_postgres::running() const noexcept {
  return impl_->running();
}
std::chrono::milliseconds embedded_postgres::start_time() const noexcept {
  return impl_->start_time();
}
void embedded_postgres::stop() {
  impl_->stop();
}

}  // namespace ry::db
