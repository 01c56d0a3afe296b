// The implementation of the ABI handle ry_db_result: rows in the ABI's layout. Internal to core/db.
#pragma once

#include <ry/if/db.h>

#include <deque>
#include <string>
#include <vector>

#include "core/db/rows.hpp"
#include "core/module/host.hpp"

struct ry_db_result {
  ry_db_result(const ry_host* host, ry::db::rows r);
  ry_db_result(const ry_db_result&) = delete;
  ry_db_result& operator=(const ry_db_result&) = delete;

  const ry::module::hold keep;
  const ry::db::rows rows;
  std::deque<std::string> decoded;  // bytea cells
  std::vector<ry_str> columns, cells;
  ry_db_rows view{};
};
