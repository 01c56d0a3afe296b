#include "core/module/file_image.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ry/cpp/text.hpp>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace ry::module {

namespace {

constexpr off_t max_image = off_t{512} * 1024 * 1024;

struct descriptor {
  int fd;
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void throw_file_error(const char* what, int error) {
  throw std::runtime_error(std::string(what) + ": " + std::generic_category().message(error));
}

struct opened {
  int fd;
  std::size_t size;
};

opened open_image(const std::filesystem::path& file) {
  // O_NONBLOCK: opening a FIFO in the module directory must not block the host.
  descriptor d{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (d.fd < 0) throw_file_error("it cannot be opened", errno);
  struct stat st {};
  if (::fstat(d.fd, &st) != 0) throw_file_error("it cannot be examined", errno);
  if (!S_ISREG(st.st_mode)) throw std::runtime_error("it is not a regular file");
  if (st.st_size > max_image) throw std::runtime_error("it is larger than 512 MiB");
  return {std::exchange(d.fd, -1), static_cast<std::size_t>(st.st_size)};
}

// Reads at most `most` bytes from the current offset; returns 0 at the end of the file.
std::size_t read_some(int fd, char* to, std::size_t most) {
  ssize_t n;
  while ((n = ::read(fd, to, most)) < 0 && errno == EINTR) {
  }
  if (n < 0) throw_file_error("it cannot be read", errno);
  return static_cast<std::size_t>(n);
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_file_error("its copy in memory failed", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

constexpr int whole_seal = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

// Returns a descriptor of an immutable copy of the file.
opened sealed_copy(const std::filesystem::path& file) {
  const opened from = open_image(file);
  descriptor source{from.fd};
  const int seals = ::fcntl(from.fd, F_GET_SEALS);
  if (seals >= 0 && (seals & whole_seal) == whole_seal) return {std::exchange(source.fd, -1), from.size};

  // The kernel limits the name to 249 bytes.
  const std::string name = "runyard-" + file.filename().string().substr(0, 200);
  descriptor copy{::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (copy.fd < 0) throw_file_error("no memory file for it", errno);
  std::vector<char> piece(std::size_t{256} * 1024);
  std::size_t size = 0;
  while (size < from.size) {
    const std::size_t n = read_some(from.fd, piece.data(), std::min(piece.size(), from.size - size));
    if (n == 0) break;
    write_all(copy.fd, {piece.data(), n});
    size += n;
  }
  if (::fcntl(copy.fd, F_ADD_SEALS, whole_seal | F_SEAL_SEAL) != 0)
    throw_file_error("its copy in memory cannot be sealed", errno);
  return {std::exchange(copy.fd, -1), size};
}

// Uses the process id instead of "self", so that the path is valid in a debugger too.
std::string path_of(int fd) {
  std::error_code ec;
  const auto self = std::filesystem::read_symlink("/proc/self", ec).string();
  return "/proc/" + (ec ? "self" : self) + "/fd/" + std::to_string(fd);
}

}  // namespace

std::string read_image(const std::filesystem::path& file) {
  const opened from = open_image(file);
  const descriptor d{from.fd};
  std::string out(from.size, '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const std::size_t n = read_some(from.fd, out.data() + have, out.size() - have);
    if (n == 0) break;
    have += n;
  }
  out.resize(have);
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
  return to_hex(std::span(digest.data(), size));
}

sealed_image::sealed_image(const std::filesystem::path& file) : file_(file) {
  const opened copy = sealed_copy(file);
  descriptor d{copy.fd};
  fd_ = copy.fd;
  size_ = copy.size;
  sha256_ = sha256_hex(view(*this).bytes());
  path_ = path_of(fd_);
  has_path_ = ::access(path_.c_str(), R_OK) == 0;
  if (!has_path_) path_ = std::filesystem::absolute(file).string();
  d.fd = -1;
}

sealed_image::~sealed_image() {
  if (!kept_) ::close(fd_);
}

sealed_image::view::view(const sealed_image& of) : size_(of.size_) {
  if (size_ == 0) return;
  at_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, of.fd_, 0);
  if (at_ == MAP_FAILED) throw_file_error("its copy in memory cannot be read", errno);
}

sealed_image::view::~view() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

}  // namespace ry::module
