#include "core/module/inspect.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/module/describe.hpp"
#include "core/module/describe_text.hpp"
#include "core/module/elf.hpp"
#include "core/module/symbol_versions.hpp"

namespace ry::module {

namespace {

namespace json = boost::json;

// Symbols that linkers add unless a version script hides them.
bool of_the_linker(std::string_view name) {
  return name == "_init" || name == "_fini" || name == "_edata" || name == "_end" || name == "__bss_start";
}

void judge_symbols(inspection& out) {
  std::string others;
  std::size_t n = 0;
  bool entry = false;
  for (const auto& name : out.exported) {
    if (name == "ry_module_entry") {
      entry = true;
    } else if (!of_the_linker(name) && ++n <= 5) {
      others += (others.empty() ? "" : ", ") + name;
    }
  }
  if (!entry) out.problems.push_back("it does not export ry_module_entry; define it with RY_EXPORT (or RY_MODULE).");
  if (n > 0)
    out.warnings.push_back("it exports " + std::to_string(n) + " symbols in addition to ry_module_entry (" + others +
                           (n > 5 ? ", ..." : "") + "); link it with the SDK's version script.");
  if (!out.unique_symbols.empty())
    out.warnings.push_back("it has symbols that all libraries of the process share (" + out.unique_symbols.front() +
                           "), so it can never be unloaded; link it with the SDK's version script.");
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return name.starts_with(b); });
}

// Rejects libraries that must not be in the host's process, and warns of libraries that the host has in its own
// version.
void judge_libraries(inspection& out) {
  std::string shared;
  for (const auto& name : out.libraries) {
    if (starts_with_any(name, {"libc++.so", "libc++abi.so"}))
      out.problems.push_back("it needs " + name +
                             ", whose exceptions have the names but not the layout of those of the host's libstdc++; "
                             "link libc++ into the module (see sdk/README.md).");
    if (starts_with_any(name, {"libboost_", "libsoci_", "libpq.so"})) shared += (shared.empty() ? "" : ", ") + name;
  }
  if (!shared.empty())
    out.warnings.push_back("it needs " + shared +
                           ", which the host uses in its own version and may stop using; link it into the module.");
}

void judge_needed_versions(inspection& out) {
  version_findings found = judge_versions(out.versions, versions_of_this_process());
  for (auto& p : found.problems) out.problems.push_back(std::move(p));
  for (auto& w : found.warnings) out.warnings.push_back(std::move(w));
}

void examine(std::string_view image, inspection& out) {
  out.size = image.size();
  try {
    elf_contents elf = read_elf(image);
    out.exported = std::move(elf.exported);
    out.unique_symbols = std::move(elf.unique);
    out.libraries = std::move(elf.libraries);
    out.versions = std::move(elf.needed_versions);
    std::sort(out.exported.begin(), out.exported.end());
    judge_symbols(out);
    judge_libraries(out);
    judge_needed_versions(out);
    if (elf.ry_section)
      out.manifest = manifest_of_json(*elf.ry_section);
    else
      out.problems.push_back("it has no .ry.module section; build it with RY_MODULE or ry_add_module().");
  } catch (const std::invalid_argument& e) {
    out.problems.push_back(std::string(e.what()) + ".");
  }
}

}  // namespace

std::string inspection::label() const {
  return manifest ? manifest->name : file.filename().string();
}

inspection inspect(const std::filesystem::path& file) {
  inspection out;
  out.file = file;
  try {
    const std::string image = read_image(file);
    out.sha256 = sha256_hex(image);
    examine(image, out);
  } catch (const std::exception& e) {
    out.problems.push_back(std::string(e.what()) + ".");
  }
  return out;
}

inspection inspect(const sealed_image& image) {
  inspection out;
  out.file = image.file();
  out.sha256 = image.sha256();
  try {
    const sealed_image::view whole(image);
    examine(whole.bytes(), out);
  } catch (const std::exception& e) {
    out.problems.push_back(std::string(e.what()) + ".");
  }
  return out;
}

std::string to_json(const inspection& what) {
  json::object o;
  o["file"] = what.file.string();
  o["size"] = what.size;
  o["sha256"] = what.sha256;
  if (what.manifest) o["module"] = to_json(*what.manifest);
  o["exported"] = json_array(what.exported);
  o["unique_symbols"] = json_array(what.unique_symbols);
  o["libraries"] = json_array(what.libraries);
  json::object required;
  // A file may list one library in several entries.
  for (const auto& need : what.versions) {
    json::value& of = required[need.library];
    if (!of.is_array()) of.emplace_array();
    for (const auto& v : need.versions) of.get_array().emplace_back(v);
  }
  o["requires"] = std::move(required);
  o["problems"] = json_array(what.problems);
  o["warnings"] = json_array(what.warnings);
  return json::serialize(o);
}

std::vector<std::filesystem::path> discover(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> out;
  std::error_code ec;
  for (std::filesystem::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".so") out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace ry::module
