// A first load of a library in another process: one that crashes, ends its process or hangs while it is loaded does
// so there.
#pragma once

#include <string>

namespace ry::app {

// `path` as given to the dynamic loader, readable by other processes of this user. Why it must not be loaded, one
// sentence without a full stop; empty: it loads, or the loader itself refuses it. Blocks, ten seconds at most. [any]
std::string rehearse(const std::string& path);

}  // namespace ry::app
