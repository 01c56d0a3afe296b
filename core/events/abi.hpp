// The ABI table of ry.events/1.
#pragma once

#include <ry/if/events.h>

namespace ry::events {
const ry_events_v1& events_v1() noexcept;
}
