#include <gtest/gtest.h>
#include <sodium.h>

#include <map>
#include <string_view>

#include "webhook_delivery.hpp"
#include "webhook_signature.hpp"

using namespace standard_webhooks;

namespace {

class signed_message : public testing::Test {
 protected:
  static std::string base64(std::string_view raw) {
    std::string out(sodium_base64_encoded_len(raw.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(raw.data()), raw.size(),
                      sodium_base64_VARIANT_ORIGINAL);
    out.pop_back();
    return out;
  }
  bool accepted(const std::vector<std::string>& keys, std::int64_t now = 1000) {
    const header_fn h = [this](std::string_view name) {
      const auto it = headers_.find(name);
      return it == headers_.end() ? std::string_view() : std::string_view(it->second);
    };
    return verified(keys, h, body_, now).has_value();
  }
  void sign(const std::string& key, const std::string& family = "webhook-") {
    headers_ = {{family + "id", "msg_1"},
                {family + "timestamp", "1000"},
                {family + "signature", signature(key, "msg_1", 1000, body_)}};
  }
  const std::string one_ = std::string(24, 'k'), two_ = std::string(32, 'l');
  std::string body_ = R"({"type":"user.created"})";
  std::map<std::string, std::string, std::less<>> headers_;
};

TEST_F(signed_message, accepts_both_header_families_and_rotated_keys) {
  sign(one_);
  EXPECT_TRUE(accepted({one_}));
  EXPECT_TRUE(accepted({two_, one_}));
  EXPECT_FALSE(accepted({two_}));
  EXPECT_FALSE(accepted({}));
  sign(two_, "svix-");
  EXPECT_TRUE(accepted({one_, two_}));
  headers_["svix-signature"] = "v1,AAAA v1a,xx " + headers_["svix-signature"] + " v1,";
  EXPECT_TRUE(accepted({two_}));
}

TEST_F(signed_message, is_rejected_outside_the_time_window_or_after_any_change) {
  sign(one_);
  EXPECT_TRUE(accepted({one_}, 1300));
  EXPECT_TRUE(accepted({one_}, 700));
  EXPECT_FALSE(accepted({one_}, 1301));
  EXPECT_FALSE(accepted({one_}, 699));
  const auto valid = headers_;
  for (const std::string at : {"", "1000 ", " 1000", "+1000", "1000abc", "-1000", "1e3", "9999999999999"}) {
    headers_ = valid;
    headers_["webhook-timestamp"] = at;
    EXPECT_FALSE(accepted({one_})) << at;
  }
  const std::string long_id(300, 'x');
  for (const std::string_view id :
       {std::string_view(), std::string_view("msg_2"), std::string_view("msg.1"), std::string_view(long_id)}) {
    headers_ = valid;
    headers_["webhook-id"] = std::string(id);
    EXPECT_FALSE(accepted({one_})) << id;
  }
  headers_ = valid;
  headers_["webhook-signature"] = valid.at("webhook-signature").substr(3);
  EXPECT_FALSE(accepted({one_})) << "without a version";
  headers_["webhook-signature"] = std::string(5000, ' ') + valid.at("webhook-signature");
  EXPECT_FALSE(accepted({one_}));
  headers_ = valid;
  body_ += " ";
  EXPECT_FALSE(accepted({one_}));
}

TEST_F(signed_message, secrets_require_a_prefix_base64_and_a_valid_length) {
  EXPECT_EQ(read_secret("whsec_" + base64(one_)), one_);
  EXPECT_FALSE(read_secret(base64(one_)));
  EXPECT_FALSE(read_secret("whsec_" + base64(std::string(23, 'k'))));
  EXPECT_FALSE(read_secret("whsec_" + base64(std::string(65, 'k'))));
  EXPECT_FALSE(read_secret("whsec_!!!"));
  for (int c = 0x80; c < 0x100; ++c)
    EXPECT_FALSE(read_secret("whsec_" + std::string(1, static_cast<char>(c)) + base64(one_).substr(1))) << c;
}

// The expected value comes from the reference library (npm standardwebhooks).
TEST(webhook_signature, matches_the_reference_library) {
  const auto key = read_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  ASSERT_TRUE(key);
  EXPECT_EQ(signature(*key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(retry_after_ms, reads_seconds_and_dates) {
  EXPECT_EQ(retry_after_ms("120", 0), 120'000u);
  EXPECT_EQ(retry_after_ms(" 0 ", 0), 0u);
  EXPECT_EQ(retry_after_ms("99999999", 0), 24u * 3600 * 1000);
  EXPECT_EQ(retry_after_ms("Fri, 31 Dec 1999 23:59:59 GMT", 946684799 - 60), 60'000u);
  for (const char* bad : {"", "soon", "-5", "Fri, 31 Dec 1999", "1e3"})
    EXPECT_FALSE(retry_after_ms(bad, 946684799)) << bad;
  EXPECT_FALSE(retry_after_ms("Fri, 31 Dec 1999 23:59:59 GMT", 2000000000)) << "past";
}

TEST(receivers, a_silent_receiver_gets_one_message_at_a_time_until_it_responds) {
  receivers r;
  const receivers::entry a = r.enter("a"), b = r.enter("a");
  EXPECT_FALSE(a.snooze_ms || a.trial || b.snooze_ms || b.trial);
  r.leave("a", a, false);
  const receivers::entry trial = r.enter("a");
  EXPECT_TRUE(!trial.snooze_ms && trial.trial);
  for (int i = 0; i < 20; ++i) {
    const auto later = r.enter("a").snooze_ms;
    ASSERT_TRUE(later);
    EXPECT_GE(*later, 2'500u);
    EXPECT_LE(*later, 5'000u);
  }
  EXPECT_FALSE(r.enter("b").snooze_ms) << "other receivers are not affected";
  r.leave("a", b, false);
  EXPECT_TRUE(r.enter("a").snooze_ms) << "the end of an earlier attempt does not end the trial";
  r.leave("a", trial, false);
  const receivers::entry next = r.enter("a");
  EXPECT_TRUE(next.trial);
  EXPECT_GE(r.enter("a").snooze_ms.value_or(0), 5'000u);
  r.leave("a", next, std::nullopt);
  EXPECT_TRUE(r.enter("a").trial) << "a cancelled attempt does not count as a failure";
  for (int i = 0; i < 100; ++i) r.leave("a", {std::nullopt, true}, false);
  EXPECT_TRUE(r.enter("a").trial);
  EXPECT_LE(r.enter("a").snooze_ms.value_or(0), 300'000u);
  r.leave("a", {std::nullopt, true}, true);
  EXPECT_FALSE(r.enter("a").trial);
  EXPECT_FALSE(r.enter("a").snooze_ms);
}

}  // namespace
