// Compares URLs of servers. No I/O. Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace urls {

// The normal form of RFC 3986, sections 6.2.2 and 6.2.3: case of scheme, host and escapes, dot segments, default port,
// empty path. The fragment is removed, because it is never sent. Returns a text that is not an absolute URL unchanged.
std::string normal(std::string_view url);

inline bool same(std::string_view a, std::string_view b) {
  return a == b || normal(a) == normal(b);
}

}  // namespace urls
