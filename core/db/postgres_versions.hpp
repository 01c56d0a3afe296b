// Chooses the PostgreSQL installation for the cluster by comparing the versions of the installed programs and of the
// cluster. Any thread. Internal to core/db.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>

#include "core/db/spawn.hpp"

namespace ry::db::embedded {

// A major version. Before version 10 it has two parts, such as 9.6.
struct pg_version {
  int major = 0;
  int minor = 0;  // 0 from version 10 on
  auto operator<=>(const pg_version&) const = default;  // NOLINT(modernize-use-nullptr)
  std::string text() const { return std::to_string(major) + (minor > 0 ? "." + std::to_string(minor) : ""); }
};

struct installation {
  pg_version version;
  std::filesystem::path bindir;
};

// The version that created the cluster, read from PG_VERSION; nullopt if there is no cluster. Throws failure if
// PG_VERSION is missing or damaged.
std::optional<pg_version> cluster_version(const std::filesystem::path& cluster);

// The installation whose version created the cluster, or the newest one for a new cluster. `bindir`: the only
// directory to search; empty: all known directories. Throws failure if there is none.
installation choose_installation(const std::filesystem::path& cluster, const std::optional<pg_version>& made_by,
                                 const std::filesystem::path& bindir, const std::optional<run_as>& user);

}  // namespace ry::db::embedded
