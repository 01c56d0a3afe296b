#include "workflows/workflow_id.hpp"

#include <algorithm>

namespace notifications {

bool is_workflow_id(std::string_view text) noexcept {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 64 && good(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return good(c) || c == '_' || c == '-'; });
}

}  // namespace notifications
