// The SQL interfaces that sdk/sql declares: functions that modules call in each other's schemas. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ry::schema {

struct sql_function {
  std::string name;  // with its schema: "accounts.balance"
  std::string signature;  // as PostgreSQL prints it: "(account uuid) returns bigint"
};

// The functions that a module which provides the service ("accounts/1") must define. Empty: the service has no SQL
// interface.
std::vector<sql_function> functions_of_service(std::string_view service);

// The declarations in the text of one file of sdk/sql.
std::vector<sql_function> declared_functions(std::string_view text);

}  // namespace ry::schema
