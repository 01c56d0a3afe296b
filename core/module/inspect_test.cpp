#include "core/module/inspect.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "core/module/elf.hpp"
#include "core/module/file_image.hpp"
#include "core/module/test_host.hpp"

namespace ry::module {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(inspect, reads_a_good_module_without_running_it) {
  const auto i = inspect(fixture("provider"));
  EXPECT_THAT(i.problems, IsEmpty());
  EXPECT_THAT(i.warnings, IsEmpty());
  ASSERT_TRUE(i.manifest);
  EXPECT_EQ(i.manifest->name, "provider");
  EXPECT_THAT(i.manifest->provides, ElementsAre("svc/1"));
  EXPECT_THAT(i.exported, ElementsAre("ry_module_entry"));
  EXPECT_THAT(i.libraries, Contains("libc.so.6"));
  EXPECT_EQ(i.sha256.size(), 64u);
  EXPECT_EQ(i.size, std::filesystem::file_size(fixture("provider")));
  EXPECT_THAT(to_json(i), HasSubstr(R"("exported":["ry_module_entry"])"));
  // inspect() does not load the library: the loader would fail on an unresolved symbol.
  EXPECT_THAT(inspect(fixture("unresolved")).problems, IsEmpty());
}

TEST(inspect, explains_how_to_fix_the_library) {
  EXPECT_THAT(inspect(fixture("extra_symbol")).warnings, ElementsAre(HasSubstr("fixture_extra_symbol")));
  EXPECT_THAT(inspect(fixture("no_section")).problems, ElementsAre(HasSubstr(".ry.module")));
  EXPECT_THAT(inspect("/proc/self/exe").problems, testing::Not(IsEmpty()));
  EXPECT_THAT(inspect("/").problems, ElementsAre(HasSubstr("not a regular file")));
  EXPECT_THAT(inspect("/dev/zero").problems, ElementsAre(HasSubstr("not a regular file")));
}

TEST(inspect, checks_the_libraries_that_a_module_needs) {
  const auto foreign = inspect(fixture("needs_libcxx"));
  ASSERT_TRUE(foreign.manifest);
  EXPECT_THAT(foreign.libraries, Contains("libc++.so.1"));
  EXPECT_THAT(foreign.problems, ElementsAre(HasSubstr("needs libc++.so.1")));
  const auto shared = inspect(fixture("needs_boost"));
  EXPECT_THAT(shared.problems, IsEmpty());
  EXPECT_THAT(shared.warnings, ElementsAre(HasSubstr("needs libboost_json.so.1.99.0, which the host")));
}

TEST(inspect, names_the_versions_of_libraries_that_this_system_lacks) {
  const auto good = inspect(fixture("provider"));
  ASSERT_FALSE(good.versions.empty());
  EXPECT_THAT(to_json(good), HasSubstr(R"("requires":{"libc.so.6":["GLIBC_2)"));

  const auto c = inspect(fixture("newer_c"));
  ASSERT_TRUE(c.manifest);
  EXPECT_THAT(c.problems, ElementsAre(StartsWith("it needs GLIBC_2.99 (the C library of a newer system), "
                                                 "and this system has glibc 2.")));
  EXPECT_THAT(to_json(c), HasSubstr(R"("libm.so.6":["GLIBC_2.99"])"));
  EXPECT_THAT(inspect(fixture("newer_cpp")).problems,
              ElementsAre(StartsWith("it needs GLIBCXX_3.4.99 of libstdc++.so.6 (the C++ library of a "
                                     "newer system), and this system's has at most GLIBCXX_3.4.")));
  // Libraries that this process has not loaded are left to the loader.
  EXPECT_THAT(inspect(fixture("newer_other")).problems, IsEmpty());
}

TEST(inspect, one_library_in_two_entries_keeps_the_versions_of_both) {
  inspection twice;
  twice.versions = {{"libc.so.6", {"GLIBC_2.4"}}, {"libc.so.6", {"GLIBC_2.5"}}};
  EXPECT_THAT(to_json(twice), HasSubstr(R"("requires":{"libc.so.6":["GLIBC_2.4","GLIBC_2.5"]})"));
}

// Parses the image; any result is fine as long as it does not crash.
void survives(std::string_view image) {
  try {
    const auto e = read_elf(image);
    if (e.ry_section) manifest_of_json(*e.ry_section);
  } catch (const std::invalid_argument&) {
  }
}

TEST(elf, truncated_images_are_refused_without_reading_outside) {
  const std::string whole = read_image(fixture("provider"));
  for (std::size_t n = 0; n < whole.size(); n += n < 256 ? 1 : 61) {
    // Allocate the exact size, so that a sanitizer detects every read beyond the end.
    const std::string part(whole.data(), n);
    EXPECT_THROW(read_elf(part), std::invalid_argument) << n;
  }
}

TEST(elf, damaged_tables_of_needed_versions_are_refused_or_read) {
  const std::string whole = read_image(fixture("newer_c"));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::optional<Elf64_Shdr> table;
  for (std::size_t i = 0; i < header.e_shnum && !table; ++i) {
    Elf64_Shdr s;
    std::memcpy(&s, whole.data() + header.e_shoff + i * sizeof s, sizeof s);
    if (s.sh_type == SHT_GNU_verneed) table = s;
  }
  ASSERT_TRUE(table);
  // Corrupt every byte of the table, and use table sizes that truncate entries.
  for (std::size_t i = 0; i < table->sh_size; ++i)
    for (const int value : {0, 1, 0x10, 0x7f, 0xff}) {
      std::string bad = whole;
      bad[table->sh_offset + i] = static_cast<char>(value);
      survives(bad);
    }
  std::string loop = whole;
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(loop.data() + table->sh_offset + at, &value, sizeof value);
  };
  // Chains whose counts never end.
  put(offsetof(Elf64_Verneed, vn_cnt), Elf64_Half{0xffff});
  put(offsetof(Elf64_Verneed, vn_next), Elf64_Word{1});
  survives(loop);
  loop = whole;
  put(offsetof(Elf64_Verneed, vn_aux), Elf64_Word{0xffffffff});
  EXPECT_THROW(read_elf(loop), std::invalid_argument);
}

std::string verdict_on(std::string_view image) {
  try {
    read_elf(image);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "it is read";
}

TEST(elf, a_second_table_of_needed_versions_is_refused) {
  std::string image = read_image(fixture("newer_c"));
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  std::string headers = image.substr(header.e_shoff, std::size_t{header.e_shnum} * sizeof(Elf64_Shdr));
  std::string table;
  for (std::size_t i = 0; i < header.e_shnum && table.empty(); ++i) {
    Elf64_Shdr s;
    std::memcpy(&s, headers.data() + i * sizeof s, sizeof s);
    if (s.sh_type == SHT_GNU_verneed) table = headers.substr(i * sizeof s, sizeof s);
  }
  ASSERT_FALSE(table.empty());
  header.e_shoff = image.size();
  image += headers;
  std::memcpy(image.data(), &header, sizeof header);
  EXPECT_EQ(verdict_on(image), "it is read");
  ++header.e_shnum;
  image += table;
  std::memcpy(image.data(), &header, sizeof header);
  EXPECT_THAT(verdict_on(image), HasSubstr("more than one table of needed versions"));
}

TEST(elf, a_version_name_that_is_not_printable_is_refused) {
  const std::string whole = read_image(fixture("newer_c"));
  EXPECT_EQ(verdict_on(whole), "it is read");
  for (const int value : {0x01, 0x1b, 0x20, 0x7f, 0x80, 0xff}) {
    std::string bad = whole;
    const std::string_view name = "GLIBC_2.99";
    for (auto at = bad.find(name); at != std::string::npos; at = bad.find(name, at))
      bad[at + 7] = static_cast<char>(value);
    EXPECT_THAT(verdict_on(bad), HasSubstr("not printable ASCII")) << value;
  }
}

TEST(elf, damaged_images_never_crash) {
  const std::string whole = read_image(fixture("provider"));
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bad = whole;
    for (int k = 0; k < 1 + round % 8; ++k) {
      // Corrupt both ends, where headers and tables are.
      const std::size_t span = std::min<std::size_t>(bad.size(), 2048);
      const std::size_t at = random() % span;
      bad[random() % 2 ? at : bad.size() - 1 - at] = static_cast<char>(random());
    }
    survives(bad);
  }
}

TEST(discover, lists_shared_libraries_in_order) {
  const auto dir = std::filesystem::temp_directory_path() / "ry_discover_test";
  std::filesystem::create_directories(dir);
  for (const char* name : {"b.so", "a.so", "readme.txt"}) std::ofstream(dir / name) << "x";
  EXPECT_THAT(discover(dir), ElementsAre(dir / "a.so", dir / "b.so"));
  std::filesystem::remove_all(dir);
  EXPECT_THAT(discover(dir), IsEmpty());
}

}  // namespace
}  // namespace ry::module
