// Texts in other encodings for tests.
#pragma once
#include <gtest/gtest.h>
#include <iconv.h>

#include <array>
#include <string>

namespace extract {

// By iconv, as an editor would save it; characters that the encoding lacks fail the test.
inline std::string encoded(std::string text, const char* encoding) {
  const iconv_t to = ::iconv_open(encoding, "UTF-8");
  EXPECT_NE(to, reinterpret_cast<iconv_t>(-1)) << encoding;
  std::array<char, 4096> out;
  char *from = text.data(), *at = out.data();
  std::size_t left = text.size(), room = out.size();
  EXPECT_EQ(::iconv(to, &from, &left, &at, &room), 0u) << encoding;
  EXPECT_EQ(::iconv(to, nullptr, nullptr, &at, &room), 0u) << encoding;
  ::iconv_close(to);
  return {out.data(), out.size() - room};
}

}  // namespace extract
