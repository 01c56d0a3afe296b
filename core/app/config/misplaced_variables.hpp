// Handles RUNYARD_ environment variables that name a position in the configuration where no value is allowed.
#pragma once

#include <boost/json/value.hpp>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

// Removes keys below a setting that is not a table, and single values where a table belongs, if only environment
// variables set them: such variables belong to other programs. Adds a warning to `out` for each.
void drop_misplaced_variables(node& table, const boost::json::value& schema, key_path path, problems& out);

}  // namespace ry::app::config
