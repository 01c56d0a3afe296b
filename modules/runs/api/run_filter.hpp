// Parses the filters of the list of all runs from a request's query parameters. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runs {

struct run_filter {
  // nullopt: not given. `status` is the status of a run, or "all".
  std::optional<std::string> status, account, thread, agent, model, reason, error_code, from, to;
  std::optional<std::string> metadata;  // a JSON object that the metadata of a run must contain

  // The status to list, or nullopt for all runs. Without any filter, unfinished runs are listed.
  std::optional<std::string> effective_status() const;
  // All filters as text; cursors contain it as the name of the list.
  std::string text() const;
};

using query_parameters = std::vector<std::pair<std::string, std::string>>;  // decoded

// Throws ry::error (422) that names the parameter if it is unknown, duplicate or has an invalid value. Ignores `limit`
// and `cursor`.
run_filter read_run_filter(const query_parameters& given);

// Converts "2026-11-20", "2026-11-20T09:30:00Z" or a time with a fraction or an offset to a form that PostgreSQL parses
// regardless of its settings; nullopt for anything else.
std::optional<std::string> canonical_time(std::string_view text);

}  // namespace runs
