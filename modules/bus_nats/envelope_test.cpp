#include "envelope.hpp"

#include <gtest/gtest.h>

using namespace bus_nats;

namespace {

const seal_key key = {1, 2, 3};
const node_id node = {7, 7, 7};

TEST(envelope, topics_survive_conversion_to_a_subject_and_back) {
  EXPECT_EQ(subject_of("ry.live", "runs.0190-ab"), "ry.live.runs.0190-ab");
  EXPECT_EQ(subject_of("ry", "a b*>"), "ry.a=20b=2A=3E");
  EXPECT_EQ(subject_of("ry", ".a..b."), "ry.=2Ea.=2Eb=2E");
  for (const std::string topic : {"runs.x", ".", "..", "a..b", "a.", ".a", "=", "=41", "\xff\n", "a=b.c"})
    EXPECT_EQ(topic_of("ry", message_subject("ry", topic, 18446744073709551615u)), topic);
  EXPECT_EQ(message_subject("ry", "runs.x", 7), "ry.runs.x.7");
}

TEST(envelope, invalid_subjects_have_no_topic) {
  for (const char* subject : {"", "ry", "ry.", "rx.a", "ryx.a", "ry.a=", "ry.a=2", "ry.a=2x", "ry.a=41"}) {
    EXPECT_EQ(topic_of("ry", subject), std::nullopt) << subject;
    EXPECT_EQ(topic_of("ry", std::string(subject) + ".1"), std::nullopt) << subject;
  }
  for (const char* subject : {"ry.a", "ry.a.", "ry.a.x", "ry.a.1x", "ry.a.-1", "ry.1", ".", ".1"})
    EXPECT_EQ(topic_of("ry", subject), std::nullopt) << subject;
}

TEST(envelope, packing_and_unpacking_restore_the_message) {
  const std::string packed = pack(key, node, "runs.1", 0x0102030405060708, "bytes");
  message l;
  ASSERT_EQ(unpack(key, "runs.1", packed, l), flaw::none);
  EXPECT_EQ(l.node, node);
  EXPECT_EQ(l.cursor, 0x0102030405060708u);
  EXPECT_EQ(l.bytes, "bytes");
  ASSERT_EQ(unpack(key, "runs.1", pack(key, node, "runs.1", 3, ""), l), flaw::none);
  EXPECT_TRUE(l.bytes.empty());
}

TEST(envelope, any_changed_bit_is_detected) {
  const std::string packed = pack(key, node, "runs.1", 3, "bytes");
  message l;
  for (std::size_t i = 0; i < packed.size() * 8; ++i) {
    std::string bad = packed;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    EXPECT_NE(unpack(key, "runs.1", bad, l), flaw::none) << i;
  }
  for (std::size_t n = 0; n < packed.size(); ++n)
    EXPECT_NE(unpack(key, "runs.1", std::string_view(packed).substr(0, n), l), flaw::none) << n;
  EXPECT_EQ(unpack(key, "runs.2", packed, l), flaw::forged) << "a message of another run";
  EXPECT_EQ(unpack(seal_key{9}, "runs.1", packed, l), flaw::forged);
  EXPECT_EQ(unpack(key, "runs.1", "hello", l), flaw::malformed);
}

TEST(envelope, ids_are_equal_only_for_the_same_message) {
  const auto id = message_id(node, "runs.1", 3, "x");
  EXPECT_EQ(id, message_id(node, "runs.1", 3, "y"));
  EXPECT_NE(id, message_id(node, "runs.1", 3, ""));
  EXPECT_NE(id, message_id(node, "runs.1", 4, "x"));
  EXPECT_NE(id, message_id(node, "runs.2", 3, "x"));
  EXPECT_NE(id, message_id({}, "runs.1", 3, "x"));
  EXPECT_EQ(message_id(node, "runs.1", 0, ""), "") << "wake-ups without a cursor are never duplicates";
}

}  // namespace
