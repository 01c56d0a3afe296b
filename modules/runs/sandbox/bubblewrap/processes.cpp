#include "processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "without_protection.hpp"
#include "workspace.hpp"

namespace bubblewrap {
namespace {

using directory_stream = std::unique_ptr<DIR, int (*)(DIR*)>;

// Defaults of net.core.wmem_default, and of a pipe.
constexpr std::uint64_t bytes_per_socket = 208 << 10, bytes_per_pipe = 64 << 10;

std::uint64_t number_after(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return 0;
  std::uint64_t out = 0;
  const char* begin = text.data() + std::min(text.find_first_not_of(" \t", at + name.size()), text.size());
  std::from_chars(begin, text.data() + text.size(), out);
  return out;
}

// Sizes of files by inode.
using sizes = std::map<ino_t, std::uint64_t>;

void record_largest(sizes& all, ino_t inode, std::uint64_t bytes) {
  std::uint64_t& known = all[inode];
  known = std::max(known, bytes);
}

void record_unlinked(const struct stat& status, dev_t device, sizes& out) {
  if (!S_ISREG(status.st_mode) || status.st_nlink != 0 || status.st_dev != device) return;
  record_largest(out, status.st_ino, static_cast<std::uint64_t>(status.st_blocks) * 512);
}

// The files in /proc of an undumpable process belong to root. The server owns the process's user namespace, so it can
// still copy the descriptors. `remaining`: see each_descriptor().
template <class Note>
bool each_copied_descriptor(pid_t id, std::size_t& remaining, const Note& note) {
  const unique_fd process(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  if (!process) return true;
  // The size of the descriptor table. RLIMIT_NOFILE is not an upper bound, because the process can lower it afterwards.
  const std::uint64_t end = number_after(read_proc_file("/proc/" + std::to_string(id) + "/status"), "\nFDSize:");
  for (std::uint64_t number = 0; number < end; ++number) {
    if (remaining == 0) return false;
    --remaining;
    const unique_fd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), static_cast<int>(number), 0)));
    if (!copy && errno != EBADF) return true;
    struct stat status {};
    if (copy && ::fstat(copy.get(), &status) == 0) note(status);
  }
  return true;
}

// Calls note(const struct stat&) for each descriptor of the process, and subtracts their number from `remaining`.
// False: there are more descriptors.
template <class Note>
bool each_descriptor(pid_t id, std::size_t& remaining, const Note& note) {
  const std::string path = "/proc/" + std::to_string(id) + "/fd";
  const directory_stream all(::opendir(path.c_str()), &::closedir);
  if (!all && errno == EACCES) return each_copied_descriptor(id, remaining, note);
  while (const dirent* item = all ? ::readdir(all.get()) : nullptr) {
    if (item->d_name[0] == '.') continue;
    if (remaining == 0) return false;
    --remaining;
    struct stat status {};
    if (::fstatat(::dirfd(all.get()), item->d_name, &status, 0) == 0) note(status);
  }
  return true;
}

// A mapping keeps a file in use after its descriptor was closed. Only root may read the file's size; for other users
// the mapped range counts instead. Subtracts the number of mappings from `remaining`; false: there are too many.
bool add_mapped_files(pid_t id, dev_t device, std::size_t& remaining, sizes& out) {
  std::ifstream lines("/proc/" + std::to_string(id) + "/maps");
  std::size_t max_lines =
      ry_test::without_protection("counted_mappings") ? remaining : std::min(remaining, max_mappings);
  remaining -= max_lines;
  for (std::string line; std::getline(lines, line); --max_lines) {
    if (max_lines == 0) return false;
    if (!line.ends_with(" (deleted)")) continue;
    unsigned long long begin = 0, end = 0, offset = 0, inode = 0;
    unsigned major = 0, minor = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %llx %x:%x %llu", &begin, &end, &offset, &major, &minor, &inode) != 6)
      continue;
    char range[64];
    std::snprintf(range, sizeof range, "%llx-%llx", begin, end);
    struct stat status {};
    if (::stat(("/proc/" + std::to_string(id) + "/map_files/" + range).c_str(), &status) == 0) {
      record_unlinked(status, device, out);
    } else if (makedev(major, minor) == device) {
      record_largest(out, inode, offset + (end - begin));
    }
  }
  remaining += max_lines;
  return true;
}

}  // namespace

// Does not use stream iterators, which throw if the file of a process that has just exited cannot be read.
std::string read_proc_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

std::vector<process> all_processes() {
  std::vector<process> out;
  const directory_stream proc(::opendir("/proc"), &::closedir);
  while (const dirent* item = proc ? ::readdir(proc.get()) : nullptr) {
    pid_t id = 0;
    const char* end = item->d_name + std::strlen(item->d_name);
    if (std::from_chars(item->d_name, end, id).ptr != end) continue;
    const std::string stat = read_proc_file("/proc/" + std::string(item->d_name) + "/stat");
    // "id (name) state parent ...": the name may contain anything.
    const std::size_t at = stat.rfind(')');
    if (at == std::string::npos || stat.size() < at + 5) continue;
    pid_t parent = 0;
    std::from_chars(stat.data() + at + 4, stat.data() + stat.size(), parent);
    out.push_back({id, parent});
  }
  return out;
}

std::vector<pid_t> process_tree(pid_t leader, const std::vector<process>& all) {
  std::vector<pid_t> out{leader};
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const process& p : all)
      if (p.parent == out[i] && p.id != leader) out.push_back(p.id);
  return out;
}

std::optional<std::uint64_t> unlinked_bytes(const std::vector<pid_t>& tree, dev_t device) {
  if (ry_test::without_protection("unlinked_files")) return 0;
  sizes files;
  std::size_t remaining = max_examined;
  for (const pid_t id : tree) {
    if (!each_descriptor(id, remaining, [&](const struct stat& status) { record_unlinked(status, device, files); }))
      return std::nullopt;
    if (!add_mapped_files(id, device, remaining, files)) return std::nullopt;
  }
  std::uint64_t sum = 0;
  for (const auto& [inode, bytes] : files) sum += bytes;
  return sum;
}

std::uint64_t written_bytes(const std::vector<pid_t>& tree) {
  std::uint64_t sum = 0;
  for (const pid_t id : tree) {
    const std::string io = read_proc_file("/proc/" + std::to_string(id) + "/io");
    const std::uint64_t written = number_after(io, "\nwrite_bytes: "),
                        cancelled = number_after(io, "\ncancelled_write_bytes: ");
    sum += written - std::min(written, cancelled);
  }
  return sum;
}

std::uint64_t kernel_memory_bound(const std::vector<pid_t>& tree) {
  std::set<ino_t> sockets, pipes;
  std::uint64_t page_tables = 0;
  std::size_t remaining = max_examined;
  for (const pid_t id : tree) {
    page_tables += number_after(read_proc_file("/proc/" + std::to_string(id) + "/status"), "\nVmPTE:") << 10;
    (void)each_descriptor(id, remaining, [&](const struct stat& status) {
      if (S_ISSOCK(status.st_mode)) sockets.insert(status.st_ino);
      if (S_ISFIFO(status.st_mode)) pipes.insert(status.st_ino);
    });
  }
  return page_tables + sockets.size() * bytes_per_socket + pipes.size() * bytes_per_pipe;
}

bool may_copy_descriptors() {
  const unique_fd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) return false;
  const unique_fd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, self.get(), self.get(), 0)));
  return static_cast<bool>(copy);
}

}  // namespace bubblewrap
