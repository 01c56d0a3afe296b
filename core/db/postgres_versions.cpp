#include "core/db/postgres_versions.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/db/cluster_files.hpp"
#include "core/db/embedded_error.hpp"
#include "core/observe/log.hpp"

namespace ry::db::embedded {

namespace fs = std::filesystem;

namespace {

bool has_server(const fs::path& dir) {
  return ::access((dir / "postgres").c_str(), X_OK) == 0 && ::access((dir / "initdb").c_str(), X_OK) == 0;
}

// Directories with PostgreSQL's programs: Debian's, newest version first, then those in PATH.
std::vector<fs::path> program_dirs() {
  std::vector<std::pair<int, fs::path>> versions;
  std::error_code ec;
  for (const auto& e : fs::directory_iterator("/usr/lib/postgresql", ec)) {
    const auto name = e.path().filename().string();
    const int version = std::atoi(name.c_str());
    if (version > 0 && has_server(e.path() / "bin")) versions.emplace_back(version, e.path() / "bin");
  }
  std::sort(versions.rbegin(), versions.rend());
  std::vector<fs::path> out;
  out.reserve(out.size() + versions.size());
  for (auto& [v, dir] : versions) out.push_back(std::move(dir));
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string dir; std::getline(folders, dir, ':');)
    // Skip relative entries: they depend on the working directory.
    if (dir.starts_with('/') && has_server(dir)) out.emplace_back(dir);
  return out;
}

// Parses a program's version: "15.20 (Debian ...)" or "18beta1". major is 0 if the text is not a version.
pg_version version_of_program(const std::string& text) {
  pg_version out;
  if (std::sscanf(text.c_str(), "%4d.%4d", &out.major, &out.minor) < 1) out.major = 0;
  if (out.major >= 10) out.minor = 0;
  return out;
}

// Parses PG_VERSION without its newline: "15" or "9.6".
std::optional<pg_version> version_of_cluster(std::string_view text) {
  const auto number = [](std::string_view digits) -> int {
    int out = 0;
    const auto end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, out);
    const bool is_one = error == std::errc() && at == end && digits.size() <= 3 && out > 0;
    return is_one && digits[0] != '0' ? out : 0;
  };
  const auto dot = text.find('.');
  const pg_version out{number(text.substr(0, dot)), dot == std::string_view::npos ? 0 : number(text.substr(dot + 1))};
  if (out.major == 0 || (out.major < 10) != (out.minor > 0)) return std::nullopt;
  if (dot != std::string_view::npos && out.minor == 0) return std::nullopt;
  return out;
}

// The installations in `dirs`, in order and without duplicates. Skips programs that do not run, with a warning: one
// broken installation must not prevent the use of another one.
std::vector<installation> installations(const std::vector<fs::path>& dirs, const std::optional<run_as>& user) {
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
      const auto found = at == std::string::npos ? pg_version() : version_of_program(version.output.substr(at + 12));
      if (version.status == 0 && found.major > 0) {
        out.push_back({found, dir});
        continue;
      }
      reason = tail(version.output);
    } catch (const failure& f) {
      reason = f.what();
    }
    observe::log(observe::level::warn, "db", "ignoring a PostgreSQL installation whose programs do not run",
                 {{"directory", dir.string()}, {"error", reason}});
  }
  return out;
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
  std::string text = "The database cluster " + cluster.string() + " was created by PostgreSQL " + version +
                     ", which is not installed.\nInstalled: " + (list.empty() ? "none" : list) + ". Only PostgreSQL " +
                     version + " can open this cluster. The server has not changed the cluster.\n";
  if (is_too_new) text += "PostgreSQL cannot convert a cluster to an older version.\n";
  text +=
      "Do one of the following (commands: docs/postgres-upgrade.md; the packages install it in "
      "/usr/share/doc/runyard/docs/):\n  - ";
  text += bindir_is_set
              ? "Use the programs of PostgreSQL " + version
              : "Install the package postgresql-" + version + " (from the archive of the release that has it)";
  text += " and start the server again.";
  if (can_upgrade) text += " It then uses PostgreSQL " + version + " until you run pg_upgrade.";
  text += "\n  - If you have a dump of the database (pg_dump)";
  // pg_restore rejects dumps of a newer pg_dump.
  if (is_too_new) text += " that PostgreSQL " + newest.text() + " or an older version created";
  text += ", move the cluster away (the server then creates an empty one) and restore the dump.";
  refuse(std::move(text), wrong_version);
}

}  // namespace

std::optional<pg_version> cluster_version(const fs::path& cluster) {
  constexpr std::size_t most = 32;
  const auto file = cluster / "PG_VERSION";
  const auto copy = (cluster / "base" / "1" / "PG_VERSION").string();
  const auto text = first_bytes(file, most + 1,
                                "Remove it, and copy " + copy +
                                    " to its path if that file is intact, or restore a backup "
                                    "(docs/backup.md).",
                                wrong_version);
  if (!text) {
    std::error_code ec;
    if (fs::exists(cluster / "base", ec) || fs::exists(cluster / "global", ec))
      refuse("The cluster " + cluster.string() +
                 " has no file PG_VERSION. The server has not changed the cluster.\nCopy " + copy + " to " +
                 file.string() + " if that file is intact, or restore a backup (docs/backup.md).",
             wrong_version);
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
         wrong_version);
}

installation choose_installation(const fs::path& cluster, const std::optional<pg_version>& made_by,
                                 const fs::path& bindir, const std::optional<run_as>& user) {
  const bool bindir_is_set = !bindir.empty();
  if (bindir_is_set && !has_server(bindir)) refuse("There is no PostgreSQL in " + bindir.string() + ".");
  std::vector<fs::path> dirs;
  if (bindir_is_set)
    dirs.push_back(bindir);
  else
    dirs = program_dirs();
  const auto installed = installations(dirs, user);
  if (installed.empty() && !made_by)
    refuse(
        "No PostgreSQL was found on this machine: install the package postgresql, or set "
        "database.url to use another server.");
  // If several have the same version, the first one.
  const auto newest = std::max_element(installed.begin(), installed.end(),
                                       [](const auto& a, const auto& b) { return a.version < b.version; });
  const auto chosen = made_by ? std::find_if(installed.begin(), installed.end(),
                                             [&](const installation& i) { return i.version == *made_by; })
                              : newest;
  if (chosen == installed.end()) refuse_version(cluster, *made_by, installed, bindir_is_set);
  if (newest->version > chosen->version)
    observe::log(
        observe::level::warn, "db",
        "the embedded PostgreSQL is older than the newest installed one; to upgrade the "
        "cluster follow docs/postgres-upgrade.md",
        {{"cluster", cluster.string()}, {"version", chosen->version.text()}, {"newest", newest->version.text()}});
  return *chosen;
}

}  // namespace ry::db::embedded
