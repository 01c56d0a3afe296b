// Cache of the packages that runners (npx, uvx) download for local programs, kept between starts: one directory per
// command of an account below <data_dir>/modules/mcp_json/packages. No other account or command uses it.
//
// One program fills a directory; until it has answered, other programs of the same command run without the cache,
// afterwards all share the directory. A directory with which a program fails before its first answer is dropped.
// Directories that are too old are removed, and the least recently used ones if those of an account, or all, are too
// large.
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

  // The directory of one command while a program uses it.
  class lease {
   public:
    lease(std::shared_ptr<package_cache> of, std::string key, bool filled) noexcept
        : of_(std::move(of)), key_(std::move(key)), filled_(filled) {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { of_->leave(key_); }

    std::string directory() const { return of_->directory(key_); }
    // Whether an earlier program has filled the directory.
    bool filled() const noexcept { return filled_; }
    // Reports that the program has answered.
    void worked() noexcept { of_->note(key_, true); }
    // Reports that the program ended before its first answer: the directory is no longer used.
    void failed() noexcept { of_->note(key_, false); }

   private:
    const std::shared_ptr<package_cache> of_;
    const std::string key_;
    const bool filled_;
  };
  // nullptr: the command is not a package runner, caching is off, or another program is filling the directory.
  std::unique_ptr<lease> take(const std::string& account, const command& c);

 private:
  struct entry {
    std::size_t users = 0;
    bool worked = false, failed = false;
  };
  std::string directory(const std::string& key) const { return root_ + "/" + key + "/data"; }
  std::string marker(const std::string& key) const { return root_ + "/" + key + "/filled"; }
  bool fresh(const std::string& key) const;
  void note(const std::string& key, bool good) noexcept;
  void leave(const std::string& key) noexcept;
  // Renames the directory; it is removed in the background.
  void drop(const std::string& key) noexcept;
  void tidy_soon() noexcept;
  void tidy();

  const ry::context& ctx_;
  const settings& settings_;
  disk::tree_cleaner& cleaner_;
  const std::string root_;
  std::mutex mutex_;
  std::unordered_map<std::string, entry> used_;
  bool tidying_ = false, again_ = false;
};

}  // namespace mcp_json
