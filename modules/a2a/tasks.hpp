// The operations on tasks, implemented with runs/1.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <ry/cpp/runs.hpp>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "context_store.hpp"
#include "follow_up.hpp"
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
  boost::json::object metadata{};  // of the request that started it
};

class tasks {
 public:
  tasks(const ry::context& ctx, const ry::runs::client& runs, const context_store& contexts)
      : ctx_(ctx), runs_(runs), contexts_(contexts) {}

  // All throw protocol_error or ry::error.
  ry::task<started_task> start(caller c, send_params message) const;
  // Applies the answers of a message with a task id. A message without an answer changes nothing, so the task asks again.
  ry::task<started_task> continue_task(caller c, send_params message) const;
  // What a task waits for, see request_message(); empty: nothing. of_client: its events ask for results of the client.
  ry::task<boost::json::array> requests(caller c, std::string id, bool of_client) const;
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
  ry::task<boost::json::array> approvals(caller c, std::string id, std::string status) const;
  ry::task<void> decide(caller c, std::string id, std::vector<decision> decisions) const;
  // Adds the member waiting_for, which the list of all runs does not have.
  ry::task<void> mark_waiting(caller c, boost::json::array& runs) const;
  // Sets the member waiting_for, with the arguments of the calls.
  ry::task<void> complete_requests(caller c, boost::json::object& run) const;
  ry::task<ry::runs::started> start_run(caller c, const send_params& message) const;
  ry::task<void> add_messages(caller c, task_ids ids, std::size_t history, bool artifacts,
                              boost::json::object& task) const;
  ry::task<page> read_page(caller c, const list_params& params, std::string cursor, std::int64_t limit) const;
  ry::task<std::int64_t> count(caller c, const list_params& params) const;
  ry::task<boost::json::array> listed_tasks(caller c, const list_params& params, boost::json::array runs) const;

  const ry::context& ctx_;
  const ry::runs::client& runs_;
  const context_store& contexts_;
};

}  // namespace a2a
