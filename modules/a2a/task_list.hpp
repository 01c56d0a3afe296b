// The parameters of ListTasks, and the selection of tasks. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace a2a {

struct list_params {
  std::string context_id, status, page_token;  // empty: not given
  std::int64_t page_size = 50;
  std::int64_t history_length = 0;
  bool include_artifacts = false;
  std::optional<std::int64_t> changed_after_us;  // Unix time of statusTimestampAfter
};

// Throws protocol_error, which names the field.
list_params read_list_params(const boost::json::object& params);

// The status filter of runs/1 that selects at least the runs of the task state. Empty: all runs; nullopt: no run can
// have this state.
std::optional<std::string> run_status_of(std::string_view task_state);

// Whether the list contains the run. An empty `agent` selects the runs of all agents.
bool is_listed(const list_params& params, std::string_view agent, const boost::json::object& run);

// Unix time in microseconds of an RFC 3339 time such as 2026-11-20T09:30:00.5Z; nullopt if it has another form.
std::optional<std::int64_t> parse_time(std::string_view text);
// The time as 2026-11-20T09:30:00.000Z.
std::string format_time(std::int64_t unix_us);

}  // namespace a2a
