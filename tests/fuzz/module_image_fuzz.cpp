// A module file before it is loaded: its ELF tables and required symbol versions. A rejected file gets an error
// message, and the amount of data read is bounded.
#include <stdexcept>
#include <string_view>

#include "check.hpp"
#include "core/module/elf.hpp"
#include "core/module/symbol_versions.hpp"

namespace {

const ry::module::present_versions available{{{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.36", "GLIBC_PRIVATE"}},
                                              {"libstdc++.so.6", {"GLIBCXX_3.4.30", "CXXABI_1.3.13"}}},
                                             "2.36"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto image = ry::module::read_elf(fuzz::view(data, size));
    std::size_t versions = 0;
    for (const auto& need : image.needed_versions) {
      fuzz::check(!need.library.empty(), "a required library has a name");
      versions += need.versions.size();
      (void)ry::module::highest_versions(need.versions);
    }
    fuzz::check(versions <= 4096 && image.needed_versions.size() <= 4097, "the number of versions is bounded");
    for (const auto& p : ry::module::judge_versions(image.needed_versions, available).problems)
      fuzz::check(p.size() > 10 && p.back() == '.', "a problem is described by a complete sentence");
  } catch (const std::invalid_argument& e) {
    fuzz::check(!std::string_view(e.what()).empty(), "an error has a message");
  }
  return 0;
}
