// Results of file operations: descriptors and errors.
#pragma once
#include <unistd.h>

#include <string>
#include <utility>

#include "ry/abi.h"

namespace bubblewrap {

// Owns a file descriptor.
class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct file_error {
  ry_status status = RY_OK;
  std::string message;
  explicit operator bool() const { return status != RY_OK; }
};

}  // namespace bubblewrap
