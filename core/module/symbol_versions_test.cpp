#include "core/module/symbol_versions.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/module/file_image.hpp"
#include "core/module/library.hpp"
#include "core/module/test_host.hpp"

namespace ry::module {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const present_versions debian_12{
    {{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.9", "GLIBC_2.36", "GLIBC_ABI_DT_RELR", "GLIBC_PRIVATE"}},
     {"libm.so.6", {"GLIBC_2.2.5", "GLIBC_2.35", "GLIBC_PRIVATE"}},
     {"libstdc++.so.6",
      {"GLIBCXX_3.4", "GLIBCXX_3.4.9", "GLIBCXX_3.4.30", "CXXABI_1.3", "CXXABI_1.3.13", "CXXABI_TM_1"}},
     {"libgcc_s.so.1", {"GCC_3.0", "GCC_12.0.0"}}},
    "2.36"};

std::vector<std::string> problems(const std::vector<library_versions>& needed,
                                  const present_versions& present = debian_12) {
  return judge_versions(needed, present).problems;
}

TEST(symbol_versions, a_module_built_on_this_or_an_older_system_is_accepted) {
  EXPECT_THAT(problems({{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.36", "GLIBC_ABI_DT_RELR"}},
                        {"libstdc++.so.6", {"GLIBCXX_3.4.30", "CXXABI_1.3.13"}},
                        {"libgcc_s.so.1", {"GCC_3.0"}}}),
              IsEmpty());
}

TEST(symbol_versions, the_highest_version_of_the_c_library_is_named_once) {
  EXPECT_THAT(
      problems({{"libm.so.6", {"GLIBC_2.38", "GLIBC_2.35"}}, {"libc.so.6", {"GLIBC_2.9", "GLIBC_2.41", "GLIBC_2.38"}}}),
      ElementsAre("it needs GLIBC_2.41 (the C library of a newer system), and this system has "
                  "glibc 2.36: build it on this release of the system or an older one."));
}

TEST(symbol_versions, both_version_families_of_the_cpp_library_are_checked) {
  EXPECT_THAT(problems({{"libstdc++.so.6", {"GLIBCXX_3.4.31", "GLIBCXX_3.4.32", "CXXABI_1.3.15"}}}),
              ElementsAre("it needs GLIBCXX_3.4.32 and CXXABI_1.3.15 of libstdc++.so.6 (the C++ library of "
                          "a newer system), and this system's has at most GLIBCXX_3.4.30 and "
                          "CXXABI_1.3.13: build it on this release of the system or an older one, or "
                          "link the C++ library into it (-static-libstdc++)."));
  EXPECT_THAT(problems({{"libgcc_s.so.1", {"GCC_14.0.0"}}}),
              ElementsAre("it needs GCC_14.0.0 of libgcc_s.so.1, and this system's has at most "
                          "GCC_12.0.0: build it on this release of the system or an older one."));
  EXPECT_THAT(problems({{"libgcc_s.so.1", {"OTHER"}}}),
              ElementsAre(HasSubstr("needs OTHER of libgcc_s.so.1, and this system's has no such version")));
}

TEST(symbol_versions, abi_markers_of_newer_glibc_are_problems_and_glibc_private_is_a_warning) {
  present_versions older = debian_12;
  older.glibc = "2.31";
  older.libraries[0].versions = {"GLIBC_2.2.5", "GLIBC_2.31", "GLIBC_PRIVATE"};
  EXPECT_THAT(problems({{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_ABI_DT_RELR"}}}, older),
              ElementsAre(HasSubstr("-Wl,-z,nopack-relative-relocs")));
  EXPECT_THAT(problems({{"libc.so.6", {"GLIBC_ABI_GNU2_TLS"}}}),
              ElementsAre(StartsWith("it needs GLIBC_ABI_GNU2_TLS (the C library of a newer system)")));
  const auto internals = judge_versions({{"libc.so.6", {"GLIBC_PRIVATE"}}}, debian_12);
  EXPECT_THAT(internals.problems, IsEmpty());
  EXPECT_THAT(internals.warnings, ElementsAre(HasSubstr("GLIBC_PRIVATE")));
}

TEST(symbol_versions, only_glibc_is_checked_among_libraries_that_are_not_loaded) {
  EXPECT_THAT(problems({{"libresolv.so.2", {"GLIBC_2.34"}}, {"libfoo.so.1", {"FOO_7"}}}), IsEmpty());
  EXPECT_THAT(problems({{"libresolv.so.2", {"GLIBC_2.38"}}}), ElementsAre(HasSubstr("GLIBC_2.38")));
}

TEST(symbol_versions, nothing_is_checked_if_the_c_library_is_not_glibc) {
  EXPECT_THAT(problems({{"libc.so.6", {"GLIBC_2.38"}}, {"libstdc++.so.6", {"GLIBCXX_3.4.32"}}}, {}), IsEmpty());
}

TEST(symbol_versions, versions_are_compared_numerically) {
  EXPECT_THAT(
      highest_versions({"GLIBC_2.9", "GLIBC_2.34", "GLIBC_PRIVATE", "GLIBC_2.4.1", "", "_", "X_1.", "Y_99999999999"}),
      ElementsAre("GLIBC_2.34"));
}

TEST(symbol_versions, versions_without_a_number_are_listed_once) {
  EXPECT_THAT(versions_without_number({"GLIBC_2.9", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GLIBC_PRIVATE"}),
              ElementsAre("GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR"));
}

TEST(symbol_versions, a_message_names_at_most_five_versions) {
  const std::vector<std::string> seven = {"A_1", "B_1", "C_1", "D_1", "E_1", "F_1", "G_1"};
  EXPECT_THAT(problems({{"libgcc_s.so.1", seven}}),
              ElementsAre(StartsWith("it needs G_1, F_1, E_1, D_1, C_1 and 2 more of libgcc_s")));
  EXPECT_THAT(problems({{"libgcc_s.so.1", {seven.begin(), seven.begin() + 5}}}),
              ElementsAre(StartsWith("it needs E_1, D_1, C_1, B_1 and A_1 of libgcc_s")));
}

TEST(symbol_versions, reads_the_libraries_of_this_process) {
  const auto present = versions_of_this_process();
  const auto find = [&](std::string_view name) {
    return std::find_if(present.libraries.begin(), present.libraries.end(),
                        [&](const auto& l) { return l.library == name; });
  };
#if defined(__GLIBC__)
  EXPECT_THAT(present.glibc, StartsWith("2."));
  const auto c = find("libc.so.6");
  ASSERT_NE(c, present.libraries.end());
  EXPECT_THAT(c->versions, testing::Contains("GLIBC_PRIVATE"));
  EXPECT_THAT(c->versions, testing::Not(testing::Contains("libc.so.6")));
#endif
  const auto cpp = find("libstdc++.so.6");
  ASSERT_NE(cpp, present.libraries.end());
  EXPECT_THAT(cpp->versions, testing::Contains("GLIBCXX_3.4.30"));
}

std::string load_error(std::string_view file) {
  try {
    const library code(std::make_shared<const sealed_image>(fixture(std::string(file))));
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "it loads";
}

// explain_loader() recognises the dynamic loader's messages by their text. The fixture newer_c provokes a real one; the
// others are literals.
TEST(symbol_versions, loader_errors_are_explained) {
  EXPECT_THAT(load_error("newer_c"), StartsWith("it needs GLIBC_2.99 of libm.so.6, which this system's does "
                                                "not have: build it on"));
  EXPECT_EQ(explain_loader("libfoo.so.1: cannot open shared object file: No such file or directory", "/x"),
            "it needs the shared library libfoo.so.1, which is not installed on this system: install the "
            "package that has it, or link it into the module");
  EXPECT_EQ(explain_loader("libfoo.so.1: cannot open shared object file: Permission denied", "/x"),
            "it needs the shared library libfoo.so.1, which cannot be opened (Permission denied)");
  EXPECT_EQ(explain_loader("/lib/libc.so.6: version `GLIBC_2.38' not found (required by /opt/libfoo.so.1)", "/x"),
            "libfoo.so.1, which it needs, itself needs GLIBC_2.38 of libc.so.6, which this system's does "
            "not have: install the version of that library from this release");
  EXPECT_EQ(explain_loader("/x: undefined symbol: f", "/x"), "the dynamic loader refuses it: undefined symbol: f");
  EXPECT_EQ(explain_loader("", "/x"), "the dynamic loader refuses it: ");
}

}  // namespace
}  // namespace ry::module
