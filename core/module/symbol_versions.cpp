#include "core/module/symbol_versions.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace ry::module {

namespace {

constexpr std::string_view remedy = "build it on this release of the system or an older one";

// Parts of a version name: "GLIBCXX_3.4.32" has the family GLIBCXX_ and a number.
struct version_name {
  std::string_view family;
  std::vector<std::uint32_t> number;
};

std::optional<version_name> parse(std::string_view text) {
  const auto bar = text.rfind('_');
  if (bar == std::string_view::npos) return std::nullopt;
  version_name out{text.substr(0, bar + 1), {}};
  const char* at = text.data() + bar + 1;
  const char* const end = text.data() + text.size();
  for (;;) {
    std::uint32_t n = 0;
    const auto [next, failed] = std::from_chars(at, end, n);
    if (failed != std::errc() || next == at) return std::nullopt;
    out.number.push_back(n);
    if (next == end) return out;
    if (*next != '.') return std::nullopt;
    at = next + 1;
  }
}

bool contains(const std::vector<std::string>& list, std::string_view what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

// A module can need thousands of versions, so only the first few are named.
std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t most = 5;
  const std::size_t shown = std::min(words.size(), most);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  if (words.size() > shown) out += " and " + std::to_string(words.size() - shown) + " more";
  return out;
}

bool is_of_glibc(std::string_view version) {
  return version.starts_with("GLIBC_");
}

bool has_glibc(const present_versions& present, std::string_view version) {
  const auto needed = parse(version);
  const std::string mine = "GLIBC_" + present.glibc;
  const auto have = parse(mine);
  return !needed || !have || needed->number <= have->number;
}

const library_versions* find_library(const present_versions& present, const std::string& name) {
  const auto found = std::find_if(present.libraries.begin(), present.libraries.end(),
                                  [&](const auto& l) { return l.library == name; });
  return found != present.libraries.end() ? &*found : nullptr;
}

// Versions that a module needs from one library and that this process lacks.
std::vector<std::string> missing_of(const library_versions& need, const present_versions& present) {
  const auto* library = find_library(present, need.library);
  std::vector<std::string> out;
  for (const auto& version : need.versions) {
    const bool here = library != nullptr ? contains(library->versions, version)
                                         : !is_of_glibc(version) || has_glibc(present, version);
    if (!here && !contains(out, version)) out.push_back(version);
  }
  return out;
}

std::string problem_of_glibc(const std::vector<std::string>& missing, const std::string& glibc) {
  const auto highest = highest_versions(missing);
  if (highest.empty() && contains(missing, "GLIBC_ABI_DT_RELR"))
    return "it has packed relocations (GLIBC_ABI_DT_RELR), which need glibc 2.36, and this system "
           "has glibc " +
           glibc + ": link it with -Wl,-z,nopack-relative-relocs, or " + std::string(remedy) + ".";
  return "it needs " + joined(highest.empty() ? missing : highest) +
         " (the C library of a newer system), and this system has glibc " + glibc + ": " + std::string(remedy) + ".";
}

// The highest versions that this process's library has, for the families in `missing`.
std::vector<std::string> counterparts(const std::vector<std::string>& missing, const std::vector<std::string>& have) {
  std::vector<std::string> same;
  for (const auto& version : highest_versions(have)) {
    const auto mine = parse(version);
    if (std::any_of(missing.begin(), missing.end(), [&](const auto& m) {
          const auto theirs = parse(m);
          return theirs && theirs->family == mine->family;
        }))
      same.push_back(version);
  }
  return same;
}

std::string problem_of(const std::string& library, const std::vector<std::string>& missing,
                       const std::vector<std::string>& have) {
  const auto highest = highest_versions(missing);
  const auto names = highest.empty() ? missing : highest;
  const auto most = counterparts(names, have);
  const bool cpp = library.starts_with("libstdc++.so");
  std::string out = "it needs " + joined(names) + " of " + library +
                    (cpp ? " (the C++ library of a newer system)" : "") + ", and this system's has ";
  out += most.empty() ? "no such version" : "at most " + joined(most);
  return out + ": " + std::string(remedy) + (cpp ? ", or link the C++ library into it (-static-libstdc++)." : ".");
}

// ---- the current process -----------------------------------------------------------------------

// Entries of an object's dynamic section. Some C libraries relocate their addresses and some do not.
struct dynamic_section {
  const char* strings = nullptr;
  const char* definitions = nullptr;
  std::uint64_t count = 0;
  std::optional<std::uint64_t> soname;
};

dynamic_section dynamic_of(const dl_phdr_info& object) {
  dynamic_section out;
  const auto address = [&](ElfW(Addr) at) {
    return reinterpret_cast<const char*>(at < object.dlpi_addr ? object.dlpi_addr + at : at);
  };
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) out.strings = address(entry->d_un.d_ptr);
      if (entry->d_tag == DT_VERDEF) out.definitions = address(entry->d_un.d_ptr);
      if (entry->d_tag == DT_VERDEFNUM) out.count = entry->d_un.d_val;
      if (entry->d_tag == DT_SONAME) out.soname = entry->d_un.d_val;
    }
  }
  return out;
}

// Reads without bounds checks: the tables are in mapped libraries, and the loader trusts them too.
library_versions definitions_of(const dynamic_section& d) {
  library_versions out{d.strings + *d.soname, {}};
  const char* at = d.definitions;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    ElfW(Verdef) definition;
    std::memcpy(&definition, at, sizeof definition);
    ElfW(Verdaux) name;
    std::memcpy(&name, at + definition.vd_aux, sizeof name);
    // The base definition is the name of the library itself.
    if ((definition.vd_flags & VER_FLG_BASE) == 0) out.versions.emplace_back(d.strings + name.vda_name);
    if (definition.vd_next == 0) break;
    at += definition.vd_next;
  }
  return out;
}

int add_object(dl_phdr_info* object, std::size_t, void* to) noexcept {
  try {
    const auto d = dynamic_of(*object);
    if (d.strings != nullptr && d.definitions != nullptr && d.soname)
      static_cast<std::vector<library_versions>*>(to)->push_back(definitions_of(d));
  } catch (const std::exception&) {
    // Out of memory: treat the library as unknown; the loader decides.
  }
  return 0;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Parses "LIBRARY: cannot open shared object file: No such file or directory".
std::optional<std::string> explain_missing_library(std::string_view loader_message) {
  const auto end = loader_message.find(": cannot open shared object file: ");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string library(loader_message.substr(0, end));
  const auto why = loader_message.substr(loader_message.rfind(": ") + 2);
  if (why != "No such file or directory")
    return "it needs the shared library " + library + ", which cannot be opened (" + std::string(why) + ")";
  return "it needs the shared library " + library +
         ", which is not installed on this system: install the package that has it, or link it "
         "into the module";
}

// Parses "PATH/LIBRARY: version `VERSION' not found (required by PATH)".
std::optional<std::string> explain_missing_version(std::string_view loader_message, std::string_view path) {
  constexpr std::string_view before = ": version `", after = "' not found (required by ";
  const auto begin = loader_message.find(before);
  const auto end = loader_message.find(after);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin || !loader_message.ends_with(')'))
    return std::nullopt;
  const auto name = begin + before.size();
  const std::string version(loader_message.substr(name, end - name));
  auto by = loader_message.substr(end + after.size());
  by.remove_suffix(1);
  const bool itself = by == path;
  return (itself ? "it needs " : std::string(file_name(by)) + ", which it needs, itself needs ") + version + " of " +
         std::string(file_name(loader_message.substr(0, begin))) + ", which this system's does not have: " +
         (itself ? std::string(remedy) : "install the version of that library from this release");
}

}  // namespace

std::vector<std::string> highest_versions(const std::vector<std::string>& versions) {
  std::map<std::string_view, std::pair<std::vector<std::uint32_t>, std::string_view>> highest;
  for (const auto& text : versions) {
    auto version = parse(text);
    if (!version) continue;
    auto& best = highest[version->family];
    if (best.first < version->number) best = {std::move(version->number), text};
  }
  std::vector<std::string> out;
  // In reverse order, so that GLIBCXX_, the better known family, comes before CXXABI_.
  for (auto it = highest.rbegin(); it != highest.rend(); ++it) out.emplace_back(it->second.second);
  return out;
}

std::vector<std::string> versions_without_number(const std::vector<std::string>& versions) {
  std::vector<std::string> out;
  for (const auto& text : versions)
    if (!parse(text) && !contains(out, text)) out.push_back(text);
  return out;
}

version_findings judge_versions(const std::vector<library_versions>& needed, const present_versions& present) {
  version_findings out;
  std::vector<std::string> glibc_missing, others;
  bool internals = false;
  for (const auto& need : needed) {
    internals = internals || contains(need.versions, "GLIBC_PRIVATE");
    std::vector<std::string> missing = missing_of(need, present);
    // All libraries of glibc are released together, so one message covers them.
    const auto rest = std::stable_partition(missing.begin(), missing.end(), is_of_glibc);
    glibc_missing.insert(glibc_missing.end(), missing.begin(), rest);
    missing.erase(missing.begin(), rest);
    if (missing.empty()) continue;
    const auto* library = find_library(present, need.library);
    others.push_back(
        problem_of(need.library, missing, library != nullptr ? library->versions : std::vector<std::string>()));
  }
  if (!glibc_missing.empty()) out.problems.push_back(problem_of_glibc(glibc_missing, present.glibc));
  out.problems.insert(out.problems.end(), others.begin(), others.end());
  if (internals)
    out.warnings.push_back(
        "it uses internals of the C library (GLIBC_PRIVATE), which change with each release; it "
        "runs with the release that it was built on, if at all.");
  return out;
}

present_versions versions_of_this_process() {
  present_versions out;
  ::dl_iterate_phdr(add_object, &out.libraries);
#if defined(__GLIBC__)
  out.glibc = gnu_get_libc_version();
#endif
  return out;
}

std::string explain_loader(std::string_view loader_message, std::string_view path) {
  if (loader_message.starts_with(std::string(path) + ": ")) loader_message.remove_prefix(path.size() + 2);
  if (auto text = explain_missing_library(loader_message)) return *text;
  if (auto text = explain_missing_version(loader_message, path)) return *text;
  return "the dynamic loader refuses it: " + std::string(loader_message);
}

}  // namespace ry::module
