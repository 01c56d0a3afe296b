#include "package_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "common/walk_tree.hpp"

namespace mcp_json {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 60;  // small enough that sums do not overflow

// The hash must be the same in every build, because directories are found by it.
std::string name_of(const command& c) {
  std::uint64_t a = 1469598103934665603u, b = 0x9e3779b97f4a7c15u;
  const auto add = [&](std::string_view text) {
    for (const char byte : text) {
      a = (a ^ static_cast<unsigned char>(byte)) * 1099511628211u;
      b = (b ^ static_cast<unsigned char>(byte)) * 0xff51afd7ed558ccdu;
      b ^= b >> 29;
    }
    a = (a ^ 0x100u) * 1099511628211u;
    b = (b ^ 0x100u) * 0xff51afd7ed558ccdu;
  };
  for (const auto& word : c.argv) add(word);
  add("env");
  // Another registry may offer different packages with the same names.
  for (const auto& [name, value] : c.env) {
    const bool of_runner =
        name.starts_with("npm_config_") || name.starts_with("NPM_CONFIG_") || name.starts_with("UV_");
    if (!of_runner) continue;
    add(name);
    add(value);
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return text;
}

// The size of a directory. If it cannot be measured, it counts as too large.
std::uint64_t size_of(const fs::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  disk::tree_use use;
  const bool measured = fd >= 0 && disk::measure_tree(fd, {}, use) == 0 && !use.too_deep;
  if (fd >= 0) ::close(fd);
  return measured ? use.bytes : max_bytes;
}

}  // namespace

package_cache::package_cache(const ry::context& ctx, const settings& s, disk::tree_cleaner& cleaner)
    : ctx_(ctx), settings_(s), cleaner_(cleaner), root_(std::string(ctx.fact("data_dir")) + "/packages") {}

bool package_cache::is_fresh(const std::string& key) const {
  struct stat s {};
  return ::stat(marker(key).c_str(), &s) == 0 &&
         s.st_mtime + static_cast<std::time_t>(settings_.cache_lifetime_s) > std::time(nullptr);
}

std::unique_ptr<package_cache::lease> package_cache::take(const std::string& account, const command& c) {
  // An empty account means that the operator makes the request.
  if (settings_.cache_bytes == 0 || !ry::uuid::parse(account) || cache_variables(c, {}).empty()) return nullptr;
  const auto key = account + "/" + name_of(c);
  std::lock_guard lock(mutex_);
  auto& e = in_use_[key];
  const bool filled = e.users != 0 ? e.succeeded && !e.failed : is_fresh(key);
  if (e.users != 0 && !filled) return nullptr;
  if (!filled) {
    remove(key);
    std::error_code bad;
    fs::create_directories(directory(key), bad);
    if (bad || ::chmod(root_.c_str(), 0700) != 0) {
      in_use_.erase(key);
      ctx_.warn("the package cache of a local MCP server cannot be created", {{"error", bad.message()}});
      return nullptr;
    }
  }
  e.succeeded = filled;
  ++e.users;
  return std::make_unique<lease>(shared_from_this(), key, filled);
}

void package_cache::record_result(const std::string& key, bool success) noexcept {
  (void)ry::guard([&] {
    std::lock_guard lock(mutex_);
    auto& e = in_use_.at(key);
    if (!success) e.failed = true;
    if (!success || e.failed || e.succeeded) return;
    e.succeeded = true;
    // The modification time of the file is the age of the packages; that of the directory is their last use.
    std::ofstream(marker(key)) << "filled\n";
  });
}

void package_cache::release(const std::string& key) noexcept {
  (void)ry::guard([&] {
    {
      std::lock_guard lock(mutex_);
      const auto at = in_use_.find(key);
      if (--at->second.users != 0) return;
      if (at->second.failed || !at->second.succeeded) {
        remove(key);
      } else {
        ::utimes((root_ + "/" + key).c_str(), nullptr);
      }
      in_use_.erase(at);
    }
    schedule_cleanup();
  });
}

void package_cache::remove(const std::string& key) noexcept {
  (void)ry::guard([&] { (void)cleaner_.dispose(root_ + "/" + key, "cache"); });
}

void package_cache::schedule_cleanup() noexcept {
  {
    std::lock_guard lock(mutex_);
    cleanup_requested_ = cleaning_;
    if (std::exchange(cleaning_, true)) return;
  }
  auto owner = std::make_unique<std::shared_ptr<package_cache>>(shared_from_this());
  const auto work = [](void* p) noexcept {
    (void)ry::guard([&] { (*static_cast<std::shared_ptr<package_cache>*>(p))->clean_up(); });
  };
  const ry_done done{
      [](void* p, ry_status, const ry_error_view*) noexcept {
        const std::unique_ptr<std::shared_ptr<package_cache>> cache(static_cast<std::shared_ptr<package_cache>*>(p));
        bool repeat = false;
        {
          std::lock_guard lock((*cache)->mutex_);
          (*cache)->cleaning_ = false;
          repeat = std::exchange((*cache)->cleanup_requested_, false);
        }
        if (repeat) (*cache)->schedule_cleanup();
      },
      owner.get()};
  if (ctx_.core().run_blocking(ctx_.host(), ctx_.pick_exec(), work, owner.get(), done) == RY_OK) {
    owner.release();
    return;
  }
  std::lock_guard lock(mutex_);
  cleaning_ = false;
}

void package_cache::clean_up() {
  struct cached_directory {
    std::string key, account;
    std::uint64_t bytes = 0;
    fs::file_time_type used;
  };
  std::error_code bad;
  std::vector<cached_directory> all;
  std::map<std::string, std::uint64_t> bytes_of_account;
  std::uint64_t total = 0;
  for (const auto& account : fs::directory_iterator(root_, bad)) {
    const auto name = account.path().filename().string();
    if (name.starts_with('.')) continue;
    for (const auto& one : fs::directory_iterator(account.path(), bad)) {
      cached_directory k{name + "/" + one.path().filename().string(), name, size_of(one.path()),
                         fs::last_write_time(one.path(), bad)};
      bytes_of_account[name] += k.bytes;
      total += k.bytes;
      all.push_back(std::move(k));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const cached_directory& a, const cached_directory& b) { return a.used < b.used; });
  for (const auto& k : all) {
    if (is_fresh(k.key) && bytes_of_account[k.account] <= settings_.cache_bytes && total <= settings_.total_cache_bytes)
      continue;
    std::lock_guard lock(mutex_);
    if (in_use_.contains(k.key)) continue;
    remove(k.key);
    bytes_of_account[k.account] -= k.bytes;
    total -= k.bytes;
  }
}

}  // namespace mcp_json
