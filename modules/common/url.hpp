// When two addresses of a server are the same. Without I/O; any thread.
#pragma once

#include <string>
#include <string_view>

namespace urls {

// The URL in the normal form of RFC 3986, sections 6.2.2 and 6.2.3: case of scheme, host and escapes, dot segments, default
// port, empty path; without the fragment, which is never sent. A text that is not an absolute URL is returned unchanged.
std::string normal(std::string_view url);

inline bool same(std::string_view a, std::string_view b) {
  return a == b || normal(a) == normal(b);
}

}  // namespace urls
