// Names that a module cannot have, because something of the host has them already. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ry::app {

// Of the host: its part of the OpenAPI document, its schema in the database, and how its interfaces begin.
inline constexpr const char* host_part = "host";
inline constexpr const char* host_database_schema = "core";
inline constexpr const char* host_interfaces = "ry";

// Why not, as the end of a sentence without a full stop ("a table of the host's settings has that name"); empty: it may.
std::string taken_by(std::string_view module_name);

}  // namespace ry::app
