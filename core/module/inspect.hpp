// Reading a shared library without running its code. Hostile, truncated or foreign files give a
// sentence in `problems`, never an exception or a crash. Threads: any; blocks on the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/module/elf.hpp"
#include "core/module/facts.hpp"
#include "core/module/file_image.hpp"

namespace ry::module {

struct inspection {
  std::filesystem::path file;
  std::uint64_t size = 0;
  std::string sha256;                       // hex, of the whole file; empty when it cannot be read
  std::optional<module_facts> facts;        // empty: see problems
  std::vector<std::string> exported;        // dynamic symbols it defines
  std::vector<std::string> unique_symbols;  // those that every library of the process shares
  std::vector<std::string> libraries;       // DT_NEEDED
  std::vector<library_versions> versions;   // needed of these
  std::vector<std::string> problems;        // why it cannot be loaded
  std::vector<std::string> warnings;        // what its builder should mend

  // The module's name, or the file's for want of it.
  std::string label() const;
};

inspection inspect(const std::filesystem::path& file);
inspection inspect(const sealed_image& image);
// One JSON object, for `runyard inspect`.
std::string to_json(const inspection& what);

// The files *.so of a directory, sorted by name. A missing directory has none.
std::vector<std::filesystem::path> discover(const std::filesystem::path& directory);

}  // namespace ry::module
