#include "core/schema/sql_interfaces.hpp"

#include <gtest/gtest.h>

namespace {

using namespace ry::schema;

TEST(sql_interfaces_test, a_service_has_the_functions_of_its_file) {
  const auto found = functions_of_service("agents/1");
  ASSERT_FALSE(found.empty());
  for (const auto& f : found) {
    EXPECT_TRUE(f.name.starts_with("agents.")) << f.name;
    EXPECT_TRUE(f.signature.starts_with('(')) << f.signature;
    EXPECT_NE(f.signature.find(") returns "), std::string::npos) << f.signature;
  }
  EXPECT_TRUE(functions_of_service("agents/2").empty());
  EXPECT_TRUE(functions_of_service("notifications/1").empty());
  EXPECT_TRUE(functions_of_service("").empty());
}

TEST(sql_interfaces_test, comments_and_empty_lines_are_skipped) {
  const auto found =
      declared_functions("-- create function a.b() returns void;\n\ncreate function a.c(x int) returns TABLE(y int);");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "a.c");
  EXPECT_EQ(found[0].signature, "(x int) returns TABLE(y int)");
}

}  // namespace
