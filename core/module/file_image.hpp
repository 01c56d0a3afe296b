// The bytes of a file, read once, and their SHA-256.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

namespace ry::module {

// Throws std::runtime_error with a sentence: missing, unreadable, no regular file, over 512 MiB.
std::string read_image(const std::filesystem::path& file);
std::string sha256_hex(std::string_view bytes);

// A copy of a file in memory that nobody can change: what is hashed, examined and mapped is the same, whatever becomes
// of the file. Costs the size of the file until it ends. [any]
class sealed_image {
 public:
  // A file that is such a copy already (of another process) is taken as it is. Throws std::runtime_error with a
  // sentence: as read_image(), or there is no memory for it.
  explicit sealed_image(const std::filesystem::path& file);
  ~sealed_image();
  sealed_image(const sealed_image&) = delete;
  sealed_image& operator=(const sealed_image&) = delete;

  // The bytes, mapped for reading while this lives.
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

  const std::filesystem::path& file() const noexcept { return file_; }  // what was copied
  const std::string& sha256() const noexcept { return sha256_; }        // hex
  // For the dynamic loader, and for debuggers and other processes of this user, as long as the descriptor is open. Where
  // there is no /proc it is the file's own.
  const std::string& path() const noexcept { return path_; }
  // Whether path() is that of the copy.
  bool has_path() const noexcept { return has_path_; }
  // Something knows the copy by its path for good.
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
