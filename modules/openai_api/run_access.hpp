// Access to accounts/1, agents/1 and runs/1 for the routes: the caller's account, starts with the rows of this module,
// reading and stopping runs.
#pragma once
#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <ry/cpp/runs.hpp>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "options.hpp"
#include "repository.hpp"

namespace openai_api {

struct agent_entry {
  std::string id, name;
};

struct start_order {
  ry::uuid account;
  start_fields fields;
  std::vector<attachment> files;
  std::string key;  // Idempotency-Key
  std::optional<response_row> row;  // stored with the start; its run and thread are filled in
  bool temporary = false;  // the thread is deleted after the run
  std::string schema_param;  // name of the member of the request with the output schema
};
struct started_run {
  ry::uuid run, thread;
};

class run_access {
 public:
  run_access(const ry::context& ctx, const repository& rows, std::uint64_t approval_wait_seconds)
      : ctx_(ctx), rows_(rows), approval_wait_seconds_(approval_wait_seconds) {}
  // Available from start() of the module on.
  void connect();

  ry::task<ry::uuid> account_of(ry::request r) const;
  // The names of the models that the account may use; the default model is the first.
  ry::task<std::vector<std::string>> models(ry::uuid account) const;
  // The newest agents of the account, at most 100.
  ry::task<std::vector<agent_entry>> agents(ry::uuid account) const;
  // Throws the 404 of an unknown model. Returns the name of the model that responds if the request names none.
  ry::task<std::string> resolve_model(ry::uuid account, model_reference model) const;

  // Starts a run. The run, its row and the job that deletes a temporary thread are in one commit. A start with files
  // commits itself: the job is committed before it, and the row after it.
  ry::task<started_run> start(start_order order) const;

  const ry::runs::client& runs() const { return runs_; }
  // The object of GET /agent-run/{id}; nullopt: unknown.
  ry::task<std::optional<boost::json::object>> find_run(ry::uuid account, ry::uuid run) const;
  // Whether the run is the newest one of its thread.
  ry::task<bool> is_newest(ry::uuid account, ry::uuid thread, ry::uuid run) const;
  // The ids of the newest runs of a thread, at most max_run_ids; nullopt: unknown thread.
  static constexpr std::size_t max_run_ids = 100;
  ry::task<std::optional<std::vector<std::string>>> run_ids(ry::uuid account, ry::uuid thread) const;
  // The messages of a thread, oldest first. Throws a 400 if there are more than fit into a history.
  ry::task<std::vector<boost::json::object>> messages(ry::uuid account, ry::uuid thread) const;

  // Calls f(sequence, event) for the events of a run until f returns false or the run has ended.
  using visitor = std::function<bool(std::uint64_t sequence, std::string_view event)>;
  ry::task<void> visit(ry::uuid account, ry::uuid run, ry::runs::follow_options options, visitor f) const;

  // The approvals of a run, as in GET /approvals, oldest first. A run of another account has none.
  ry::task<std::vector<boost::json::object>> approvals(ry::uuid account, ry::uuid run) const;
  // Waits until no approval of a run is pending. False: the time limit was reached before.
  ry::task<bool> await_decisions(ry::uuid account, ry::uuid run) const;
  // Decides about an approval. False: another decision was made before.
  ry::task<bool> decide(ry::uuid account, ry::uuid approval, bool approve, std::string reason) const;

  // Ends a run; if it is temporary, deletes its thread. Errors go to the log.
  ry::task<void> end_run(ry::uuid account, started_run run, bool temporary) const;
  // The job that deletes the thread of a temporary run that the request has not deleted.
  ry::task<ry::job_outcome> delete_temporary(ry::job job) const;
  // The same for a thread that was chosen before its start, which may not have happened.
  ry::task<ry::job_outcome> delete_chosen(ry::job job) const;

 private:
  // nullptr: the start commits itself.
  ry::task<ry::runs::started> start_run(start_order& order, ry::tx* in) const;
  ry::task<ry::runs::started> start_with_files(start_order& order) const;
  ry::task<void> record(start_order& order, started_run run, ry::tx& in) const;
  ry::task<ry::job_outcome> delete_thread_of_job(ry::uuid account, ry::uuid thread) const;

  const ry::context& ctx_;
  const repository& rows_;
  const std::uint64_t approval_wait_seconds_;
  ry::service<ry_accounts_v1> accounts_;
  ry::service<ry_agents_v1> agents_;
  ry::runs::client runs_;
};

constexpr const char* delete_temporary_job = "openai_api.delete_temporary";
constexpr const char* delete_chosen_job = "openai_api.delete_chosen";

}  // namespace openai_api
