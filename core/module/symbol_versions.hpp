// Checks whether this process has the symbol versions that a module needs. A module built on a newer system needs
// versions of the C and C++ libraries (GLIBC_2.38, GLIBCXX_3.4.32) that the dynamic loader does not find here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/module/elf.hpp"

namespace ry::module {

struct present_versions {
  // The versions that the libraries of this process define, by library name (DT_SONAME). The loader resolves a module
  // against these and ignores other files of the same name. Libraries without version definitions are omitted: the
  // loader requires no versions of them.
  std::vector<library_versions> libraries;
  std::string glibc;  // "2.36"; empty: a different C library
};

// Reads the versions of the current process. [any]
present_versions versions_of_this_process();

struct version_findings {
  std::vector<std::string> problems;  // one message for each library whose version is too old
  std::vector<std::string> warnings;
};

// Pure. A library that is not loaded yet is checked only if it is part of the C library.
version_findings judge_versions(const std::vector<library_versions>& needed, const present_versions& present);

// The highest version of each family: GLIBCXX_3.4.30 and CXXABI_1.3.13. Omits names without a number.
std::vector<std::string> highest_versions(const std::vector<std::string>& versions);
// The names without a number, without duplicates: GLIBC_ABI_DT_RELR, GLIBC_PRIVATE.
std::vector<std::string> versions_without_number(const std::vector<std::string>& versions);

// Turns dlopen()'s message about the file `path` into a message without a full stop that names the missing library or
// version and the remedy. Returns an unknown message without the path.
std::string explain_loader(std::string_view loader_message, std::string_view path);

}  // namespace ry::module
