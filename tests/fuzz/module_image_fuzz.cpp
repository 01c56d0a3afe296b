// A module's file before any of it runs: its ELF tables and the symbol versions that it needs. A
// refused file gets a sentence, and reading is bounded.
#include <stdexcept>
#include <string_view>

#include "check.hpp"
#include "core/module/elf.hpp"
#include "core/module/symbol_versions.hpp"

namespace {

const ry::module::present_versions here{{{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.36", "GLIBC_PRIVATE"}},
                                         {"libstdc++.so.6", {"GLIBCXX_3.4.30", "CXXABI_1.3.13"}}},
                                        "2.36"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto facts = ry::module::read_elf(fuzz::view(data, size));
    std::size_t versions = 0;
    for (const auto& need : facts.needed_versions) {
      fuzz::promise(!need.library.empty(), "a library that is needed has a name");
      versions += need.versions.size();
      (void)ry::module::highest_versions(need.versions);
    }
    fuzz::promise(versions <= 4096 && facts.needed_versions.size() <= 4097, "what is read is bounded");
    for (const auto& p : ry::module::judge_versions(facts.needed_versions, here).problems)
      fuzz::promise(p.size() > 10 && p.back() == '.', "a problem is a sentence");
  } catch (const std::invalid_argument& e) {
    fuzz::promise(!std::string_view(e.what()).empty(), "a refusal has a sentence");
  }
  return 0;
}
