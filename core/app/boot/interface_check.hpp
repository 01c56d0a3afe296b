// Compares the database with the SQL interfaces that modules promise with their services (sdk/sql).
#pragma once

#include <string>
#include <vector>

#include "core/db/connection.hpp"
#include "core/module/module_set.hpp"

namespace ry::app {

struct interface_fault {
  std::string module;
  std::string message;  // for the operator
};

// One fault for each function of a provided service that is missing or has another signature: modules that call it will
// fail. Call after the migrations. Throws db::failure if the database is unreachable.
std::vector<interface_fault> check_sql_interfaces(const db::connect_settings& connect,
                                                  const std::vector<module::provided_services>& provided);

}  // namespace ry::app
