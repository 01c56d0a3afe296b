// Inspects a shared library without running its code. Malicious, truncated or foreign files add a message to `problems`
// and never cause an exception or a crash. Threads: any; blocks on the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/module/elf.hpp"
#include "core/module/file_image.hpp"
#include "core/module/manifest.hpp"

namespace ry::module {

struct inspection {
  std::filesystem::path file;
  std::uint64_t size = 0;
  std::string sha256;  // hex, of the whole file; empty if unreadable
  std::optional<module_manifest> manifest;  // empty: see problems
  std::vector<std::string> exported;  // dynamic symbols it defines
  std::vector<std::string> unique_symbols;  // symbols that all libraries of the process share
  std::vector<std::string> libraries;  // DT_NEEDED
  std::vector<library_versions> versions;  // symbol versions needed from these libraries
  std::vector<std::string> problems;  // why it cannot be loaded
  std::vector<std::string> warnings;  // issues that its builder should fix

  // The module's name, or the file name if the module has none.
  std::string label() const;
};

inspection inspect(const std::filesystem::path& file);
inspection inspect(const sealed_image& image);
// One JSON object, for `runyard inspect`.
std::string to_json(const inspection& what);

// The *.so files of a directory, sorted by name; empty if the directory is missing.
std::vector<std::filesystem::path> discover(const std::filesystem::path& directory);

}  // namespace ry::module
