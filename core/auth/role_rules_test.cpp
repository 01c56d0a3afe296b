#include "core/auth/role_rules.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

using namespace ry::auth;

namespace {

role read(const char* claims, const role_rules& rules = {}) {
  return role_of(boost::json::parse(claims).as_object(), rules);
}

role_rules at(std::vector<std::string> paths) {
  role_rules out;
  out.claims = std::move(paths);
  return out;
}

}  // namespace

TEST(role_rules, the_default_claims) {
  EXPECT_EQ(read(R"({"role":"admin"})"), role::admin);
  EXPECT_EQ(read(R"({"roles":["user","super_admin","admin"]})"), role::super_admin);
  EXPECT_EQ(read(R"({"app_metadata":{"role":"admin"}})"), role::admin);
  for (const char* none :
       {"{}", R"({"role":"Admin"})", R"({"role":["user"]})", R"({"role":1})", R"({"roles":{"admin":true}})",
        R"({"user_metadata":{"role":"admin"}})", R"({"app_metadata":{"roles":["admin"]}})", R"({"roles":[["admin"]]})",
        R"({"roles":[{"admin":{}}]})"})
    EXPECT_EQ(read(none), role::user) << none;
}

TEST(role_rules, claim_names_may_contain_dots) {
  const auto rules = at({"resource_access.my.client.roles", "https://example.org/roles"});
  EXPECT_EQ(read(R"({"resource_access":{"my.client":{"roles":["admin"]}}})", rules), role::admin);
  EXPECT_EQ(read(R"({"resource_access":{"my":{"client":{"roles":"admin"}}}})", rules), role::admin);
  EXPECT_EQ(read(R"({"resource_access.my":{"client.roles":["admin"]}})", rules), role::admin);
  EXPECT_EQ(read(R"({"https://example.org/roles":["admin"]})", rules), role::admin);
  EXPECT_EQ(read(R"({"resource_access":{"my.client":{"roles":["user"]},"other":{"roles":["admin"]}}})", rules),
            role::user);
  EXPECT_EQ(read(R"({"roles":["admin"]})", rules), role::user) << "the default claims are replaced";
}

TEST(role_rules, values_are_mapped) {
  auto rules = at({"groups", "urn:roles", "admin"});
  rules.admin = {"runyard admins", "true"};
  rules.super_admin = {"owners"};
  EXPECT_EQ(read(R"({"groups":["x","runyard admins"]})", rules), role::admin);
  EXPECT_EQ(read(R"({"groups":"owners"})", rules), role::super_admin);
  EXPECT_EQ(read(R"({"urn:roles":{"owners":{"1":"a.example"}}})", rules), role::super_admin);
  EXPECT_EQ(read(R"({"admin":true})", rules), role::admin);
  EXPECT_EQ(read(R"({"admin":false,"groups":["admin","super_admin"]})", rules), role::user);
  rules.admin.clear();
  rules.super_admin.clear();
  EXPECT_EQ(read(R"({"groups":["runyard admins","owners","admin"],"admin":true})", rules), role::user);
}

TEST(role_rules, user_editable_claims_are_recognised) {
  for (const char* theirs : {"user_metadata", "user_metadata.role", "unsafe_metadata.a.b", "raw_user_meta_data.role"})
    EXPECT_TRUE(is_user_editable(theirs)) << theirs;
  for (const char* trusted : {"role", "app_metadata.role", "user_metadata_role", "realm_access.user_metadata"})
    EXPECT_FALSE(is_user_editable(trusted)) << trusted;
}
