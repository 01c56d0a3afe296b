#include "core/module/manifest.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "core/exec/error.hpp"

namespace ry::module {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* good =
    R"({"name":"runs","version":"2.3","abi_major":1,"abi_minor":0,"min_host_minor":0,"flags":0,
        "needs":[{"id":"ry.db/1","optional":false,"min_size":64},{"id":"mcp/1","optional":1}],
        "provides":["llm.provider/1"]})";

std::string refusal(std::string_view json) {
  try {
    manifest_of_json(json);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(manifest, reads_the_section) {
  const auto f = manifest_of_json(good);
  EXPECT_EQ(f.name, "runs");
  EXPECT_EQ(f.version, "2.3");
  ASSERT_EQ(f.needs.size(), 2u);
  EXPECT_EQ(f.needs[0], (need_fact{"ry.db/1", false, 64}));
  EXPECT_EQ(f.needs[1], (need_fact{"mcp/1", true, 0}));
  EXPECT_THAT(f.provides, testing::ElementsAre("llm.provider/1"));
}

TEST(manifest, refuses_a_bad_section_naming_the_member) {
  EXPECT_THAT(refusal(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(std::string(10000, '[')), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"name\""));
  EXPECT_THAT(refusal(R"({"name":"A b","version":"1"})"), HasSubstr("\"A b\""));
  EXPECT_THAT(refusal(R"({"name":"a","version":"1","abi_major":-1})"), HasSubstr("\"abi_major\""));
  EXPECT_THAT(refusal(R"({"name":"a","version":"1","abi_major":1,"abi_minor":0,"min_host_minor":0,
                          "needs":[{"id":"nope"}]})"),
              HasSubstr("\"nope\""));
  EXPECT_THAT(refusal(R"({"name":"a","version":"1","abi_major":1,"abi_minor":0,"min_host_minor":0,
                          "provides":[7]})"),
              HasSubstr("\"provides\""));
}

TEST(manifest, validates_names_and_ids) {
  EXPECT_TRUE(valid_module_name("a_1"));
  for (const char* bad : {"", "A", "1a", "a-b", "a.b", "a/b", "_a"}) EXPECT_FALSE(valid_module_name(bad)) << bad;
  EXPECT_FALSE(valid_module_name(std::string(64, 'a')));
  EXPECT_TRUE(valid_interface_id("llm.provider/1"));
  EXPECT_TRUE(valid_interface_id("accounts/12"));
  for (const char* bad : {"", "/1", "a", "a/", "a/0", "a/01", "a/x", "A/1", "a/1/2"})
    EXPECT_FALSE(valid_interface_id(bad)) << bad;
}

TEST(manifest, incompatibilities_name_both_sides_and_the_remedy) {
  auto f = manifest_of_json(good);
  EXPECT_EQ(refuse_manifest(f, 0), "");
  f.abi_minor = 7;  // built with newer headers, but compatible with older hosts
  EXPECT_EQ(refuse_manifest(f, 0), "");
  f.min_host_minor = 4;
  EXPECT_EQ(refuse_manifest(f, 2),
            "module \"runs\" 2.3 needs host ABI >= 1.4; this host provides 1.2. Upgrade the host or "
            "rebuild with -DRY_ABI_MINOR=2.");
  f = manifest_of_json(good);
  f.abi_major = 2;
  EXPECT_EQ(refuse_manifest(f, 0),
            "module \"runs\" 2.3 is built for host ABI 2.0; this host provides 1.0. Upgrade the host.");
  f.abi_major = 0;
  EXPECT_THAT(refuse_manifest(f, 0), HasSubstr("Rebuild it with a newer SDK"));
  f = manifest_of_json(good);
  f.flags = 0x40;
  EXPECT_THAT(refuse_manifest(f, 0), HasSubstr("does not support (64)"));
  f.flags = RY_MODULE_USES_DRAFT;
  EXPECT_EQ(refuse_manifest(f, 0), "");
  EXPECT_THAT(refuse_manifest(f, 1), HasSubstr("draft interfaces of host ABI 1.0"));
}

TEST(manifest, mismatch_of_section_and_descriptor_is_named) {
  const auto s = manifest_of_json(good);
  auto d = s;
  std::swap(d.needs[0], d.needs[1]);
  EXPECT_EQ(refuse_mismatch(s, d), "");
  d.version = "2.4";
  EXPECT_THAT(refuse_mismatch(s, d), HasSubstr("version \"2.3\" but its descriptor states \"2.4\""));
  d = s;
  d.needs.pop_back();
  EXPECT_THAT(refuse_mismatch(s, d), HasSubstr("mcp/1 (optional)"));
  d = s;
  d.provides.clear();
  EXPECT_THAT(refuse_mismatch(s, d), HasSubstr("llm.provider/1 but its descriptor states nothing"));
}

ry_status create(const ry_host*, ry_get_interface_fn, ry_registrar*, ry_str, void**, ry_errbuf*) noexcept {
  return RY_OK;
}
ry_status start(void*, ry_errbuf*) noexcept {
  return RY_OK;
}
void stop(void*, int64_t, ry_done) noexcept {}
void destroy(void*) noexcept {}

ry_module_v1 descriptor() {
  ry_module_v1 d{};
  d.magic = RY_ABI_MAGIC;
  d.struct_size = sizeof d;
  d.abi_major = RY_ABI_MAJOR;
  d.name = core::view("runs");
  d.version = core::view("2.3");
  d.create = create;
  d.start = start;
  d.stop = stop;
  d.destroy = destroy;
  d.health = start;
  return d;
}

TEST(manifest, any_descriptor_is_checked_without_a_crash) {
  auto d = descriptor();
  EXPECT_EQ(refuse_descriptor(&d, "x.so"), "");
  EXPECT_THAT(refuse_descriptor(nullptr, "x.so"), HasSubstr("no descriptor"));

  d.magic = 1;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("wrong magic number"));
  d = descriptor();
  d.abi_major = 2;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("major 2; this host provides major 1"));
  d = descriptor();
  d.struct_size = 40;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("size of 40 bytes"));
  d.struct_size = 0xffffffff;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("size of"));
  d = descriptor();
  d.health = nullptr;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("is NULL"));
  d = descriptor();
  d.name = core::view("No\nName");
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("\"No?Name\""));
  d = descriptor();
  d.version = {nullptr, 5};
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("is empty or too long"));
  d = descriptor();
  d.n_needs = 1;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("needs"));
  ry_need need{sizeof(ry_need), 1, core::view("a/1"), 8, 0};
  d.needs = &need;
  d.need_stride = 4;
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("needs"));
  d.need_stride = sizeof need;
  EXPECT_EQ(refuse_descriptor(&d, "x.so"), "");
  EXPECT_EQ(manifest_of_descriptor(d).needs.at(0), (need_fact{"a/1", true, 8}));
  need.id = core::view("what");
  EXPECT_THAT(refuse_descriptor(&d, "x.so"), HasSubstr("need 1"));
}

}  // namespace
}  // namespace ry::module
