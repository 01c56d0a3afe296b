// Environment variables that begin with RUNYARD_ and have a place in the configuration where no value can be.
#pragma once

#include <boost/json/value.hpp>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

// Removes from a table the keys below a setting that is no table, and single values where a table belongs, provided that
// only environment variables set them: such variables belong to other programs. Each is a warning in `out`.
void drop_misplaced_variables(node& table, const boost::json::value& schema, key_path path, problems& out);

}  // namespace ry::app::config
