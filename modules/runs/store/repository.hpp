// All SQL of the module. Statements are constant and prepared once per connection. Functions return the result of the
// database; the caller interprets it.
#pragma once
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <span>
#include <string>
#include <vector>

#include "settings/settings.hpp"
#include "stream/event_codec.hpp"
#include "stream/event_text.hpp"
#include "types/budget.hpp"
#include "types/extraction_result.hpp"
#include "types/start_outcome.hpp"
#include "types/start_request.hpp"

namespace runs {

struct start_arguments {
  std::string account;  // UUID text
  std::string tier;
  std::int64_t max_runs = 0, max_threads = 0;
  start_request form;
  ry::uuid new_thread, new_project, run, message;
  std::optional<std::string> model;  // the requested model as granted; nullopt: the agent's or the default
  std::optional<std::string> default_model;  // nullopt: the tier may not use a default
  bool model_denied = false;
  std::optional<std::string> body;  // of the user's message; nullopt: it follows with the files, or is "continue"
  std::string title;
  std::optional<std::string> sandbox;
  std::optional<std::string> key, hash;
  std::string sealed_webhook_secret;  // base64url; empty: the start names no webhook
  std::optional<std::string> node;  // the node that begins the run immediately; nullopt: the run waits in the queue
  std::int64_t timeout_seconds = 0;
  std::string first_event;
  std::int64_t reserve = 0;
  std::int64_t max_waiting = 0;  // maximum number of waiting runs of an account

  // Whether the start refers to no existing object.
  bool names_nothing() const { return !form.thread_id && !form.project_id && !sandbox && !key; }
  // Whether this is a start of a new thread whose run this node may begin immediately.
  bool is_plain() const {
    return names_nothing() && node && body && !form.prompt.empty() && !model_denied && form.parameters.empty() &&
           form.options.empty() && form.metadata.empty() && form.webhook_url.empty();
  }
};

struct queue_state {
  std::int64_t queued = 0;  // runs that no node has begun
  bool draining = false;  // this node must not begin further runs
};

struct start_result {
  start_outcome outcome = start_outcome::ok;
  std::string detail;  // depends on the outcome: a tier, a model, a count, thread ids as JSON, a run
  std::string message_id;  // of a prompt that joined the run; empty: the start began the run
  std::string thread_id, project_id, sandbox_id, run_id, agent_id, model;
  std::int32_t agent_version = 0;
  std::int64_t job = 0, fence = 0;
  bool fresh_thread = false;
};

struct upload_record {
  std::string name, media_type;
  std::int64_t size = 0;
};

struct waiting_uploads {
  std::vector<upload_record> files;
  std::string body;
};

struct stored_message {
  ry::uuid id;
  std::string role, body;
};

// The webhook that a start named.
struct start_webhook {
  std::string account, url;
  std::string sealed_secret;  // base64url
};
// The context to which the secret is sealed.
inline std::string webhook_binding(const std::string& run) {
  return "runs.webhook:" + run;
}

// The data that one checkpoint of a run commits. See commit_steps in migrations/functions/checkpoint.sql.
struct step_record {
  log_rows events;
  std::int64_t reserve_to = 0;
  std::vector<stored_message> messages;
  std::int64_t joined = 0;  // how many of the messages are pending prompts of the run
  std::int32_t step = 0;
  token_usage usage;
  std::int64_t charge_micro = 0;
  std::string charge_ref, charge_note = "{}";
  std::optional<std::int64_t> covers_to;  // of a summary among the messages
  std::optional<std::string> reasoning;  // of an assistant message among the messages
  std::optional<std::string> status, reason, error, error_code, event_json;
  std::optional<std::string> output;  // JSON, of a run with an output schema
  std::optional<std::int64_t> queue_wait_ms, first_token_ms;  // since the start; a value that is already stored is kept
  std::vector<std::string> webhooks;  // names of the endpoints to notify of the end
};

// A checkpoint that a worker commits for its run.
struct checkpoint_step {
  ry::uuid run, account;
  std::int64_t job = 0, fence = 0;
  std::shared_ptr<const step_record> record;  // shared between retries
  bool locks_account() const { return record->charge_micro > 0 || record->status; }
};

struct step_result {
  // gone: the run has ended or belongs to another worker. alone: another transaction locks its account, and nothing
  // was written. prompts: the step would complete a run with pending prompts, and nothing was written.
  enum class outcome { ok, gone, alone, prompts } how = outcome::gone;
  std::int64_t pending_prompts = 0;  // of the run, after the step
  std::optional<std::int64_t> balance_micro;
  bool jobs_ready = false;  // this or another step of the statement created jobs that wait for a worker
};

struct claimed_run {
  std::string account_id, project_id, thread_id, agent_id, model, status, title;
  std::int32_t agent_version = 0, step = 0;
  std::int64_t border_seq = 0, last_seq = 0, charged_micro = 0, timeout_seconds = 0;
  // Since the start, and since the run left the queue, by the database's clock, which may differ from the node's.
  std::int64_t started_ago_us = 0, begun_ago_us = 0;
  std::int64_t attempts = 0;  // attempts of the step that earlier workers may have shown
  token_usage usage;
  bool stop_requested = false, uploads_waiting = false;
  std::optional<std::int64_t> queue_wait_ms, first_token_ms;
  bool text_shown = false;  // an earlier worker sent model text
  run_mode mode = run_mode::agent;
  bool memory = true;
  budget spending;
  model_parameters parameters;
  run_options options;
  std::optional<std::int64_t> balance_micro;
};

// A call that needs an approval.
struct approval_request {
  ry::uuid id;
  std::string tool_call_id, tool, source, arguments;
  bool of_client = false;  // the client executes the call
};
struct approval {
  std::string id, tool_call_id;
  std::string status;  // pending, approved, denied, answered, expired, cancelled
  bool of_client = false;
  std::string result;  // of the client
  bool result_is_error = false;
  std::string arguments;  // JSON object, as the approver may have changed it
  bool is_changed = false;  // the approver changed the arguments
  std::string reason;  // of the decision
  std::string expires_at, on_timeout;
  bool begun = false;  // a worker has begun the call
  bool announced = false, resolved_event = false;  // the stream has the event
};
struct earlier_approval {
  std::string tool_call_id;
  bool requested = false;  // the approval exists
  bool needed = false;  // the policy required one when the answer was made
};
// resolved: no approval is pending any more. stop: a stop was requested. gone: the run has ended or belongs to another
// worker.
enum class park_outcome { parked, resolved, stop, gone };
// A question to the person, see migrations/functions/questions.sql.
struct question_request {
  ry::uuid id;
  std::string tool_call_id;
  int round = 0;  // of a call that requests input; ask_user: 0
  std::string request;  // the tool's name of the request
  std::string kind, tool, source, arguments, question;
  std::string state;  // opaque state of the tool; empty: none
  std::string problem;  // why the question is not put to the person; empty: it is
};
struct asked_question {
  std::string id, tool_call_id;
  int round = 0;
  std::string request, kind, status;
  std::string arguments;  // of the call, JSON object
  std::string question, content;  // JSON objects; content is empty without an answer
  std::string reason, state;
  bool begun = false;  // the answer may have been passed on, or the call was open in a worker that was lost
  bool announced = false, resolved_event = false;
  std::string on_timeout, expires_at;
};
struct question_limits {
  std::int64_t per_run = 0;
  std::string on_timeout;
  std::int64_t timeout_seconds = 0;
};
struct approval_decision {
  std::string outcome;  // ok, same, other, not_found, remember_limit
  std::string approval;  // JSON
  std::string run_id;
};
// What a link shows to the person who decides. state: open, used, decided, expired, cancelled.
struct approval_link {
  std::string state, approval;  // approval: JSON
  std::string agent, title;  // empty: unknown
};
struct link_decision {
  bool made = false;  // false: the link was not open
  std::string run_id;
};
struct due_approval {
  std::string id, account, run, on_timeout;
};

// How a prompt joined a run in progress. none: no run can take it.
struct join_result {
  enum class outcome { joined, none, busy, full, replay, key_reused } how = outcome::none;
  std::string run_id, thread_id, project_id, sandbox_id;
  std::string message_id;  // of a replay: empty if the earlier start began the run
};

struct append_batch {
  std::vector<std::string> runs;  // of each row
  log_rows events;
  std::vector<std::string> reserve_runs;
  std::vector<std::int64_t> reserve_fences, reserve_to;
};

// A page of a run's log in wire form, and the run's state at the same moment. For a run whose log was trimmed: the
// terminal event, built from the run's row.
struct log_page {
  std::string wire;
  std::uint64_t first = 0, last = 0, count = 0;  // 0: the page is empty
  std::uint64_t ended_at = 0;  // number of the terminal event; 0: the run continues
  bool known = false;  // the run exists
  bool parked = false;  // it has no worker, because it waits for an approval or a result of the client
};

// more: rows were removed, and more may remain. locked: the remaining rows are in use; retry later.
enum class log_trim { done, more, locked };

struct run_head {
  std::string account_id, status;
  std::uint64_t last_seq = 0;  // in the log
  std::uint64_t reserved = 0;  // no event with a higher number has been delivered
};

struct stop_answer {
  std::string status;  // of the run; running: its worker will stop it
  bool ended = false;  // this request ended the run
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : db_(ctx) {}

  // Returns one outcome per start, in order. The starts belong to different accounts; node, timeout, first event and
  // reservation of the first one apply to all. `starts` and the objects that it points to must outlive the task.
  // on_lock::wait: only for a single start, which waits for the lock of its account.
  enum class on_lock { skip, wait };
  ry::task<ry::result<std::vector<start_result>>> start(std::span<const start_arguments* const> starts, on_lock how,
                                                        ry::tx* in = nullptr) const;
  // Several plain starts, even of one account. Outcomes: ok; alone: another transaction locks the account; apart:
  // nothing was written, and the caller uses start() for this one. on_lock::wait: only if all are of one account.
  ry::task<ry::result<std::vector<start_result>>> start_together(std::span<const start_arguments* const> starts,
                                                                 on_lock how) const;
  // Adds the prompt of a start to the run in progress of its thread. `in`: the caller's transaction, or nullptr.
  ry::task<ry::result<join_result>> join(const start_arguments& start, std::int64_t max_prompts, std::int64_t max_bytes,
                                         ry::tx* in) const;
  // The message of an earlier start with this key that joined a run; empty: there is none.
  ry::task<ry::result<std::string>> joined_message(std::string account, std::string key, ry::tx* in) const;
  // The pending prompts of a run, oldest first.
  ry::task<ry::result<std::vector<stored_message>>> pending_prompts(ry::uuid run) const;
  // Adds messages to the thread of a start, before its prompt. `run`: the run that they belong to; nullopt: none.
  ry::task<ry::result<void>> add_messages(ry::tx& in, const std::string& thread, std::optional<std::string> run,
                                          const std::vector<added_message>& messages) const;
  // Role and body of the thread's last answer, and of the tool results that follow it.
  ry::task<ry::result<ry::rows>> last_answer(ry::tx& in, const std::string& thread) const;
  // Adds the user's message to a start that was made without one, and its files.
  ry::task<ry::result<void>> attach_message(ry::tx& in, const start_result& run, ry::uuid message, std::string body,
                                            std::vector<upload_record> files) const;
  // The files of a run that were not read yet, and the user's message that they belong to.
  ry::task<ry::result<waiting_uploads>> waiting(ry::uuid run) const;
  // Stores the results of the extraction, and the message about them. False: the run belongs to another worker.
  ry::task<ry::result<bool>> note_uploads(ry::uuid run, std::int64_t job, std::int64_t fence, std::string body,
                                          const std::vector<extraction_result>& found) const;
  ry::task<ry::result<ry::tx>> begin() const { return db_.begin(); }

  // Returns one result per step, in order. The steps must be ordered by run id. If one fails, all fail. `steps` and the
  // objects that it points to must outlive the task. on_lock::wait: only for a single step, which waits for the lock.
  ry::task<ry::result<std::vector<step_result>>> persist(std::span<const checkpoint_step* const> steps,
                                                         on_lock how) const;
  // Returns the runs whose reservation was refused. RY_ALREADY_EXISTS: nothing was written, because some of the events
  // already exist; attempt::again adds only the missing ones.
  enum class attempt { first, again };
  ry::task<ry::result<std::vector<std::string>>> append(const append_batch& batch, attempt which) const;
  ry::task<ry::result<std::optional<claimed_run>>> claim(ry::uuid run, std::int64_t job, std::int64_t fence,
                                                         std::int64_t reserve) const;
  ry::task<ry::result<void>> release(ry::uuid run, std::int64_t fence, std::int64_t last) const;
  // Role, body, run id and position of each message from the last summary on, oldest first; the summary is at the
  // position where it was written.
  ry::task<ry::result<ry::rows>> conversation(ry::uuid thread) const;
  // Creates the missing approvals of these calls and returns all of them. Empty: the run has ended or belongs to another
  // worker.
  ry::task<ry::result<std::vector<approval>>> request_approvals(ry::uuid run, std::int64_t fence, std::int64_t step,
                                                                std::vector<approval_request> calls,
                                                                std::string on_timeout,
                                                                std::int64_t timeout_seconds) const;
  // What earlier workers did about the approvals of these calls.
  ry::task<ry::result<std::vector<earlier_approval>>> earlier_approvals(ry::uuid run, std::int64_t step,
                                                                        std::vector<std::string> calls) const;
  // Records that the worker begins these calls. False: the run has ended or belongs to another worker.
  ry::task<ry::result<bool>> begin_approved(ry::uuid run, std::int64_t fence, std::vector<std::string> approvals) const;
  // Creates questions; existing ones are unchanged. held: the call stays open, and this worker waits for the answer. False: the run has
  // ended or belongs to another worker.
  ry::task<ry::result<bool>> ask_questions(ry::uuid run, std::int64_t fence, std::int64_t step,
                                           std::vector<question_request> questions, question_limits limits,
                                           bool held) const;
  // The questions of the latest round of each of these calls.
  ry::task<ry::result<std::vector<asked_question>>> questions_of(ry::uuid run, std::int64_t fence, std::int64_t step,
                                                                 std::vector<std::string> calls) const;
  // The kind and the question (JSON, empty for approvals of calls) of an approval of the account.
  struct shown_question {
    std::string kind, question;
  };
  ry::task<ry::result<std::optional<shown_question>>> question_of(std::string account, std::string id) const;
  // Parks a run whose events up to `last` are in the log.
  ry::task<ry::result<park_outcome>> park(ry::uuid run, std::int64_t job, std::int64_t fence, std::int64_t last,
                                          std::int64_t slot_seconds) const;
  // account: nullopt: any account. remember_most: number of remembered approvals that the account may have. content: the answer to a question.
  ry::task<ry::result<approval_decision>> decide_approval(std::optional<std::string> account, std::string id,
                                                          std::string status, std::optional<std::string> arguments,
                                                          std::optional<std::string> reason, std::string remember,
                                                          std::int64_t remember_most,
                                                          std::optional<std::string> content = std::nullopt) const;
  // Links of approvals, by the SHA-256 of their token. nullopt: unknown.
  ry::task<ry::result<std::optional<approval_link>>> find_approval_link(std::string token_hash) const;
  ry::task<ry::result<std::optional<link_decision>>> decide_by_link(std::string token_hash, std::string status,
                                                                    std::optional<std::string> reason) const;
  // Stores the client's results of calls. outcome: ok, not_found, unknown, conflict; `at`: position of the refused result,
  // starting at 1.
  struct results_outcome {
    std::string outcome;
    std::int64_t at = 0;
  };
  ry::task<ry::result<results_outcome>> put_tool_results(std::string account, std::string run,
                                                         const std::vector<client_result>& results) const;
  ry::task<ry::result<std::vector<due_approval>>> due_approvals(std::int64_t limit) const;
  // Cancels the pending approvals of a run that ends.
  ry::task<ry::result<void>> drop_approvals(ry::uuid run) const;
  // Whether another thread has used the project's workspace.
  ry::task<ry::result<bool>> is_shared(ry::uuid project) const;
  // Returns the version of the project's workspace, or 0 if the project was deleted.
  ry::task<ry::result<std::int64_t>> mark_sandbox(ry::uuid project, ry::uuid sandbox) const;

  ry::task<ry::result<std::optional<run_head>>> head(std::string run) const;
  ry::task<ry::result<log_page>> log(std::string run, std::uint64_t from) const;

  // nullopt: the run does not exist or belongs to another account.
  ry::task<ry::result<std::optional<stop_answer>>> request_stop(std::string account, std::string run,
                                                                std::vector<std::string> webhooks) const;
  // Unfinished runs of the thread that `run` waits for; the one that is executing comes last. Empty if `run` no longer
  // waits.
  ry::task<ry::result<std::vector<std::string>>> runs_before(std::string thread, std::string run) const;
  // nullopt: the run does not exist, or has no webhook.
  ry::task<ry::result<std::optional<start_webhook>>> webhook_of(std::string run) const;
  ry::task<ry::result<std::string>> force_stop(std::string run, std::vector<std::string> webhooks) const;
  // Stores the failure causes of a run for operators: a JSON array of {at_us, step, text}.
  ry::task<ry::result<void>> put_causes(ry::uuid run, std::string causes) const;
  ry::task<ry::result<std::string>> status_of(std::string run) const;
  // The running and waiting runs of a thread of the account, latest first, so that stopping one does not start the
  // next.
  ry::task<ry::result<std::vector<std::string>>> unfinished_runs(std::string account, std::string thread) const;

  // JSON texts; nullopt: the object does not exist or belongs to another account.
  ry::task<ry::result<std::optional<std::string>>> run_json(std::string account, std::string run) const;
  struct page {
    std::string items;  // JSON array
    std::string next_first, next_second;  // key of the last item; empty: this is the last page
  };
  struct run_selection {
    std::optional<std::string> status;
    std::optional<std::string> metadata;  // a JSON object that the metadata of a run must contain
  };
  ry::task<ry::result<page>> runs_page(std::string account, run_selection which, std::optional<std::string> before,
                                       std::int64_t limit) const;
  ry::task<ry::result<std::optional<page>>> thread_runs(std::string account, std::string thread, run_selection which,
                                                        std::optional<std::string> before, std::int64_t limit) const;
  ry::task<ry::result<page>> approvals_page(std::string account, std::optional<std::string> run,
                                            std::optional<std::string> status, std::optional<std::string> before,
                                            std::int64_t limit) const;
  // agent nullopt: of all agents and runs.
  ry::task<ry::result<page>> remembered_approvals(std::string account, std::optional<std::string> agent,
                                                  std::optional<std::string> before, std::int64_t limit) const;
  // False: the account has no remembered approval with this id.
  ry::task<ry::result<bool>> revoke_remembered_approval(std::string account, std::string id) const;
  ry::task<ry::result<page>> threads_page(std::string account, std::optional<std::int64_t> before_us,
                                          std::optional<std::string> before_id, std::int64_t limit) const;
  ry::task<ry::result<std::optional<std::string>>> thread_json(std::string account, std::string thread) const;
  enum class order { oldest_first, newest_first };
  // run: nullopt for the messages of all runs.
  ry::task<ry::result<std::optional<page>>> messages_page(std::string account, std::string thread,
                                                          std::optional<std::string> run, order how,
                                                          std::optional<std::int64_t> after, std::int64_t limit) const;
  struct deletion {
    std::string outcome;  // ok, not_found, busy
    std::string orphaned_project;
  };
  ry::task<ry::result<deletion>> delete_thread(std::string account, std::string thread) const;
  // The version of the project's workspace; nullopt: the project does not exist or belongs to another account.
  ry::task<ry::result<std::optional<std::int64_t>>> project_version(std::string account, std::string project) const;

  // Creates a further partition of the log for future runs if it is due. Returns the end of the last partition as a
  // Unix time; 0: there is no partition.
  ry::task<ry::result<std::int64_t>> make_log_partition(std::int64_t keep_seconds) const;
  // Removes a part of the log of finished runs that began more than `keep_seconds` ago.
  ry::task<ry::result<log_trim>> trim_log(std::int64_t keep_seconds) const;
  ry::task<ry::result<std::vector<std::string>>> accounts_waiting() const;
  // The length of the queue of all nodes, counted up to `max_count`, and the state of this node.
  ry::task<ry::result<queue_state>> look_at_queue(std::string_view node, std::int64_t max_count) const;
  // Promotes the runs that may begin if `tier` allows `slots`. If the account has another tier, does nothing and
  // returns that tier.
  ry::task<ry::result<std::optional<std::string>>> admit_by_plan(std::string account, std::string tier,
                                                                 std::int64_t slots) const;
  // The run's initial position in the queue; empty: it began immediately.
  ry::task<ry::result<std::string>> first_place(std::string run) const;
  // Whether a start of the account with this Idempotency-Key succeeded in the last 24 hours.
  ry::task<ry::result<bool>> has_key(std::string_view account, std::string_view key) const;
  ry::task<ry::result<void>> prune_keys() const;

  // Records for the next minute that a client reads this run's stream from the log, and so watches its thread.
  ry::task<ry::result<void>> watch(ry::uuid stream, std::string run) const;
  ry::task<ry::result<void>> unwatch(ry::uuid stream) const;

 private:
  ry::task<ry::result<std::optional<start_result>>> start_plain(const start_arguments& a) const;

  ry::database db_;
};

}  // namespace runs
