// The operations on tasks, implemented with runs/1.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <ry/cpp/runs.hpp>
#include <string>

#include "context_store.hpp"
#include "message_input.hpp"
#include "task_list.hpp"
#include "task_state.hpp"

namespace a2a {

struct caller {
  ry::uuid account;
  std::string agent;  // canonical id; empty: the account's default agent, and tasks of all agents
};

struct started_task {
  task_ids ids;
  std::string_view state;
};

class tasks {
 public:
  tasks(const ry::runs::client& runs, const context_store& contexts) : runs_(runs), contexts_(contexts) {}

  // All throw protocol_error or ry::error.
  ry::task<started_task> start(caller c, send_params message) const;
  // The task with at most history_length messages; nullopt: the default number. Tasks of other accounts and
  // agents are not found.
  ry::task<boost::json::object> get(caller c, std::string id, std::optional<std::int64_t> history_length) const;
  ry::task<boost::json::object> list(caller c, list_params params) const;
  ry::task<boost::json::object> cancel(caller c, std::string id) const;
  // The ids and the state of a task.
  ry::task<started_task> find(caller c, std::string id) const;

  ry::runs::reader follow(const caller& c, std::string_view id, std::uint64_t merge_ms) const;

 private:
  struct page {
    boost::json::array runs;
    std::string next;  // empty: the last page
  };
  ry::task<boost::json::object> run_of(caller c, std::string id) const;
  ry::task<void> reject_follow_up(caller c, const send_params& message) const;
  ry::task<ry::runs::started> start_run(caller c, const send_params& message) const;
  ry::task<void> add_messages(caller c, task_ids ids, std::size_t history, bool artifacts,
                              boost::json::object& task) const;
  ry::task<page> read_page(caller c, const list_params& params, std::string cursor, std::int64_t limit) const;
  ry::task<std::int64_t> count(caller c, const list_params& params) const;
  ry::task<boost::json::array> listed_tasks(caller c, const list_params& params, boost::json::array runs) const;

  const ry::runs::client& runs_;
  const context_store& contexts_;
};

}  // namespace a2a
