#include "workspace/workspace_state.hpp"

#include <gtest/gtest.h>

#include "ry/ext/sandbox_driver.h"

using namespace runs;

namespace {

workspace_entry file(std::uint64_t size, std::int64_t modified, std::uint64_t inode) {
  workspace_entry e;
  e.kind = RY_SANDBOX_FILE;
  e.mode = 0644;
  e.size = size;
  e.modified_ns = e.changed_ns = modified;
  e.inode = inode;
  return e;
}

TEST(workspace_state_test, paths_with_arbitrary_bytes_round_trip) {
  for (std::string raw :
       {std::string("a b/\xC3\xA4%41\n"), std::string("\xFF\xFE/x"), std::string("%"), std::string("tail%4")}) {
    const std::string text = encode_path(raw);
    EXPECT_EQ(decode_path(text), raw);
    EXPECT_EQ(text.find(' '), std::string::npos);
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(encode_path("uploads/\xC3\xA4.txt"), "uploads/\xC3\xA4.txt");
}

TEST(workspace_state_test, a_state_round_trips_through_its_text) {
  workspace_state s;
  s.version = 7;
  s.root_inode = 99;
  s.root_made_ns = 5;
  s.entries["a b"] = file(3, 10, 11);
  s.entries["a b"].chunks = "00ff,11ee";
  workspace_entry link;
  link.kind = RY_SANDBOX_LINK;
  link.target = "to where\n";
  s.entries["l"] = link;
  const std::string text = state_text(s);
  const auto parsed = parse_state(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->version, 7);
  EXPECT_EQ(parsed->root_inode, 99u);
  EXPECT_TRUE(parsed->entries.at("a b").untouched_since(s.entries["a b"]));
  EXPECT_EQ(parsed->entries.at("a b").chunks, "00ff,11ee");
  EXPECT_EQ(parsed->entries.at("l").target, "to where\n");
  EXPECT_EQ(parse_state_version(text), 7);
  // A truncated text is not a state.
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(parse_state(text.substr(0, n))) << n;
  EXPECT_FALSE(parse_state("other 1 7 0 0 0\n"));
}

TEST(workspace_state_test, lists_changed_and_removed_entries) {
  workspace_entries before, now;
  before["same"] = now["same"] = file(1, 1, 1);
  before["grown"] = file(1, 1, 2);
  now["grown"] = file(2, 1, 2);
  before["touched"] = file(1, 1, 3);
  now["touched"] = file(1, 9, 3);
  before["replaced"] = file(1, 1, 4);
  now["replaced"] = file(1, 1, 5);
  before["gone"] = file(1, 1, 6);
  now["new"] = file(1, 1, 7);
  before["dir"].kind = now["dir"].kind = RY_SANDBOX_DIR;
  now["dir"].modified_ns = 77;  // ignored, because a directory's time changes with its contents
  const workspace_changes c = changes_between(before, now);
  EXPECT_EQ(c.changed, (std::vector<std::string>{"grown", "new", "replaced", "touched"}));
  EXPECT_EQ(c.gone, (std::vector<std::string>{"gone"}));
  EXPECT_TRUE(c.contains("gone"));
  EXPECT_FALSE(c.contains("same"));
}

}  // namespace
