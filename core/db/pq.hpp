// Ownership and error checks for libpq results. Internal to core/db.
#pragma once

#include <libpq-fe.h>

#include <memory>

namespace ry::db {

struct result_clear {
  void operator()(PGresult* r) const noexcept { PQclear(r); }
};
using result_ptr = std::unique_ptr<PGresult, result_clear>;

inline bool has_error(const PGresult* r) {
  const auto s = PQresultStatus(r);
  return s != PGRES_TUPLES_OK && s != PGRES_COMMAND_OK && s != PGRES_EMPTY_QUERY;
}

}  // namespace ry::db
