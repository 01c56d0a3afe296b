#include "core/exec/resource_limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using ry::exec::cgroup_limits;

class resource_limits : public testing::Test {
 protected:
  ~resource_limits() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void put(const std::string& file, const std::string& text) const {
    const fs::path at = root_ / file;
    fs::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  const fs::path root_ = [] {
    std::string name = (fs::temp_directory_path() / "ry-share-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    return fs::path(name);
  }();
};

TEST_F(resource_limits, without_cgroups_nothing_is_limited) {
  EXPECT_FALSE(cgroup_limits(root_).cores);
  EXPECT_FALSE(cgroup_limits(root_).memory_bytes);
}

TEST_F(resource_limits, the_lowest_limit_of_a_cgroup_and_its_ancestors_applies) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_FALSE(cgroup_limits(root_).cores);
  EXPECT_FALSE(cgroup_limits(root_).memory_bytes);
  put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/a/memory.max", "1073741824\n");
  EXPECT_EQ(cgroup_limits(root_).cores, 1.5);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 1073741824u);
  put("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  put("sys/fs/cgroup/a/b/memory.max", "2147483648\n");
  EXPECT_EQ(cgroup_limits(root_).cores, 0.5);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 1073741824u);
}

TEST_F(resource_limits, a_container_with_host_cgroup_paths_uses_its_own_cgroup_as_root) {
  put("proc/self/cgroup", "0::/../host/of/it\n");
  put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_limits(root_).cores, 2);
}

TEST_F(resource_limits, reads_cgroup_v1_limits) {
  put("proc/self/cgroup", "4:memory:/box\n3:cpuset:/box\n2:cpu,cpuacct:/box\n0::/\n");
  put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "300000\n");
  put("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "536870912\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_limits(root_).cores, 3);
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 536870912u);
}

TEST_F(resource_limits, an_unreadable_value_sets_no_limit) {
  put("proc/self/cgroup", "nonsense\n0:\n:::\n0::/a\n1:cpu:\n");
  put("sys/fs/cgroup/a/cpu.max", "0 0\n");
  put("sys/fs/cgroup/a/memory.max", "-5\n");
  put("sys/fs/cgroup/cpu.max", "\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1e400\n");
  EXPECT_FALSE(cgroup_limits(root_).cores);
  EXPECT_FALSE(cgroup_limits(root_).memory_bytes);
}

TEST(this_machine, has_cores_and_memory) {
  EXPECT_GE(ry::exec::usable_cores(), 1u);
  EXPECT_GT(ry::exec::usable_memory_bytes(), 1u << 20);
}

}  // namespace
