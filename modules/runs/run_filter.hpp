// The filters of the list of all runs, from a request's query parameters. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runs {

struct run_filter {
  // Each: nullopt if it is not given. `status` is one of a run, or "all".
  std::optional<std::string> status, account, thread, agent, model, reason, error_code, from, to;

  // The runs to be listed: one status, or nullopt for every run. Without any filter: those that have not ended.
  std::optional<std::string> wanted_status() const;
  // All of it, for the name of the list that a cursor belongs to.
  std::string text() const;
};

using query_parameters = std::vector<std::pair<std::string, std::string>>;  // decoded

// Throws ry::error (422) naming the parameter: one that does not exist, one given twice, or a value that is not valid.
// `limit` and `cursor` are left to the caller.
run_filter read_run_filter(const query_parameters& given);

// "2026-11-20", "2026-11-20T09:30:00Z" or with a fraction or an offset: the same in the form that PostgreSQL reads in any of
// its settings; nullopt for anything else.
std::optional<std::string> normal_time(std::string_view text);

}  // namespace runs
