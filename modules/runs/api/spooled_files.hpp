// Files of a start through the service runs/1. The caller passes them in memory. They are written to a directory of this
// module, because the upload parser reads files by path and the sandbox driver moves them into the workspace. The
// destructor removes them.
//
// Thread: one at a time; add() may block.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace runs {

class spooled_files {
 public:
  // data_dir: the directory of this module; empty: it has none.
  explicit spooled_files(const std::string& data_dir);
  spooled_files(const spooled_files&) = delete;
  spooled_files& operator=(const spooled_files&) = delete;
  ~spooled_files();
  // Writes one file and returns its path. Throws RY_UNAVAILABLE. The first call also removes files that a crash left.
  std::string add(std::string_view content);

 private:
  std::string directory_;
  std::vector<std::string> paths_;
};

}  // namespace runs
