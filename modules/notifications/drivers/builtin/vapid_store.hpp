// Stores the VAPID key that the server generates.
#pragma once

#include <ry/ry.hpp>

#include "web_push.hpp"

namespace notify_builtin {

// Returns the stored key, and creates one if there is none; nodes that start at the same time get the same key. Throws
// RY_DATA_LOSS if it cannot be decrypted: a new key would invalidate every subscription.
ry::task<notify_push::vapid_key> load_or_create_vapid_key(const ry::context& ctx);

}  // namespace notify_builtin
