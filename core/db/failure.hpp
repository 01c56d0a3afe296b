// What went wrong with a statement, and how a SQLSTATE becomes a status of the ABI.
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
  // Lost a race: the same unit of work may succeed when repeated (see with_retry).
  bool serialisation() const noexcept { return is("40001") || is("40P01"); }
  // The statement names a schema, table, column, function or type that is not there.
  bool missing_object() const noexcept {
    return is("42P01") || is("42703") || is("42883") || is("42704") || is("3F000");
  }

  core::error error;           // for whoever asked
  std::string sqlstate;        // empty when the failure did not come from the server
  std::string server_message;  // the server's sentence; for the log, not for users
  bool connection_lost = false;

 private:
  std::string what_;
};

// The documented mapping of ry/if/db.h: RY4xx, RYF01, constraint violations, time-outs, loss.
// `message` and `detail` as raised; `constraint` may be empty.
failure from_sqlstate(std::string_view sqlstate, std::string_view message, std::string_view detail,
                      std::string_view constraint);
failure from_result(const pg_result* result);
// `why`: white space at its end, as libpq's messages have it, is dropped.
failure unavailable(std::string_view why);

}  // namespace ry::db
