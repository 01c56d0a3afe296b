// Reports which files in some directories were written or moved into place, once they have been unchanged for a
// moment.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace ry::app {

class file_watch {
 public:
  // `changed` receives the path below the directory as given here, on the watch's own thread. Directories that
  // cannot be watched are logged. Throws std::system_error if inotify is not available.
  file_watch(const std::vector<std::string>& directories, std::function<void(const std::filesystem::path&)> changed);
  ~file_watch();  // waits for a running call
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;

 private:
  void listen();

  const std::function<void(const std::filesystem::path&)> changed_;
  int events_ = -1, stop_ = -1;
  std::map<int, std::filesystem::path> directories_;  // by watch descriptor; constant once the thread runs
  std::thread thread_;
};

}  // namespace ry::app
