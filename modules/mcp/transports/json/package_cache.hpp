// Persistent cache of the packages that runners (npx, uvx) download for local programs: one directory per command of an
// account under <data_dir>/modules/mcp_json/packages. No other account or command uses it.
//
// One program fills a directory. Until its first response, other programs of the same command run without the cache;
// afterwards all share the directory. If a program fails before its first response, the directory is removed.
// Directories expire; if those of an account, or all together, are too large, the least recently used ones are removed.
//
// Any thread. Directories are created and renamed synchronously; measuring and removing run on blocking threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <unordered_map>

#include "common/tree_cleaner.hpp"
#include "settings.hpp"

namespace mcp_json {

class package_cache : public std::enable_shared_from_this<package_cache> {
 public:
  package_cache(const ry::context& ctx, const settings& s, disk::tree_cleaner& cleaner);

  // Use of a command's directory by one program.
  class lease {
   public:
    lease(std::shared_ptr<package_cache> cache, std::string key, bool filled) noexcept
        : cache_(std::move(cache)), key_(std::move(key)), filled_(filled) {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { cache_->release(key_); }

    std::string directory() const { return cache_->directory(key_); }
    // Whether an earlier program has filled the directory.
    bool filled() const noexcept { return filled_; }
    // Reports that the program has responded.
    void record_success() noexcept { cache_->record_result(key_, true); }
    // Reports that the program exited before its first response: the directory is no longer used.
    void record_failure() noexcept { cache_->record_result(key_, false); }

   private:
    const std::shared_ptr<package_cache> cache_;
    const std::string key_;
    const bool filled_;
  };
  // nullptr: the command is not a package runner, caching is off, or another program is filling the directory.
  std::unique_ptr<lease> take(const std::string& account, const command& c);

 private:
  struct entry {
    std::size_t users = 0;
    bool succeeded = false, failed = false;
  };
  std::string directory(const std::string& key) const { return root_ + "/" + key + "/data"; }
  std::string marker(const std::string& key) const { return root_ + "/" + key + "/filled"; }
  bool is_fresh(const std::string& key) const;
  void record_result(const std::string& key, bool success) noexcept;
  void release(const std::string& key) noexcept;
  // Renames the directory and deletes it in the background.
  void remove(const std::string& key) noexcept;
  // Removes expired directories and enforces the size limits, in the background.
  void schedule_cleanup() noexcept;
  void clean_up();

  const ry::context& ctx_;
  const settings& settings_;
  disk::tree_cleaner& cleaner_;
  const std::string root_;
  std::mutex mutex_;
  std::unordered_map<std::string, entry> in_use_;
  bool cleaning_ = false, cleanup_requested_ = false;
};

}  // namespace mcp_json
