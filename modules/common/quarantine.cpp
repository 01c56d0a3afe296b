#include "quarantine.hpp"

#include <dirent.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "without_protection.hpp"

namespace disk {
namespace {

constexpr auto min_backoff = std::chrono::seconds(1);
constexpr auto max_backoff = std::chrono::minutes(10);

quarantine::clock::duration backoff_after(std::uint64_t attempts) {
  const auto doublings = std::min<std::uint64_t>(attempts > 0 ? attempts - 1 : 0, 10);
  return std::min<quarantine::clock::duration>(min_backoff * (std::int64_t{1} << doublings), max_backoff);
}

std::string unique_suffix() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint64_t>(quarantine::clock::now().time_since_epoch().count());
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(random));
  return text;
}

}  // namespace

// The caller holds mutex_.
void quarantine::read_directory() {
  if (read_) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory_.c_str()), &::closedir);
  if (!stream) {
    read_ = errno == ENOENT;
    return;
  }
  read_ = true;
  while (const dirent* item = ::readdir(stream.get())) {
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") trees_.try_emplace(std::string(name));
  }
}

int quarantine::move_in(const std::string& path, std::string_view label) {
  std::lock_guard lock(mutex_);
  read_directory();
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::string name = std::string(label) + "." + unique_suffix();
    const std::string target = directory_ + "/" + name;
    int moved = ::rename(path.c_str(), target.c_str());
    if (moved != 0 && errno == EACCES) {
      // Renaming a directory to another parent requires write permission on it. A user's command may have removed it.
      struct stat status {};
      if (::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && ::chmod(path.c_str(), 0700) == 0)
        moved = ::rename(path.c_str(), target.c_str());
      else
        errno = EACCES;
    }
    if (moved == 0) {
      trees_.try_emplace(name);
      return 0;
    }
    if (errno == ENOENT) return 0;
    if (errno != ENOTEMPTY && errno != EEXIST) return errno;
  }
  return EEXIST;
}

removal quarantine::remove(const std::string& name, const stop_condition& stop) {
  {
    std::lock_guard lock(mutex_);
    const auto at = trees_.find(name);
    if (at == trees_.end()) return {};
    // Another thread is removing the tree, so it is not complete yet.
    if (at->second.busy) return {0, true};
    at->second.busy = true;
  }
  const removal out = remove_tree(directory_ + "/" + name, stop);
  std::lock_guard lock(mutex_);
  const auto at = trees_.find(name);
  if (out.complete() || ry_test::without_protection("quarantine")) {
    trees_.erase(at);
    return out;
  }
  at->second.busy = false;
  // A removal that was interrupted, but did not fail, continues soon.
  if (out.error != 0) ++at->second.attempts;
  at->second.due = clock::now() + (out.error != 0 ? backoff_after(at->second.attempts) : min_backoff);
  return out;
}

std::set<std::string> quarantine::names_of(std::string_view label) {
  std::lock_guard lock(mutex_);
  read_directory();
  std::set<std::string> out;
  for (const auto& [name, tree] : trees_)
    if (std::string_view(name).substr(0, name.find('.')) == label) out.insert(name);
  return out;
}

removal quarantine::clear(std::string_view label, const stop_condition& stop) {
  removal out;
  for (const std::string& name : names_of(label)) {
    const removal one = remove(name, stop);
    if (out.error == 0) out.error = one.error;
    out.stopped = out.stopped || one.stopped;
  }
  return out;
}

std::vector<quarantine::failure> quarantine::clear_due(clock::time_point now, const stop_condition& stop) {
  std::vector<std::string> due;
  {
    std::lock_guard lock(mutex_);
    read_directory();
    for (const auto& [name, tree] : trees_)
      if (!tree.busy && tree.due <= now) due.push_back(name);
  }
  std::vector<failure> out;
  for (const std::string& name : due) {
    if (stop && stop()) break;
    const removal one = remove(name, stop);
    if (one.error == 0) continue;
    std::lock_guard lock(mutex_);
    const auto at = trees_.find(name);
    out.push_back({name, one.error, at == trees_.end() ? 0 : at->second.attempts});
  }
  return out;
}

std::optional<quarantine::clock::time_point> quarantine::next_attempt() {
  std::lock_guard lock(mutex_);
  read_directory();
  std::optional<clock::time_point> out;
  for (const auto& [name, tree] : trees_)
    if (!out || tree.due < *out) out = tree.due;
  return out;
}

std::size_t quarantine::size() {
  std::lock_guard lock(mutex_);
  read_directory();
  return trees_.size();
}

}  // namespace disk
