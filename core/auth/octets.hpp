// The bytes of a string, as libsodium and OpenSSL take them.
#pragma once
#include <string>
#include <string_view>

namespace ry::auth {

inline const unsigned char* octets(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}
inline unsigned char* octets(std::string& s) {
  return reinterpret_cast<unsigned char*>(s.data());
}

}  // namespace ry::auth
