// Reads the requested members of a zip archive with libarchive. Limits against archive bombs: 64 MiB per member, 256
// MiB and 20 000 members per pass.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace extract {

struct members {
  std::map<std::string, std::string, std::less<>> content;  // by name
  std::string problem;  // why reading stopped early: a sentence without a period; empty: it did not
};

// `wanted` is called once per pass with the name of each regular member. Names are only compared, never used as paths.
members read_zip(const std::string& path, const std::function<bool(std::string_view)>& wanted);

}  // namespace extract
