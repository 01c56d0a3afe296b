// Reads a file once and computes its SHA-256.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

namespace ry::module {

// Throws std::runtime_error with a message for the operator: missing, unreadable, not a regular file, over 512 MiB.
std::string read_image(const std::filesystem::path& file);
std::string sha256_hex(std::string_view bytes);

// An immutable copy of a file in memory (a sealed memfd): hashing, inspection and mapping use the same bytes, even if
// the file changes. Occupies the file's size in memory while it lives. [any]
class sealed_image {
 public:
  // Uses a file that is already such a copy (of another process) directly. Throws std::runtime_error with a message for
  // the operator: as for read_image(), or out of memory.
  explicit sealed_image(const std::filesystem::path& file);
  ~sealed_image();
  sealed_image(const sealed_image&) = delete;
  sealed_image& operator=(const sealed_image&) = delete;

  // A read-only mapping of the bytes.
  class view {
   public:
    explicit view(const sealed_image& of);
    ~view();
    view(const view&) = delete;
    view& operator=(const view&) = delete;
    std::string_view bytes() const noexcept { return {static_cast<const char*>(at_), size_}; }

   private:
    void* at_ = nullptr;
    std::size_t size_;
  };

  const std::filesystem::path& file() const noexcept { return file_; }  // the original file
  const std::string& sha256() const noexcept { return sha256_; }  // hex
  // A path for the dynamic loader, debuggers and other processes of this user; valid while the descriptor is open.
  // Without /proc it is the original file's path.
  const std::string& path() const noexcept { return path_; }
  // Whether path() denotes the copy.
  bool has_path() const noexcept { return has_path_; }
  // Keeps the descriptor open until the process ends, because something refers to the copy by its path.
  void keep_open() const noexcept { kept_ = true; }

 private:
  std::filesystem::path file_;
  int fd_ = -1;
  std::size_t size_ = 0;
  std::string sha256_, path_;
  bool has_path_ = true;
  mutable std::atomic<bool> kept_{false};
};

}  // namespace ry::module
