// The members of a zip archive that a reader asks for, by libarchive. A bomb meets the limits: no member above 64 MiB, no more
// than 256 MiB and 20 000 members in one pass.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace extract {

struct members {
  std::map<std::string, std::string, std::less<>> content;  // by name
  std::string problem;  // why reading ended early: a sentence without a full stop; empty: it did not
};

// `wanted` gets the name of every regular member once per pass. Names are only compared, never used as paths.
members read_zip(const std::string& path, const std::function<bool(std::string_view)>& wanted);

}  // namespace extract
