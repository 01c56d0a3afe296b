#include "core/db/embedded_postgres.hpp"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <compare>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/db/failure.hpp"
#include "core/db/migrator.hpp"
#include "core/db/spawn.hpp"
#include "core/exec/machine_share.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

constexpr auto role = "runyard";             // owner of the cluster, and name of its database
constexpr auto start_limit = 60s;            // crash recovery may take its time
constexpr std::size_t socket_path_max = 90;  // sun_path has 108 bytes; PostgreSQL adds a file name
constexpr std::uintmax_t log_max = 10 << 20;
constexpr std::size_t tail_max = 600;

// An eighth of the memory that the process may use, within bounds. It is taken as pages are first
// used, so a small database stays small.
long shared_buffers_mb() {
  const auto memory_mb = static_cast<long>(exec::usable_memory_bytes() >> 20);
  return std::clamp(memory_mb / 8, 64L, 256L);
}

[[noreturn]] void refuse(std::string message, const char* reason = "db.embedded") {
  throw failure({RY_FAILED_PRECONDITION, reason, std::move(message), {}, 0, 0});
}

std::string last_error() {
  return std::strerror(errno);
}

struct unique_fd {
  ~unique_fd() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

// The first `most` bytes of a file in the cluster; nullopt if there is no such file. PostgreSQL's
// user can write the cluster, and the server may run as root: a symbolic link could lead to a file
// that only root may read, and a FIFO would block the start.
std::optional<std::string> first_bytes(const fs::path& file, std::size_t most,
                                       const std::string& repair, const char* reason) {
  const unique_fd in{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)};
  if (in.fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat st {};
  // A symbolic link fails with ELOOP, a socket with ENXIO.
  if (in.fd < 0 ? errno == ELOOP || errno == ENXIO
                : ::fstat(in.fd, &st) == 0 && !S_ISREG(st.st_mode))
    refuse("The file " + file.string() +
               " is not a regular file. The server has not changed the cluster.\n" + repair,
           reason);
  std::string text(most, '\0');
  const ssize_t got = in.fd < 0 ? -1 : ::read(in.fd, text.data(), most);
  if (got < 0)
    refuse("Cannot read " + file.string() + ": " + last_error() +
           ". Start the server as the user that created this data directory.");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The last few lines, on one line: where programs say why they gave up.
std::string tail(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > tail_max) text.erase(0, text.size() - tail_max);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string tail_of(const fs::path& log) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::streamoff>(in.tellg());
  in.seekg(std::max<std::streamoff>(0, size - static_cast<std::streamoff>(tail_max)));
  return tail({std::istreambuf_iterator<char>(in), {}});
}

bool has_server(const fs::path& dir) {
  return ::access((dir / "postgres").c_str(), X_OK) == 0 &&
         ::access((dir / "initdb").c_str(), X_OK) == 0;
}

// Directories with PostgreSQL's programs: Debian's, the newest version first, then those in PATH.
std::vector<fs::path> program_dirs() {
  std::vector<std::pair<int, fs::path>> versions;
  std::error_code ec;
  for (const auto& e : fs::directory_iterator("/usr/lib/postgresql", ec)) {
    const auto name = e.path().filename().string();
    const int version = std::atoi(name.c_str());
    if (version > 0 && has_server(e.path() / "bin"))
      versions.emplace_back(version, e.path() / "bin");
  }
  std::sort(versions.rbegin(), versions.rend());
  std::vector<fs::path> out;
  for (auto& [v, dir] : versions) out.push_back(std::move(dir));
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string dir; std::getline(folders, dir, ':');)
    // A relative entry means another directory in each working directory.
    if (dir.starts_with('/') && has_server(dir)) out.emplace_back(dir);
  return out;
}

// A major version. Before version 10 it has two parts: 9.6.
struct pg_version {
  int major = 0;
  int minor = 0;  // 0 from version 10 on
  auto operator<=>(const pg_version&) const = default;
  std::string text() const {
    return std::to_string(major) + (minor > 0 ? "." + std::to_string(minor) : "");
  }
};

// "15.20 (Debian ...)" or "18beta1" of a program. major is 0 if the text is no version.
pg_version version_of_program(const std::string& text) {
  pg_version out;
  if (std::sscanf(text.c_str(), "%4d.%4d", &out.major, &out.minor) < 1) out.major = 0;
  if (out.major >= 10) out.minor = 0;
  return out;
}

// The whole text of PG_VERSION without its newline: "15" or "9.6".
std::optional<pg_version> version_of_cluster(std::string_view text) {
  const auto number = [](std::string_view digits) -> int {
    int out = 0;
    const auto end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, out);
    const bool is_one = error == std::errc() && at == end && digits.size() <= 3 && out > 0;
    return is_one && digits[0] != '0' ? out : 0;
  };
  const auto dot = text.find('.');
  const pg_version out{number(text.substr(0, dot)),
                       dot == std::string_view::npos ? 0 : number(text.substr(dot + 1))};
  if (out.major == 0 || (out.major < 10) != (out.minor > 0)) return std::nullopt;
  if (dot != std::string_view::npos && out.minor == 0) return std::nullopt;
  return out;
}

struct installation {
  pg_version version;
  fs::path bindir;
};

// In the order of `dirs`, each directory once. Programs that do not run are left out with a
// warning: one broken installation must not keep the server from using another one.
std::vector<installation> installations(const std::vector<fs::path>& dirs,
                                        const std::optional<run_as>& user) {
  std::vector<installation> out;
  for (const auto& dir : dirs) {
    std::error_code ec;
    const auto same = [&](const installation& i) { return fs::equivalent(i.bindir, dir, ec); };
    if (std::any_of(out.begin(), out.end(), same)) continue;
    std::string reason;
    try {
      // "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)"
      const auto version = run_program({(dir / "postgres").string(), "--version"}, user);
      const auto at = version.output.find("PostgreSQL) ");
      const auto found = at == std::string::npos
                             ? pg_version()
                             : version_of_program(version.output.substr(at + 12));
      if (version.status == 0 && found.major > 0) {
        out.push_back({found, dir});
        continue;
      }
      reason = tail(version.output);
    } catch (const failure& f) {
      reason = f.what();
    }
    observe::log(observe::level::warn, "db", "PostgreSQL programs that do not run are ignored",
                 {{"directory", dir.string()}, {"error", reason}});
  }
  return out;
}

// The version that created the cluster, from PG_VERSION; nullopt if there is no cluster.
std::optional<pg_version> cluster_version(const fs::path& cluster) {
  constexpr std::size_t most = 32;
  const auto file = cluster / "PG_VERSION";
  const auto copy = (cluster / "base" / "1" / "PG_VERSION").string();
  const auto text = first_bytes(file, most + 1,
                                "Remove it, and copy " + copy +
                                    " to its path if that file is intact, or restore a backup "
                                    "(docs/backup.md).",
                                embedded_postgres::wrong_version);
  if (!text) {
    std::error_code ec;
    if (fs::exists(cluster / "base", ec) || fs::exists(cluster / "global", ec))
      refuse("The cluster " + cluster.string() +
                 " has no file PG_VERSION. The server has not changed the cluster.\nCopy " + copy +
                 " to " + file.string() +
                 " if that file is intact, or restore a backup (docs/backup.md).",
             embedded_postgres::wrong_version);
    return std::nullopt;
  }
  auto shown = first_line(*text);
  if (text->size() <= most)
    if (const auto version = version_of_cluster(shown)) return version;
  shown.resize(std::min<std::size_t>(shown.size(), 20));
  for (char& c : shown)
    if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
  refuse("The file " + file.string() + " is damaged: it contains \"" + shown +
             "\" instead of a PostgreSQL version. The server has not changed the cluster.\n"
             "Copy " +
             copy + " over it if that file is intact, or restore a backup (docs/backup.md).",
         embedded_postgres::wrong_version);
}

[[noreturn]] void refuse_version(const fs::path& cluster, pg_version made_by,
                                 const std::vector<installation>& installed, bool bindir_is_set) {
  const auto version = made_by.text();
  std::string list;
  pg_version newest;
  std::vector<pg_version> listed;
  for (const auto& i : installed) {
    newest = std::max(newest, i.version);
    if (std::find(listed.begin(), listed.end(), i.version) != listed.end()) continue;
    listed.push_back(i.version);
    list += (list.empty() ? "" : ", ") + i.version.text() + " (" + i.bindir.string() + ")";
  }
  const bool can_upgrade = newest > made_by;
  const bool is_too_new = !can_upgrade && !list.empty();
  std::string text = "The database cluster " + cluster.string() + " was created by PostgreSQL " +
                     version +
                     ", which is not installed.\nInstalled: " + (list.empty() ? "none" : list) +
                     ". Only PostgreSQL " + version +
                     " can open this cluster. The server has not changed the cluster.\n";
  if (is_too_new) text += "PostgreSQL cannot convert a cluster to an older version.\n";
  text +=
      "Do one of the following (commands: docs/postgres-upgrade.md; the packages install it in "
      "/usr/share/doc/runyard/docs/):\n  - ";
  text += bindir_is_set ? "Use the programs of PostgreSQL " + version
                        : "Install the package postgresql-" + version +
                              " (from the archive of the release that has it)";
  text += " and start the server again.";
  if (can_upgrade) text += " It then uses PostgreSQL " + version + " until you run pg_upgrade.";
  text += "\n  - If you have a dump of the database (pg_dump)";
  // pg_restore refuses a dump of a newer pg_dump.
  if (is_too_new) text += " that PostgreSQL " + newest.text() + " or an older version made";
  text += ", move the cluster away (the server then creates an empty one) and restore the dump.";
  refuse(std::move(text), embedded_postgres::wrong_version);
}

void own(const fs::path& dir, const std::optional<run_as>& user, mode_t mode) {
  if (user && ::chown(dir.c_str(), user->uid, user->gid) != 0)
    refuse("Cannot hand " + dir.string() + " to the user " + user->name + ": " + last_error());
  if (::chmod(dir.c_str(), mode) != 0)
    refuse("Cannot set the permissions of " + dir.string() + ": " + last_error());
}

fs::path make_dir(const fs::path& dir) {
  std::error_code ec;
  fs::create_directories(dir, ec);
  if (ec) refuse("Cannot make the directory " + dir.string() + ": " + ec.message());
  return dir;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      out.push_back(static_cast<char>(c));
    } else {
      char hex[4];
      std::snprintf(hex, sizeof hex, "%%%02X", c);
      out += hex;
    }
  }
  return out;
}

}  // namespace

class embedded_postgres::impl {
 public:
  explicit impl(embedded_settings s) : settings_(std::move(s)) {}
  ~impl() { stop(); }

  void start() {
    const auto begin = clock::now();
    std::promise<void> ready;
    auto result = ready.get_future();
    // PostgreSQL gets a signal when the thread that started it ends, so that thread lives as long
    // as we do.
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
                 {{"version", version_.text()},
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

  // ---- the place
  // ---------------------------------------------------------------------------------

  void prepare() {
    const auto& users = settings_.users.empty() ? postgres_users : settings_.users;
    user_ = unprivileged_user(users);
    if (user_ && user_->name != users.front())
      observe::log(observe::level::warn, "db",
                   "the private PostgreSQL runs as a shared system user, who can read the database; make a user of its "
                   "own and start the server again",
                   {{"user", user_->name}, {"make", "useradd --system " + users.front()}});
    const auto data = fs::absolute(make_dir(settings_.data_dir));
    place_ = reachable(data);
    cluster_ = place_ / "postgres";
    log_ = place_ / "postgres.log";
    const auto made_by = cluster_version(cluster_);
    choose_programs(made_by);
    choose_socket_dir();
    if (!made_by) make_cluster();
    end_leftover();
    if (made_by && user_) take_over_cluster();
  }

  // Whether PostgreSQL may have run as this user before.
  bool is_other_user(uid_t uid) const {
    const auto& users = settings_.users.empty() ? postgres_users : settings_.users;
    return uid != user_->uid && std::any_of(users.begin(), users.end(), [&](const std::string& name) {
      const auto* pw = ::getpwnam(name.c_str());
      return pw != nullptr && pw->pw_uid == uid;
    });
  }

  // A cluster that one of the other users had becomes that of the present one. Others are left alone: PostgreSQL says
  // what is wrong with them.
  void take_over_cluster() const {
    struct stat st {};
    if (::lstat(cluster_.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || !is_other_user(st.st_uid)) return;
    observe::log(observe::level::info, "db", "handing the cluster to another user",
                 {{"cluster", cluster_.string()}, {"user", user_->name}});
    const auto hand_over = [this](const fs::path& p) {
      struct stat each {};
      if (::lstat(p.c_str(), &each) != 0) return;
      // What has a second name may be somebody else's file.
      if (S_ISREG(each.st_mode) && each.st_nlink > 1) return;
      if (::lchown(p.c_str(), user_->uid, user_->gid) != 0)
        refuse("Cannot hand " + p.string() + " to the user " + user_->name + ": " + last_error());
    };
    for (const auto& entry : fs::recursive_directory_iterator(cluster_)) hand_over(entry.path());
    if (fs::exists(log_)) hand_over(log_);
    hand_over(cluster_);  // last: until then the next start begins anew
  }

  // As root the cluster belongs to another user, who must be able to get there; a data directory
  // below /root is out of its reach.
  fs::path reachable(const fs::path& data) {
    if (!user_) return data;
    const auto link = data / "postgres";
    std::error_code ec;
    if (fs::is_symlink(link, ec)) {
      const auto place = fs::read_symlink(link).parent_path();
      if (!fs::is_directory(place, ec))
        refuse(link.string() + " leads to " + place.string() +
               ", which is gone; put it back, or remove the link to begin with an empty database.");
      return place;
    }
    if (!can_enter(data, user_)) {
      // Passing through, without reading: what is inside keeps its own permissions.
      struct stat st {};
      if (::stat(data.c_str(), &st) == 0) ::chmod(data.c_str(), st.st_mode | 0011);
    }
    if (can_enter(data, user_)) return data;
    // The cluster goes elsewhere, and a link here leads to it: the two stay together, and a new
    // data directory under an old name never gets an old database.
    std::string other = "/var/lib/runyard-XXXXXX";
    if (!::mkdtemp(other.data())) refuse("Cannot make " + other + ": " + last_error());
    ::chmod(other.c_str(), 0755);
    if (!can_enter(other, user_))
      refuse("The user " + user_->name + ", as whom PostgreSQL runs, can enter neither " +
             data.string() + " nor " + other + "; choose another data_dir.");
    fs::create_directory_symlink(fs::path(other) / "postgres", link);
    observe::log(observe::level::info, "db",
                 "the data directory is out of reach for PostgreSQL's user",
                 {{"user", user_->name}, {"cluster", other}});
    return other;
  }

  void choose_programs(const std::optional<pg_version>& made_by) {
    const bool bindir_is_set = !settings_.bindir.empty();
    if (bindir_is_set && !has_server(settings_.bindir))
      refuse("There is no PostgreSQL in " + settings_.bindir.string() + ".");
    std::vector<fs::path> dirs;
    if (bindir_is_set)
      dirs.push_back(settings_.bindir);
    else
      dirs = program_dirs();
    const auto installed = installations(dirs, user_);
    if (installed.empty() && !made_by)
      refuse(
          "No PostgreSQL was found on this machine: install the package postgresql, or set "
          "database.url to use a server elsewhere.");
    // The first one of several with the same version.
    const auto newest =
        std::max_element(installed.begin(), installed.end(),
                         [](const auto& a, const auto& b) { return a.version < b.version; });
    const auto chosen =
        made_by ? std::find_if(installed.begin(), installed.end(),
                               [&](const installation& i) { return i.version == *made_by; })
                : newest;
    if (chosen == installed.end()) refuse_version(cluster_, *made_by, installed, bindir_is_set);
    version_ = chosen->version;
    bindir_ = chosen->bindir;
    if (newest->version > version_)
      observe::log(observe::level::warn, "db",
                   "the embedded PostgreSQL is older than the newest installed one; to upgrade the "
                   "cluster follow docs/postgres-upgrade.md",
                   {{"cluster", cluster_.string()},
                    {"version", version_.text()},
                    {"newest", newest->version.text()}});
  }

  void choose_socket_dir() {
    socket_dir_ = place_ / "pg-socket";
    if (socket_dir_.string().size() > socket_path_max) {
      // Its name says whose it is; a stranger's folder of that name is refused.
      socket_dir_ = fs::path("/tmp") / ("runyard-pg-" + std::to_string(::geteuid()) + "-" +
                                        sha256_hex(place_.string()).substr(0, 16));
    }
    const auto uid = user_ ? user_->uid : ::geteuid();
    if (::mkdir(socket_dir_.c_str(), 0700) == 0) {
      own(socket_dir_, user_, 0700);
      return;
    }
    struct stat st {};
    if (errno != EEXIST || ::lstat(socket_dir_.c_str(), &st) != 0)
      refuse("Cannot make the directory " + socket_dir_.string() + ": " + last_error());
    // In our own data directory it may be that of the user that PostgreSQL ran as before.
    const bool former = user_ && socket_dir_.parent_path() == place_ && is_other_user(st.st_uid);
    if (!S_ISDIR(st.st_mode) || (st.st_uid != uid && st.st_uid != ::geteuid() && !former))
      refuse("The directory " + socket_dir_.string() + " belongs to somebody else.");
    own(socket_dir_, user_, 0700);
  }

  // An interrupted exchange of docs/postgres-upgrade.md leaves the cluster under another name.
  void warn_of_clusters_beside() const {
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(place_, ec)) {
      const auto name = entry.path().filename().string();
      const auto version = name.starts_with("postgres.") ? name.substr(9) : std::string();
      if (version.empty() || version.find_first_not_of("0123456789.") != std::string::npos)
        continue;
      if (!fs::exists(entry.path() / "PG_VERSION", ec)) continue;
      observe::log(
          observe::level::warn, "db",
          "the server creates an empty cluster, and there is another cluster beside it; if "
          "an upgrade was interrupted, stop the server and follow \"Interrupted exchange\" "
          "in docs/postgres-upgrade.md",
          {{"empty", cluster_.string()}, {"existing", entry.path().string()}});
    }
  }

  void make_cluster() {
    observe::log(observe::level::info, "db", "making a private PostgreSQL cluster",
                 {{"data", cluster_.string()}});
    std::error_code ec;
    if (fs::exists(cluster_) && !fs::is_empty(cluster_))
      refuse(cluster_.string() +
             " is not empty and is not a PostgreSQL cluster; move it away. The server then creates "
             "an empty database.");
    warn_of_clusters_beside();
    // Made beside and renamed: a first start that is cut short leaves nothing half-made.
    const auto fresh = place_ / "postgres.new";
    fs::remove_all(fresh, ec);
    make_dir(fresh);
    own(fresh, user_, 0700);
    const auto made = run_program(
        {(bindir_ / "initdb").string(), "-D", fresh.string(), "-U", role, "--auth=trust", "-E",
         "UTF8", "--locale=C.UTF-8", "--data-checksums", "--no-instructions"},
        user_);
    if (made.status != 0) {
      fs::remove_all(fresh, ec);
      refuse("initdb failed: " + tail(made.output));
    }
    fs::remove(cluster_, ec);
    fs::rename(fresh, cluster_, ec);
    if (ec) refuse("Cannot rename " + fresh.string() + ": " + ec.message());
  }

  // A server whose host was killed may still be shutting down, or be alive; and its processes may
  // outlive it for a moment. The data directory is ours alone (core/app/instance.hpp), so a lock
  // file whose process is none of them is a leftover: the id went to another program, or is that of
  // a process that nobody reaped. PostgreSQL itself would refuse to start then.
  void end_leftover() {
    const auto lock_file = cluster_ / "postmaster.pid";
    const auto lock =
        first_bytes(lock_file, 32, "Remove it and start the server again.", "db.embedded");
    const auto pid = static_cast<pid_t>(std::atoi(first_line(lock.value_or("")).c_str()));
    const auto begin = clock::now();
    int sent = 0;
    for (auto left = servers_of(cluster_, pid); !left.empty(); left = servers_of(cluster_, pid)) {
      const auto waited = clock::now() - begin;
      const int wanted = waited > 13s ? SIGKILL : waited > 10s ? SIGQUIT : SIGINT;
      const bool has_server = std::find(left.begin(), left.end(), pid) != left.end();
      if (waited > 20s)
        refuse("A PostgreSQL server (process " + std::to_string(left.front()) + ") still uses " +
               cluster_.string() + " and does not end.");
      if (has_server && wanted != sent) ::kill(pid, sent = wanted);
      if (wanted == SIGKILL || (!has_server && waited > 3s))
        for (const auto each : left) ::kill(each, SIGKILL);
      std::this_thread::sleep_for(10ms);
    }
    std::error_code ec;
    if (pid > 1 && facts_of(pid) && fs::remove(lock_file, ec))
      observe::log(observe::level::warn, "db", "a leftover lock file of PostgreSQL is removed",
                   {{"file", lock_file.string()}, {"process", std::to_string(pid)}});
  }

  // ---- the server
  // --------------------------------------------------------------------------------

  void launch() {
    std::error_code ec;
    if (fs::file_size(log_, ec) > log_max && !ec) fs::rename(log_, place_ / "postgres.log.1", ec);
    const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) refuse("Cannot write " + log_.string() + ": " + last_error());
    std::vector<std::string> argv = {(bindir_ / "postgres").string(), "-D", cluster_.string()};
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
      // Fast shutdown when this process goes, however it goes.
      child = spawn({std::move(argv), user_, log, SIGINT});
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
      if (clock::now() - begin > start_limit)
        refuse("PostgreSQL was not ready within a minute: " + tail_of(log_));
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

  // The status when the server has ended. Only on the thread.
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

  // Fast, then immediate shutdown, then the hard way: a server that was stopped, or hangs, takes no
  // signal. What it had confirmed is in its log on disk.
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
      const auto facts = facts_of(pid_);
      return facts && facts->state == 'T';
    } catch (const std::exception&) {
      return false;
    }
  }

  // Its processes do not end by themselves when they are stopped as well.
  void kill_server() noexcept {
    observe::log(observe::level::warn, "db", "embedded PostgreSQL does not end and is killed");
    std::vector<pid_t> children;
    try {
      children = children_of(pid_);
    } catch (const std::exception&) {
      // Those that run notice that their server is gone.
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
      observe::log(observe::level::error, "db", "embedded PostgreSQL ended and is started again",
                   {{"log", tail_of(log_)}});
      if (clock::now() - begin > 60s) pause = 100ms;
      while (!restarted(pause)) {
        std::lock_guard lock(mutex_);
        if (stopping_) break;
      }
    }
    end_server(SIGINT);
    leave_socket_dir();
  }

  // One outside of our place is nobody else's to clean up.
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
      observe::log(observe::level::error, "db", "embedded PostgreSQL did not start",
                   {{"error", f.what()}});
      end_server(SIGINT);
      return false;
    }
  }

  const embedded_settings settings_;
  std::optional<run_as> user_;
  fs::path place_, cluster_, log_, socket_dir_, bindir_;
  pg_version version_;
  std::chrono::milliseconds start_time_{};
  std::atomic<bool> running_{false};

  std::mutex mutex_;  // guards pid_ and stopping_
  std::condition_variable wake_;
  pid_t pid_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

embedded_postgres::embedded_postgres(embedded_settings settings)
    : impl_(std::make_unique<impl>(std::move(settings))) {}
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
