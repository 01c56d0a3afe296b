// Bounds-checked parser for a 64-bit ELF shared library in memory. It never reads outside of the image; malformed
// input throws std::invalid_argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ry::module {

// Symbol versions that one shared library defines, or that a module needs from it: "GLIBC_2.34".
struct library_versions {
  std::string library;  // the file name in DT_NEEDED
  std::vector<std::string> versions;
};

struct elf_contents {
  std::optional<std::string> ry_section;  // contents of .ry.module, without trailing NULs
  std::vector<std::string> exported;  // dynamic symbols it exports
  std::vector<std::string> unique;  // the exported symbols that are STB_GNU_UNIQUE
  std::vector<std::string> libraries;  // DT_NEEDED
  // SHT_GNU_verneed without weak versions, which the dynamic loader does not require.
  std::vector<library_versions> needed_versions;
};

elf_contents read_elf(std::string_view image);

}  // namespace ry::module
