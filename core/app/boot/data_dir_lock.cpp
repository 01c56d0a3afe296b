#include "core/app/boot/data_dir_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <ry/cpp/types.hpp>
#include <stdexcept>
#include <thread>

#include "core/module/uuid.hpp"

namespace ry::app {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& path, const std::string& what) {
  throw std::runtime_error("data_dir " + path.string() + ": " + what);
}

std::string new_uuid() {
  module::uuid7_source source;
  return ry::uuid(source.next()).to_string();
}

}  // namespace

fs::path ensure_data_dir(const fs::path& data_dir) {
  std::error_code ec;
  const auto path = fs::absolute(data_dir, ec).lexically_normal();
  if (ec) refuse(data_dir, "cannot be found: " + ec.message());
  fs::create_directories(path.parent_path(), ec);
  if (::mkdir(path.c_str(), 0700) != 0) {
    const int error = errno;
    if (error != EEXIST) refuse(path, std::string("cannot be created: ") + std::strerror(error));
    if (!fs::is_directory(path, ec)) refuse(path, "is not a directory");
  }
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) refuse(path, "this user has no write permission there");
  return path;
}

data_dir_lock::data_dir_lock(const fs::path& data_dir) : data_dir_(ensure_data_dir(data_dir)) {
  const auto lock_file = data_dir_ / "server.lock";
  lock_ = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) refuse(data_dir_, std::string("cannot be locked: ") + std::strerror(errno));
  // A killed server may leave a child that holds the lock until its exec, a moment later.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    ::close(lock_);
    refuse(data_dir_, "another server uses it; set a different data_dir for this one");
  }
  const auto id_file = data_dir_ / "node_id";
  std::ifstream(id_file) >> previous_node_id_;
  if (previous_node_id_.size() != 36) previous_node_id_.clear();
  node_id_ = new_uuid();
  // Written by rename: a torn file would lose the id of the node whose work must be reclaimed.
  const auto fresh = data_dir_ / "node_id.new";
  std::ofstream(fresh, std::ios::trunc) << node_id_ << '\n';
  std::error_code ec;
  fs::rename(fresh, id_file, ec);
  if (ec) {
    ::close(lock_);
    refuse(data_dir_, "cannot be written: " + ec.message());
  }
}

data_dir_lock::~data_dir_lock() {
  ::close(lock_);
}

}  // namespace ry::app
