// Bounded reading of a 64-bit ELF shared library that is in memory. Whatever the bytes, nothing
// outside of them is read; what is wrong with them is said by std::invalid_argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ry::module {

// Symbol versions that one shared library defines, or that are needed of it: "GLIBC_2.34".
struct library_versions {
  std::string library;  // its file name as DT_NEEDED has it
  std::vector<std::string> versions;
};

struct elf_facts {
  std::optional<std::string> ry_section;  // contents of .ry.module, without trailing NULs
  std::vector<std::string> exported;      // dynamic symbols it defines for others
  std::vector<std::string> unique;        // of these, STB_GNU_UNIQUE
  std::vector<std::string> libraries;     // DT_NEEDED
  // SHT_GNU_verneed, without weak versions: the dynamic loader does not insist on those.
  std::vector<library_versions> needed_versions;
};

elf_facts read_elf(std::string_view image);

}  // namespace ry::module
