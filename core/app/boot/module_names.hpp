// Names that a module cannot have because the host already uses them. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ry::app {

// The host's name in the OpenAPI document, its schema in the database, and the prefix of its interfaces.
inline constexpr const char* host_part = "host";
inline constexpr const char* host_database_schema = "core";
inline constexpr const char* host_interfaces = "ry";

// Why the name is rejected, as the end of an error message without a full stop ("a table of the host's settings has
// that name"). Empty if it is allowed.
std::string taken_by(std::string_view module_name);

}  // namespace ry::app
