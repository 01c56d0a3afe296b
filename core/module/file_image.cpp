#include "core/module/file_image.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace ry::module {

namespace {

constexpr off_t max_image = off_t{512} * 1024 * 1024;

struct descriptor {
  int fd;
  ~descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void refuse(const char* what, int error) {
  throw std::runtime_error(std::string(what) + ": " + std::generic_category().message(error));
}

}  // namespace

std::string read_image(const std::filesystem::path& file) {
  // O_NONBLOCK: a FIFO in the directory of modules must not hang the host.
  const descriptor d{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (d.fd < 0) refuse("it cannot be opened", errno);
  struct stat st {};
  if (::fstat(d.fd, &st) != 0) refuse("it cannot be examined", errno);
  if (!S_ISREG(st.st_mode)) throw std::runtime_error("it is not a regular file");
  if (st.st_size > max_image) throw std::runtime_error("it is larger than 512 MiB");
  std::string out(static_cast<std::size_t>(st.st_size), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t n = ::read(d.fd, out.data() + have, out.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("it cannot be read", errno);
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  out.resize(have);
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += hex[digest[i] >> 4];
    out += hex[digest[i] & 15];
  }
  return out;
}

}  // namespace ry::module
