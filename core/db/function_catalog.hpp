// Reads the signatures of SQL functions from the catalogs of PostgreSQL. Blocks; for starts and commands.
#pragma once

#include <map>
#include <string>

#include "core/db/connection.hpp"

namespace ry::db {

// "accounts.balance" -> "(account uuid) returns bigint", for all functions in the schemas of modules. Each overload has
// an entry. Throws failure if the database is unreachable.
std::multimap<std::string, std::string> function_signatures(const connect_settings& connect);

}  // namespace ry::db
