// The exception for a failed statement, and the mapping from SQLSTATE to a status of the ABI.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "core/exec/error.hpp"

struct pg_result;

namespace ry::db {

struct failure : std::exception {
  failure(core::error e, std::string sqlstate = {}, std::string server_message = {});

  const char* what() const noexcept override { return what_.c_str(); }
  bool is(std::string_view state) const noexcept { return sqlstate == state; }
  // Serialization failure or deadlock: the same unit of work may succeed when repeated (see with_retry).
  bool serialisation() const noexcept { return is("40001") || is("40P01"); }
  // The statement names a schema, table, column, function or type that does not exist.
  bool missing_object() const noexcept {
    return is("42P01") || is("42703") || is("42883") || is("42704") || is("3F000");
  }

  core::error error;  // for the caller
  std::string sqlstate;  // empty if the failure did not come from the server
  std::string server_message;  // the server's message; for the log, not for users
  bool connection_lost = false;

 private:
  std::string what_;
};

// Implements the mapping documented in ry/if/db.h: RY4xx, RYF01, constraint violations, timeouts, lost connections.
// `message` and `detail` as raised by the server; `constraint` may be empty.
failure from_sqlstate(std::string_view sqlstate, std::string_view message, std::string_view detail,
                      std::string_view constraint);
failure from_result(const pg_result* result);
// `why`: trailing white space, which libpq's messages have, is removed.
failure unavailable(std::string_view why);

}  // namespace ry::db
