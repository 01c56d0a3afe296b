#include "store/device_vault.hpp"

#include <gtest/gtest.h>
#include <ry/testing.hpp>

#include "store/repository.hpp"

using namespace notifications;

namespace {

class device_vault_test : public testing::Test {
 protected:
  // The keys in the database, newest first.
  void keys(std::vector<std::vector<ry::testing::cell>> rows) {
    host_.db.on("select id, sealed from notifications.fingerprint_key", {{"id", "sealed"}, std::move(rows)});
  }
  void load(device_vault& v) { host_.await(v.load()); }
  static std::string sealed(char c) { return "sealed:notifications.fingerprint:" + std::string(32, c); }

  ry::testing::fake_host host_;
};

TEST_F(device_vault_test, fingerprints_depend_on_the_key_and_every_byte) {
  keys({{"7", sealed('a')}});
  device_vault v(host_.ctx());
  load(v);
  EXPECT_EQ(v.fingerprint_key(), 7);
  const auto fingerprint = v.fingerprint("ExponentPushToken[x]");
  EXPECT_EQ(fingerprint.size(), 3u + 64u);
  EXPECT_TRUE(fingerprint.starts_with("fp:"));
  EXPECT_EQ(fingerprint, v.fingerprint("ExponentPushToken[x]"));
  EXPECT_NE(fingerprint, v.fingerprint("ExponentPushToken[y]"));
  EXPECT_NE(fingerprint, v.fingerprint(fingerprint));
  EXPECT_EQ(v.fingerprint(""), "");
  EXPECT_EQ(fingerprint.find("Exponent"), std::string::npos);

  ry::testing::fake_host other_host;
  other_host.db.on("select id, sealed from notifications.fingerprint_key", {{"id", "sealed"}, {{"8", sealed('b')}}});
  device_vault other(other_host.ctx());
  other_host.await(other.load());
  EXPECT_NE(fingerprint, other.fingerprint("ExponentPushToken[x]"));
}

TEST_F(device_vault_test, the_newest_key_that_can_be_decrypted_is_used) {
  keys({{"3", "sealed with another key"}, {"2", sealed('b')}, {"1", sealed('a')}});
  device_vault v(host_.ctx());
  load(v);
  EXPECT_EQ(v.fingerprint_key(), 2);
}

TEST_F(device_vault_test, a_device_can_be_decrypted_only_in_its_own_row) {
  keys({{"1", sealed('a')}});
  device_vault v(host_.ctx());
  load(v);
  const device_secret plain{"https://push/1", R"({"endpoint":"https://push/1"})"};
  const auto name = v.fingerprint(plain.name);
  const auto text = v.seal("web-push", name, plain);
  const auto opened = v.open("web-push", name, text);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->name, plain.name);
  EXPECT_EQ(opened->token, plain.token);
  EXPECT_EQ(v.open("expo", name, text).status(), RY_DATA_LOSS);
  EXPECT_EQ(v.open("web-push", v.fingerprint("https://push/2"), text).status(), RY_DATA_LOSS);
  EXPECT_EQ(v.open("web-push", name, "").status(), RY_DATA_LOSS);
  EXPECT_EQ(v.open("web-push", name, "sealed:notifications.device:web-push:" + name + ":[]").status(), RY_DATA_LOSS);
}

TEST(masked_detail, contains_no_device_token) {
  EXPECT_EQ(masked("\"T[1]\" is gone: T[1]", {"T[1]", ""}), "\"***\" is gone: ***");
  EXPECT_EQ(masked("no secret", {"T[1]"}), "no secret");
  EXPECT_EQ(masked("a * b", {"*", "***"}), "a *** b") << "a token that the mask contains";
}

}  // namespace
