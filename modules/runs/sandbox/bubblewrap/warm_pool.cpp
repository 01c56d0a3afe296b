#include "warm_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

namespace bubblewrap {

mount_table::mount_table() : file_(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)) {}

bool mount_table::changed() const {
  if (!file_) return true;
  pollfd entry{file_.get(), POLLPRI, 0};
  return ::poll(&entry, 1, 0) != 0;
}

sandbox_kind kind_of(command_spec spec) {
  spec.argv.clear();
  sandbox_kind out{{}, build_command_line(spec), working_directory(spec)};
  // A cache belongs to one command of one account, and an account rarely starts a command several times concurrently.
  if (!spec.cache.empty()) out.max_waiting = 1;
  for (const std::string& word : out.words) out.name.append(word).push_back('\0');
  out.name += host_file_identities(out.words, out.directory);
  return out;
}

std::string host_file_identities(const std::vector<std::string>& bwrap_arguments, const std::string& directory) {
  std::string out;
  for (std::size_t i = 0; i + 1 < bwrap_arguments.size(); ++i) {
    const std::string& option = bwrap_arguments[i];
    if (!option.starts_with("--ro-bind") && !option.starts_with("--bind")) continue;
    const std::string& path = bwrap_arguments[++i];
    struct stat file {};
    if (::stat((path.starts_with('/') ? path : directory + "/" + path).c_str(), &file) != 0) file = {};
    out += std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino) + " ";
  }
  return out;
}

}  // namespace bubblewrap
