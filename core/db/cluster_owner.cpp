#include "core/db/cluster_owner.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "core/db/cluster_files.hpp"
#include "core/db/embedded_error.hpp"
#include "core/db/migrator.hpp"
#include "core/observe/log.hpp"
#include "without_protection.hpp"

namespace ry::db::embedded {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t socket_path_max = 90;  // sun_path has 108 bytes; PostgreSQL appends a file name

}  // namespace

cluster_owner::cluster_owner(std::vector<std::string> names)
    : names_(names.empty() ? std::vector<std::string>(postgres_users) : std::move(names)) {}

void cluster_owner::choose() {
  user_ =
      unprivileged_user(ry_test::without_protection("postgres_user") ? std::vector<std::string>{"postgres"} : names_);
}

// Whether this is another user that PostgreSQL may have run as earlier.
bool cluster_owner::is_other_user(uid_t uid) const {
  const auto is_one_of = [uid](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [uid](const std::string& name) {
      const auto* pw = ::getpwnam(name.c_str());
      return pw != nullptr && pw->pw_uid == uid;
    });
  };
  return uid != user_->uid && (is_one_of(names_) || is_one_of(former_postgres_users));
}

void cluster_owner::claim(const fs::path& cluster, const fs::path& log) const {
  if (!user_) return;
  struct stat st {};
  if (::lstat(cluster.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || !is_other_user(st.st_uid)) return;
  observe::log(observe::level::info, "db", "changing the owner of the database cluster",
               {{"cluster", cluster.string()}, {"user", user_->name}});
  const auto change_owner = [this](const fs::path& p) {
    struct stat each {};
    if (::lstat(p.c_str(), &each) != 0) return;
    // The previous user can write here: a hard link may refer to a file outside of the cluster.
    if (S_ISREG(each.st_mode) && each.st_nlink > 1) return;
    if (::lchown(p.c_str(), user_->uid, user_->gid) != 0)
      refuse("Cannot change the owner of " + p.string() + " to the user " + user_->name + ": " + last_error());
  };
  for (const auto& entry : fs::recursive_directory_iterator(cluster)) change_owner(entry.path());
  if (fs::exists(log)) change_owner(log);
  change_owner(cluster);  // last, so that the next start repeats an interrupted change
}

// When the server runs as root, PostgreSQL's user must be able to enter the cluster's directory; it cannot enter a
// data directory below /root.
fs::path cluster_owner::reachable(const fs::path& data) const {
  if (!user_) return data;
  const auto link = data / "postgres";
  std::error_code ec;
  if (fs::is_symlink(link, ec)) {
    const auto parent = fs::read_symlink(link).parent_path();
    if (!fs::is_directory(parent, ec))
      refuse("The symbolic link " + link.string() + " points to a path in " + parent.string() +
             ", which does not exist; restore that directory, or remove the link to start with an empty database.");
    return parent;
  }
  if (!can_enter(data, user_)) {
    // Grants search permission only: the contents keep their own permissions.
    struct stat st {};
    if (::stat(data.c_str(), &st) == 0) ::chmod(data.c_str(), st.st_mode | 0011);
  }
  if (can_enter(data, user_)) return data;
  // Create the cluster elsewhere and link to it from here, so that both stay together and a new data directory with
  // an old name never gets an old database.
  std::string other = "/var/lib/runyard-XXXXXX";
  if (!::mkdtemp(other.data())) refuse("Cannot create the directory " + other + ": " + last_error());
  ::chmod(other.c_str(), 0755);
  if (!can_enter(other, user_))
    refuse("PostgreSQL runs as the user " + user_->name + ", which can access neither " + data.string() + " nor " +
           other + "; choose another data_dir.");
  fs::create_directory_symlink(fs::path(other) / "postgres", link);
  observe::log(observe::level::info, "db",
               "PostgreSQL's user cannot access the data directory; the cluster is created in another directory",
               {{"user", user_->name}, {"cluster", other}});
  return other;
}

fs::path cluster_owner::socket_dir(const fs::path& parent) {
  auto dir = parent / "pg-socket";
  if (dir.string().size() <= socket_path_max) return dir;
  // Another user may create a directory with this name first; make_socket_dir() then refuses to start.
  return fs::path("/tmp") /
         ("runyard-pg-" + std::to_string(::geteuid()) + "-" + sha256_hex(parent.string()).substr(0, 16));
}

void cluster_owner::make_socket_dir(const fs::path& dir, const fs::path& parent) const {
  const auto uid = user_ ? user_->uid : ::geteuid();
  if (::mkdir(dir.c_str(), 0700) == 0) {
    own(dir, user_, 0700);
    return;
  }
  struct stat st {};
  if (errno != EEXIST || ::lstat(dir.c_str(), &st) != 0)
    refuse("Cannot create the directory " + dir.string() + ": " + last_error());
  // In our own data directory it may belong to the user that PostgreSQL ran as earlier.
  const bool former = user_ && dir.parent_path() == parent && is_other_user(st.st_uid);
  if (!S_ISDIR(st.st_mode) || (st.st_uid != uid && st.st_uid != ::geteuid() && !former))
    refuse("The directory " + dir.string() + " for PostgreSQL's socket is owned by another user; remove it.");
  own(dir, user_, 0700);
}

}  // namespace ry::db::embedded
