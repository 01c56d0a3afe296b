// One server's data directory: created for its owner only and locked, so that no two servers share it.
#pragma once

#include <filesystem>
#include <string>

namespace ry::app {

class data_dir_lock {
 public:
  // Creates and locks the directory. Throws std::runtime_error with a message for the operator if it cannot be created
  // or written, or if another server still holds the lock after two seconds.
  explicit data_dir_lock(const std::filesystem::path& data_dir);
  ~data_dir_lock();  // unlocks
  data_dir_lock(const data_dir_lock&) = delete;
  data_dir_lock& operator=(const data_dir_lock&) = delete;

  const std::filesystem::path& data_dir() const noexcept { return data_dir_; }  // absolute
  // A UUID of this start, and that of the previous start (empty: unknown), which has certainly ended.
  const std::string& node_id() const noexcept { return node_id_; }
  const std::string& previous_node_id() const noexcept { return previous_node_id_; }

 private:
  std::filesystem::path data_dir_;
  int lock_ = -1;
  std::string node_id_, previous_node_id_;
};

// Creates the directory without locking it, for commands that only need its keys.
std::filesystem::path ensure_data_dir(const std::filesystem::path& data_dir);

}  // namespace ry::app
