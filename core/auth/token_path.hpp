// The path that a query token is bound to, compared after normalisation: percent-escapes are decoded within each
// segment, and a segment that is a UUID is the same in upper and lower case. "%2F" is part of a segment and does not
// separate segments. Thread: any.
#pragma once

#include <string_view>

namespace ry::auth {

bool same_path(std::string_view a, std::string_view b);

}  // namespace ry::auth
