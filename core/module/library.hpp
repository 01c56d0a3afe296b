// One mapped shared library of a module. Loading runs its constructors: inspect() first.
#pragma once

#include <ry/abi.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ry::module {

class library {
 public:
  enum class source {
    file,
    // The loader knows a library by its path: a second one from the same path, whatever is in the file
    // by now, would be the first one again.
    copy,
  };
  // Loads what is at a path in another process; why it must not be loaded here, or nothing.
  using rehearsal = std::function<std::string(const std::string& path)>;

  // Maps the file with every symbol resolved at once and none shared with others. With a pin
  // (SHA-256 in hex) the very bytes that were hashed are mapped, from a sealed copy in memory, so
  // that nobody can change them in between; the rehearsal, if one is given, has the same. Throws
  // std::runtime_error with a sentence.
  library(const std::filesystem::path& file, std::string_view sha256_pin,
          source from = source::file, const rehearsal& rehearse = {});
  // Unmaps, unless pin() was called.
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  // Calls ry_module_entry(). Throws std::runtime_error: not exported, or an exception came out.
  const ry_module_v1* descriptor() const;
  // The code stays mapped until the process ends, whoever closes it.
  void pin() noexcept;
  // Unmaps now. False: the code is still there (pinned, or its thread-locals keep it). Nothing of
  // the library may be used after this.
  bool close();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace ry::module
