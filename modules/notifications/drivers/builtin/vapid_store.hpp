// The deployment's own VAPID key.
#pragma once

#include <ry/ry.hpp>

#include "web_push.hpp"

namespace notify_builtin {

// The key that is kept, made now when there is none; nodes that start at the same time get the same one. Throws
// RY_DATA_LOSS when it cannot be opened: another one would turn every subscription useless.
ry::task<notify_push::vapid_key> kept_vapid_key(const ry::context& ctx);

}  // namespace notify_builtin
