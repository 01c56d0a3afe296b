// Text of others in our own sentences. Without I/O.
#pragma once

#include <string>
#include <string_view>

namespace mcp {

// The beginning of s, at most `most` bytes, without a character that would be cut in two.
std::string_view cut(std::string_view s, std::size_t most) noexcept;

// The same as valid UTF-8: what is none becomes U+FFFD.
std::string clean(std::string_view s, std::size_t most);

}  // namespace mcp
