#include "api/spooled_files.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <ry/ry.hpp>
#include <system_error>

namespace runs {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours abandoned_after{1};  // longer than any start

void remove_abandoned(const std::string& directory) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(directory, ignored), end; at != end; at.increment(ignored)) {
    const auto written = fs::last_write_time(at->path(), ignored);
    if (!ignored && now - written > abandoned_after) fs::remove(at->path(), ignored);
  }
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

spooled_files::spooled_files(const std::string& data_dir) {
  if (!data_dir.empty()) directory_ = data_dir + "/starts";
}

spooled_files::~spooled_files() {
  for (const std::string& path : paths_) ::unlink(path.c_str());  // already gone if it was moved
}

std::string spooled_files::add(std::string_view content) {
  const auto failed = [] { return ry::unavailable("runs.files", "a file of the start could not be stored"); };
  if (directory_.empty()) throw failed();
  if (paths_.empty()) {
    std::error_code ec;
    fs::create_directories(directory_, ec);
    if (ec) throw failed();
    remove_abandoned(directory_);
  }
  std::string path = directory_ + "/XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) throw failed();
  paths_.push_back(path);
  const bool written = write_all(fd, content);
  if (::close(fd) != 0 || !written) throw failed();
  return path;
}

}  // namespace runs
