// Encodes text for tests.
#pragma once
#include <gtest/gtest.h>
#include <iconv.h>

#include <array>
#include <string>

namespace extract {

// Uses iconv, so the bytes are the ones that an editor would save; characters that the encoding lacks fail the test.
inline std::string encoded(std::string text, const char* encoding) {
  const iconv_t converter = ::iconv_open(encoding, "UTF-8");
  EXPECT_NE(converter, reinterpret_cast<iconv_t>(-1)) << encoding;
  std::array<char, 4096> out;
  char *from = text.data(), *to = out.data();
  std::size_t remaining = text.size(), room = out.size();
  EXPECT_EQ(::iconv(converter, &from, &remaining, &to, &room), 0u) << encoding;
  EXPECT_EQ(::iconv(converter, nullptr, nullptr, &to, &room), 0u) << encoding;
  ::iconv_close(converter);
  return {out.data(), out.size() - room};
}

}  // namespace extract
