// Directory for trees that are to be removed. move_in() renames a tree into it, which frees the old name immediately.
// clear() then removes the tree, in several attempts if necessary.
//
// A tree has a label, e.g. the id of its project. The quarantine also finds trees of an earlier process. The
// owner calls clear_due() when next_attempt() is due. The backoff between failed attempts is at most ten minutes.
//
// Thread: any, even concurrently; the functions block. Lifetime: outlives its calls.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "remove_tree.hpp"

namespace disk {

class quarantine {
 public:
  using clock = std::chrono::steady_clock;

  // `directory`: absolute, on the same file system as the trees. It is created when the first tree is moved in.
  explicit quarantine(std::string directory) : directory_(std::move(directory)) {}

  // Moves the tree at `path` into the quarantine. Returns 0 (even if there is no such tree) or a value of errno.
  // `label`: letters, digits and "-".
  int move_in(const std::string& path, std::string_view label);
  // Removes the trees with this label now, even if their next attempt is not due.
  removal clear(std::string_view label, const stop_condition& stop = {});

  struct failure {
    std::string name;  // of the tree in the directory
    int error = 0;
    std::uint64_t attempts = 0;
  };
  // Removes the trees whose attempt is due. Returns those that could not be removed because of an error.
  std::vector<failure> clear_due(clock::time_point now, const stop_condition& stop = {});
  // When the next attempt is due; nullopt: the quarantine is empty.
  std::optional<clock::time_point> next_attempt();
  // The number of trees in the quarantine.
  std::size_t size();

  const std::string& directory() const { return directory_; }

 private:
  struct state {
    std::uint64_t attempts = 0;
    clock::time_point due{};
    bool busy = false;
  };

  void read_directory();
  removal remove(const std::string& name, const stop_condition& stop);
  std::set<std::string> names_of(std::string_view label);

  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, state> trees_;
  bool read_ = false;  // whether trees_ contains the entries of the directory
};

}  // namespace disk
