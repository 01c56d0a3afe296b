#include "core/app/boot/module_names.hpp"

#include <algorithm>

#include "core/app/config/host_schema.hpp"

namespace ry::app {

std::string taken_by(std::string_view name) {
  const auto keys = config::host_keys();
  if (std::find(keys.begin(), keys.end(), name) != keys.end()) return "a table of the host's settings has that name";
  if (name == host_database_schema) return "the host's own database schema has that name";
  if (name == host_part) return "the host's own OpenAPI components have that name";
  if (name == host_interfaces) return "the names of the host's own interfaces begin with it";
  if (name == "public" || name == "information_schema" || name.starts_with("pg_"))
    return "PostgreSQL reserves that name for its own schema";
  return {};
}

}  // namespace ry::app
