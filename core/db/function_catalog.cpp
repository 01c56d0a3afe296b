#include "core/db/function_catalog.hpp"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>

#include "core/db/failure.hpp"

namespace ry::db {

std::multimap<std::string, std::string> function_signatures(const connect_settings& connect) {
  session_opener opener;
  const auto session = opener.open(conninfo(connect, session_settings::later));
  std::multimap<std::string, std::string> out;
  try {
    const soci::rowset<soci::row> rows =
        (session->prepare
         << "select n.nspname || '.' || p.proname, '(' || pg_get_function_arguments(p.oid) || ') returns ' || "
            "pg_get_function_result(p.oid) from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
            "where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%' and p.prokind = 'f'");
    for (const auto& row : rows) out.emplace(row.get<std::string>(0), row.get<std::string>(1));
  } catch (const soci::soci_error& e) {
    throw unavailable(e.get_error_message());
  }
  return out;
}

}  // namespace ry::db
