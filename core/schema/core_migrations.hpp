// The migrations of the host's own schema, `core`, in order.
#pragma once

#include <vector>

#include "core/module/registration.hpp"

namespace ry::schema {
std::vector<module::migration> core_migrations();
}
