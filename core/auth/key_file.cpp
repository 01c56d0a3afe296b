#include "core/auth/key_file.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace ry::auth {
namespace {

constexpr std::size_t max_key_file = 64 * 1024;

class fd {
 public:
  explicit fd(int n) : n_(n) {}
  fd(const fd&) = delete;
  fd& operator=(const fd&) = delete;
  ~fd() {
    if (n_ >= 0) ::close(n_);
  }
  int get() const { return n_; }
  explicit operator bool() const { return n_ >= 0; }

 private:
  int n_;
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int err = 0) {
  std::string text = "key file " + path.string() + ": " + what;
  if (err) text += ": " + std::generic_category().message(err);
  throw std::runtime_error(text);
}

std::optional<std::string> read_key_file(const std::filesystem::path& path) {
  const fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    fail(path, "cannot be opened", errno);
  }
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) fail(path, "cannot be inspected", errno);
  if (!S_ISREG(st.st_mode)) fail(path, "is not a regular file");
  if (st.st_mode & 077) {
    fail(path, "is readable by users other than its owner; run: chmod 600 " + path.string());
  }
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "cannot be read", errno);
    if (n == 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > max_key_file) fail(path, "is too long to be a key file");
  }
  sodium_memzero(buffer, sizeof buffer);
  return text;
}

void write_all(const std::filesystem::path& path, int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "cannot be written", errno);
    done += static_cast<std::size_t>(n);
  }
  if (::fsync(file) != 0) fail(path, "cannot be written", errno);
}

}  // namespace

std::string load_or_make_key_file(const std::filesystem::path& path, const std::function<std::string()>& make) {
  if (auto text = read_key_file(path)) return *std::move(text);

  std::error_code ec;
  std::filesystem::create_directories(path.parent_path(), ec);
  if (ec) fail(path, "its directory cannot be created", ec.value());

  // Written to a temporary file and then linked: no reader sees a partial key, and of two writers one wins.
  std::string beside = path.string() + ".XXXXXX";
  {
    const fd file(::mkostemp(beside.data(), O_CLOEXEC));
    if (!file) fail(path, "cannot be created", errno);
    try {
      if (::fchmod(file.get(), 0600) != 0) fail(path, "its mode cannot be set", errno);
      // A command run by root may precede the first start of the server, which runs as another user.
      struct stat directory {};
      if (::geteuid() == 0 && ::stat(path.parent_path().c_str(), &directory) == 0 &&
          ::fchown(file.get(), directory.st_uid, directory.st_gid) != 0)
        fail(path, "its owner cannot be set", errno);
      write_all(path, file.get(), make());
    } catch (...) {
      ::unlink(beside.c_str());
      throw;
    }
  }
  const int linked = ::link(beside.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(beside.c_str());
  if (linked != 0 && linked != EEXIST) fail(path, "cannot be created", linked);
  if (const fd dir(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); dir) {
    ::fsync(dir.get());
  }
  if (auto text = read_key_file(path)) return *std::move(text);
  fail(path, "vanished while it was created");
}

}  // namespace ry::auth
