// Does this process have the symbol versions that a module needs? A module that was built on a
// newer system needs versions of the C and C++ libraries (GLIBC_2.38, GLIBCXX_3.4.32) that the
// dynamic loader does not find here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/module/elf.hpp"

namespace ry::module {

struct present_versions {
  // What the libraries of this process define, by their names (DT_SONAME). The loader gives a
  // module these and no other files of the same name. A library without version definitions is left
  // out: the loader demands none of it.
  std::vector<library_versions> libraries;
  std::string glibc;  // "2.36"; empty: the C library is another one
};

// Of this process, now. [any]
present_versions versions_of_this_process();

struct version_findings {
  std::vector<std::string> problems;  // one sentence for each library whose version is too old
  std::vector<std::string> warnings;
};

// Pure. A library that the process does not have yet is judged only if it is part of the C library.
version_findings judge_versions(const std::vector<library_versions>& needed,
                                const present_versions& present);

// The highest version of each family: GLIBCXX_3.4.30 and CXXABI_1.3.13. Names without a number are
// left out.
std::vector<std::string> highest_versions(const std::vector<std::string>& versions);
// The names without a number, each once: GLIBC_ABI_DT_RELR, GLIBC_PRIVATE.
std::vector<std::string> versions_without_number(const std::vector<std::string>& versions);

// A sentence without its end for what dlopen() said of the file `path`: names the library or the
// version that is missing, and what to do. What is not known is handed on, without the path.
std::string explain_loader(std::string_view said, std::string_view path);

}  // namespace ry::module
