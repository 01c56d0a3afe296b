#include <gtest/gtest.h>
#include <ry/cpp/base64.hpp>

using enum ry::base64_alphabet;
using enum ry::base64_padding;
using ry::base64_decode;
using ry::base64_encode;

TEST(base64, passes_rfc_4648_test_vectors) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    const auto bare = text.substr(0, text.find('='));
    EXPECT_EQ(base64_encode(bytes, standard, true), text);
    EXPECT_EQ(base64_encode(bytes, url, false), bare);
    EXPECT_EQ(base64_decode(text, standard, required), bytes);
    EXPECT_EQ(base64_decode(text, standard, optional), bytes);
    EXPECT_EQ(base64_decode(bare, url, none), bytes);
    EXPECT_EQ(base64_decode(bare, url, optional), bytes);
    EXPECT_EQ(base64_decode(text, url, none).has_value(), bare == text);
    EXPECT_EQ(base64_decode(bare, standard, required).has_value(), bare == text);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  for (const auto alphabet : {standard, url}) {
    EXPECT_EQ(base64_decode(base64_encode(all, alphabet, true), alphabet, required), all);
    EXPECT_EQ(base64_decode(base64_encode(all, alphabet, false), alphabet, none), all);
  }
  EXPECT_EQ(base64_encode("\xfb\xff", standard, false), "+/8");
  EXPECT_EQ(base64_encode("\xfb\xff", url, false), "-_8");
}

TEST(base64, rejects_bytes_outside_the_alphabet) {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    for (const auto alphabet : {standard, url}) {
      const bool known = ry::detail::base64_characters(alphabet).find(c) != std::string_view::npos;
      for (std::size_t at = 0; at < 4; ++at) {
        std::string text = "AAAA";
        text[at] = c;
        const bool padding = c == '=' && at == 3;
        EXPECT_EQ(base64_decode(text, alphabet, none).has_value(), known) << i << " at " << at;
        EXPECT_EQ(base64_decode(text, alphabet, required).has_value(), known || padding) << i << " at " << at;
      }
    }
  }
}

TEST(base64, rejects_bad_padding_and_nonzero_trailing_bits) {
  for (const std::string_view bad : {"=", "==", "A", "A=", "A==", "A===", "AA=", "AAA==", "AAAA=", "AAAA==", "AAAA====",
                                     "AA==AA==", "AB==", "AAB=", "Z g="}) {
    EXPECT_FALSE(base64_decode(bad, standard, required)) << bad;
    EXPECT_FALSE(base64_decode(bad, standard, optional)) << bad;
    EXPECT_FALSE(base64_decode(bad, standard, none)) << bad;
  }
  EXPECT_FALSE(base64_decode("AB", url, none));
  EXPECT_FALSE(base64_decode(std::string_view("Zg\0", 3), url, none));
}
