#include "core/db/failure.hpp"

#include <libpq-fe.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace ry::db {

namespace {

ry_status status_of_http(int http) {
  switch (http) {
    case 400:
    case 422:
      return RY_INVALID_ARGUMENT;
    case 401:
      return RY_UNAUTHENTICATED;
    case 403:
      return RY_PERMISSION_DENIED;
    case 404:
      return RY_NOT_FOUND;
    case 408:
      return RY_DEADLINE_EXCEEDED;
    case 409:
      return RY_ALREADY_EXISTS;
    case 402:
    case 413:
    case 429:
      return RY_RESOURCE_EXHAUSTED;
    default:
      return RY_FAILED_PRECONDITION;
  }
}

struct mapped {
  ry_status status;
  const char* message;
};

mapped map_state(std::string_view s) {
  if (s == "23505") return {RY_ALREADY_EXISTS, "This already exists."};
  if (s == "23503" || s == "23514" || s == "23P01")
    return {RY_FAILED_PRECONDITION, "The data does not fit what is stored already."};
  if (s == "40001" || s == "40P01" || s == "55P03")
    return {RY_ABORTED, "Lost a race with another change; try again."};
  if (s == "57014" || s == "25P03")
    return {RY_DEADLINE_EXCEEDED, "The database took too long to answer."};
  if (s == "25P02") return {RY_FAILED_PRECONDITION, "The transaction has failed already."};
  if (s.starts_with("08") || s.starts_with("57P"))
    return {RY_UNAVAILABLE, "The database is not available at the moment."};
  if (s.starts_with("53")) return {RY_UNAVAILABLE, "The database is short of resources."};
  if (s.starts_with("22") || s == "23502")
    return {RY_INVALID_ARGUMENT, "A value does not have the form that the database expects."};
  return {RY_INTERNAL, "The database could not run a statement."};
}

// RY4xx: three digits of an HTTP status after "RY".
int raised_http(std::string_view s) {
  if (s.size() != 5 || !s.starts_with("RY4")) return 0;
  if (s[3] < '0' || s[3] > '9' || s[4] < '0' || s[4] > '9') return 0;
  return 400 + (s[3] - '0') * 10 + (s[4] - '0');
}

}  // namespace

failure::failure(core::error e, std::string state, std::string server)
    : error(std::move(e)), sqlstate(std::move(state)), server_message(std::move(server)) {
  what_ = server_message.empty() ? error.message : server_message;
  if (!sqlstate.empty()) what_ += " (" + sqlstate + ")";
}

failure from_sqlstate(std::string_view state, std::string_view message, std::string_view detail,
                      std::string_view constraint) {
  core::error e;
  e.reason = "db." + std::string(state);
  if (const int http = raised_http(state)) {
    e.status = status_of_http(http);
    e.http_status = static_cast<std::uint32_t>(http);
    e.message = message;
    boost::json::error_code ec;
    boost::json::parse(boost::json::string_view(detail.data(), detail.size()), ec);
    if (!detail.empty() && !ec) e.detail_json = detail;
  } else if (state == "RYF01") {
    e.status = RY_ABORTED;
    e.reason = "jobs.fence_lost";
    e.message = message;
  } else {
    const auto m = map_state(state);
    e.status = m.status;
    e.message = m.message;
    boost::json::object d;
    d["constraint"] = boost::json::string_view(constraint.data(), constraint.size());
    d["message"] = boost::json::string_view(message.data(), message.size());
    e.detail_json = boost::json::serialize(d);
  }
  return {std::move(e), std::string(state), std::string(message)};
}

failure from_result(const pg_result* result) {
  const auto field = [&](int code) -> std::string_view {
    const char* s = PQresultErrorField(result, code);
    return s ? s : "";
  };
  const auto state = field(PG_DIAG_SQLSTATE);
  if (state.empty()) {  // made by libpq itself: the connection broke
    std::string_view text = PQresultErrorMessage(result);
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return unavailable(text);
  }
  auto f = from_sqlstate(state, field(PG_DIAG_MESSAGE_PRIMARY), field(PG_DIAG_MESSAGE_DETAIL),
                         field(PG_DIAG_CONSTRAINT_NAME));
  const auto severity = field(PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == "FATAL" || severity == "PANIC" || state.starts_with("08"))
    f.connection_lost = true;
  return f;
}

failure unavailable(std::string_view why) {
  while (!why.empty() && (why.back() == '\n' || why.back() == ' ')) why.remove_suffix(1);
  failure f(
      {RY_UNAVAILABLE, "db.unavailable", "The database is not available at the moment.", {}, 0, 1},
      {}, std::string(why));
  f.connection_lost = true;
  return f;
}

}  // namespace ry::db
