#include "core/module/set_types.hpp"

#include <algorithm>

namespace ry::module {

bool report::ok() const noexcept {
  return std::none_of(problems.begin(), problems.end(), [](const problem& p) { return p.fatal; });
}

std::string report::text() const {
  std::string out;
  for (const auto& p : problems) out += (p.fatal ? "error: " : "skipped: ") + p.message + "\n";
  return out;
}

}  // namespace ry::module
