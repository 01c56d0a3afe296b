#include "core/db/cluster_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "core/db/embedded_error.hpp"

namespace ry::db::embedded {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t tail_max = 600;

struct unique_fd {
  ~unique_fd() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

}  // namespace

// PostgreSQL's user can write to the cluster, and the server may run as root: a symbolic link could point to a file
// that only root may read, and opening a FIFO would block the start.
std::optional<std::string> first_bytes(const fs::path& file, std::size_t most, const std::string& repair,
                                       const char* reason) {
  const unique_fd in{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)};
  if (in.fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat st {};
  // open() of a symbolic link fails with ELOOP, of a socket with ENXIO.
  if (in.fd < 0 ? errno == ELOOP || errno == ENXIO : ::fstat(in.fd, &st) == 0 && !S_ISREG(st.st_mode))
    refuse("The file " + file.string() + " is not a regular file. The server has not changed the cluster.\n" + repair,
           reason);
  std::string text(most, '\0');
  const ssize_t got = in.fd < 0 ? -1 : ::read(in.fd, text.data(), most);
  if (got < 0)
    refuse("Cannot read " + file.string() + ": " + last_error() +
           ". Start the server as the user that created this data directory.");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string tail(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > tail_max) {
    // Truncated at the start of a line or, within one long line, of a word.
    const auto cut = text.size() - tail_max;
    auto at = text.find('\n', cut - 1);
    if (at == std::string::npos) at = text.find(' ', cut - 1);
    text.erase(0, at == std::string::npos ? cut : at + 1);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string tail_of(const fs::path& log) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::streamoff>(in.tellg());
  // Read more than tail_max, so that tail() still finds a line boundary after it has removed trailing empty lines.
  in.seekg(std::max<std::streamoff>(0, size - 2 * static_cast<std::streamoff>(tail_max)));
  return tail({std::istreambuf_iterator<char>(in), {}});
}

fs::path make_dir(const fs::path& dir) {
  std::error_code ec;
  fs::create_directories(dir, ec);
  if (ec) refuse("Cannot create the directory " + dir.string() + ": " + ec.message());
  return dir;
}

void own(const fs::path& dir, const std::optional<run_as>& user, mode_t mode) {
  if (user && ::chown(dir.c_str(), user->uid, user->gid) != 0)
    refuse("Cannot change the owner of " + dir.string() + " to the user " + user->name + ": " + last_error());
  if (::chmod(dir.c_str(), mode) != 0) refuse("Cannot set the permissions of " + dir.string() + ": " + last_error());
}

}  // namespace ry::db::embedded
