// Reads the signatures of SQL functions from the catalogs of PostgreSQL. Blocks; for starts and commands.
#pragma once

#include <map>
#include <string>

#include "core/db/connection.hpp"

namespace ry::db {

// "accounts.balance" -> "(account uuid) returns bigint", of all functions in the schemas of modules. Of overloaded functions
// there is an entry for each. Throws failure if the database is unreachable.
std::multimap<std::string, std::string> function_signatures(const connect_settings& connect);

}  // namespace ry::db
