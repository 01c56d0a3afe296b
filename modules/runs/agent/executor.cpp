#include "agent/executor.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/trace.hpp>

#include "agent/agent_rules.hpp"
#include "agent/approval_gate.hpp"
#include "agent/history.hpp"
#include "agent/result_excerpt.hpp"
#include "agent/upload_reader.hpp"
#include "module_context.hpp"
#include "store/transient_error.hpp"
#include "text.hpp"
#include "types/output_schema.hpp"

namespace runs {
namespace {

// Retry delay of a run whose worker could not reach the database.
constexpr std::uint64_t db_unavailable_retry_ms = 500;
// Retry delay of a claimed run if new starts have taken the last permits.
constexpr std::uint64_t node_full_retry_ms = 100;
// How often a provider may pause one answer.
constexpr std::int64_t max_pauses = 20;

// The outcomes of a run. Named functions, because g++ 12 destroys braced arguments of an awaited call twice.
using run_outcome = executor::ending;
run_outcome completed() {
  return {"completed", "ok", "", ""};
}
bool wants_output(const live_run& run) {
  return run.who.options && !run.who.options->output_schema.empty();
}
// The client executes the remaining calls of the answer and starts another run with their results.
run_outcome waits_for_client() {
  return {"completed", "tool_calls", "", ""};
}
// Removes the calls that the client executes after the run. False: none is left.
bool drop_client_calls(const live_run& run, const tool_catalog& catalog, std::vector<tool_call>& calls) {
  if (run.who.options && run.who.options->parks_client_calls) return true;
  std::erase_if(calls, [&](const tool_call& c) {
    const tool_catalog::tool* tool = catalog.find(c.name);
    return tool != nullptr && tool->of_client;
  });
  return !calls.empty();
}
run_outcome stopped() {
  return {"stopped", "user_stop", "", ""};
}
run_outcome timed_out() {
  return {"failed", "timeout", "The run took longer than allowed", "RUN_TIMEOUT"};
}
// The message may contain model output.
run_outcome failed(std::string reason, const std::string& error, std::string code) {
  return {"failed", std::move(reason), plain_sentence(error), std::move(code)};
}

// [{"at": ..., "step": 1, "text": "..."}], at in microseconds since 1970.
std::string causes_json(const live_run& run) {
  std::string out = "[";
  for (const run_progress::failure_cause& c : run.progress.causes) {
    if (out.size() > 1) out += ',';
    out += "{\"at_us\":" + std::to_string(c.at_us) + ",\"step\":" + std::to_string(c.step) +
           ",\"text\":" + json_string(c.text) + '}';
  }
  return out + ']';
}

}  // namespace

ry::task<ry::job_outcome> executor::handle(ry::job job) {
  // A shutdown or stop must not interrupt a transaction, so the run checks for them between steps.
  co_return co_await ry::shield(work(std::move(job)));
}

ry::task<ry::job_outcome> executor::work(ry::job job) {
  boost::system::error_code bad;
  const boost::json::value args = boost::json::parse(std::string(job.args()), bad);
  std::optional<ry::uuid> id;
  if (!bad && args.is_object())
    if (const auto* v = args.as_object().if_contains("run_id"); v != nullptr && v->is_string())
      id = ry::uuid::parse(std::string_view(v->as_string()));
  if (!id) co_return ry::job_outcome::dead(ry::bad_request("runs.job", "the job names no run"));

  run_ptr run = context_.live.find(*id);
  const bool is_ours = run && run->who.job == job.id() && run->who.fence == job.fence();
  if (!is_ours) {
    std::optional<placement::ticket> permit;
    if (!run) {
      permit = co_await context_.run_placement.place_for_claimed(job.cancel());
      // A cancelled run needs no permit, because it ends immediately.
      if (!permit && !job.cancel().cancelled()) co_return ry::job_outcome::snooze(node_full_retry_ms);
    }
    std::optional<ry::job_outcome> otherwise;
    run = co_await claim(job, *id, otherwise);
    if (!run) co_return std::move(*otherwise);
  }
  co_await context_.ctx.switch_to(run->exec);
  const auto on_cancel = [ctx = &context_.ctx, run](std::int32_t reason) {
    ctx->post(run->exec, [run, reason] { run->stop.interrupt(reason); });
  };
  ry::cancel_callback callback(job.cancel(), on_cancel);
  co_return co_await execute(run, job.crashes());
}

ry::task<executor::run_ptr> executor::claim(ry::job job, ry::uuid id, std::optional<ry::job_outcome>& otherwise) {
  ry::result<std::optional<claimed_run>> claimed =
      co_await context_.repo.claim(id, job.id(), job.fence(), reserve_window);
  if (!claimed) {
    if (claimed.error().is("jobs.fence_lost"))
      otherwise = ry::job_outcome::release();
    else if (is_transient(claimed.error()))
      otherwise = ry::job_outcome::snooze(db_unavailable_retry_ms);  // does not count as an attempt of the run
    else
      otherwise = ry::job_outcome::retry(claimed.error());
    co_return nullptr;
  }
  if (!*claimed || (*claimed)->status != "running") {
    otherwise = ry::job_outcome::done();
    co_return nullptr;
  }
  const claimed_run& row = **claimed;
  run_identity identity;
  identity.run = id;
  identity.account = ry::uuid::parse(row.account_id).value_or(ry::uuid());
  identity.project = ry::uuid::parse(row.project_id).value_or(ry::uuid());
  identity.thread = ry::uuid::parse(row.thread_id).value_or(ry::uuid());
  identity.agent = ry::uuid::parse(row.agent_id).value_or(ry::uuid());
  identity.agent_version = row.agent_version;
  identity.model = row.model;
  identity.title = row.title;
  identity.parameters = row.parameters;
  if (!row.options.empty()) identity.options = std::make_shared<run_options>(row.options);
  identity.mode = row.mode;
  identity.memory = row.memory;
  identity.job = job.id();
  identity.fence = job.fence();
  const std::int64_t now = context_.ctx.mono_us();
  identity.started_us = now - row.started_ago_us;
  identity.deadline_us = now - row.begun_ago_us + row.timeout_seconds * 1'000'000;
  const auto last = static_cast<std::uint64_t>(row.last_seq);
  auto run = std::make_shared<live_run>(context_.ctx, std::move(identity), job.exec(), last, last + reserve_window);
  run->progress.step = row.step;
  run->progress.usage = row.usage;
  run->progress.charged_micro = row.charged_micro;
  run->progress.queue_wait_ms = row.queue_wait_ms;
  run->progress.first_token_ms = row.first_token_ms;
  run->progress.text_shown = row.text_shown;
  run->progress.calls_may_have_begun = true;
  run->progress.has_approvals = row.step > 0;  // perhaps, of an earlier worker
  run->progress.had_worker = row.step > 0;
  run->progress.spending = row.spending;
  run->progress.balance_micro = row.balance_micro;
  run->progress.loops_known = false;
  run->progress.uploads_waiting = row.uploads_waiting;
  if (row.last_seq > row.border_seq)
    run->progress.open_turn = {static_cast<std::uint64_t>(row.border_seq) + 1, last, row.attempts};
  run->progress.prompts_pending = true;  // unknown: the first step reads them
  if (row.stop_requested) run->stop.interrupt(RY_REASON_USER);
  // A run that was only queued had no worker before.
  if (job.crashes() != 0)
    context_.metrics.claimed.add("lease_expired");
  else if (row.queue_wait_ms || run->progress.open_turn.to != 0)
    context_.metrics.claimed.add("released");
  context_.live.put(run);
  // Wakes the readers on this node, which have followed the run as a run of another node.
  (void)context_.ctx.events().live_publish(topic_of(run->who.run), 0, {}, RY_LIVE_LOCAL);
  co_return run;
}

ry::task<ry::job_outcome> executor::execute(run_ptr run, std::uint32_t crashes) {
  event_log_writer& writer = context_.writers.of(run->exec);
  writer.enlist(run);
  if (!run->progress.queue_wait_ms) {
    run->progress.queue_wait_ms = run->age_ms();
    context_.metrics.queue_wait.observe(static_cast<double>(*run->progress.queue_wait_ms) / 1e3);
  }
  step_state c;
  if (crashes > static_cast<std::uint32_t>(context_.config.max_crashes) && run->stop.reason() == 0)
    c.end_run(failed("crashed", "The run crashed its worker too often", "RUN_CRASHED"));
  std::optional<ry::job_outcome> out;
  for (int tries = 0; !out; ++tries) {
    std::optional<ry::error> failure;
    try {
      while (!out) {
        co_await steps(run, c);
        out = co_await finish_or_release(run, c);
      }
    } catch (...) {
      failure = ry::current_error();
    }
    if (!failure) break;
    if (is_transient(*failure)) {
      // The run did not cause the error, so it continues from its last checkpoint.
      log_error(*run, "a run is requeued", *failure);
      abandon(run, "requeued");
      out = ry::job_outcome::snooze(db_unavailable_retry_ms);
    } else if (tries == 0) {
      log_error(*run, "a run failed inside the server", *failure);
      run->events.buffer.drop_held();
      c.end_run(failed("crashed", "Internal server error", "INTERNAL"));
    } else {
      abandon(run, "requeued");
      out = ry::job_outcome::retry(*failure);
    }
  }
  writer.dismiss(run);
  notify_sources_of_end(context_.tool_sources, *run, run->progress.final_status != "running");
  co_return std::move(*out);
}

void executor::log_error(live_run& run, std::string_view message, const ry::error& error) const {
  const std::string detail = error.detail_json().empty() ? std::string() : " " + std::string(error.detail_json());
  run.note_cause(std::string(message) + ": " + std::string(error.reason()) + ": " + std::string(error.message()) +
                 detail);
  context_.ctx.log(RY_LOG_ERROR, message,
                   {{"run", run.who.run.to_string()},
                    {"account", run.who.account.to_string()},
                    {"reason", error.reason()},
                    {"error", error.message()},
                    {"detail", error.detail_json()}});
}

ry::task<void> executor::log_run_failure(run_ptr run_handle, const ending& e) const {
  const live_run& run = *run_handle;
  context_.ctx.warn("a run failed", {{"run", run.who.run.to_string()},
                                     {"account", run.who.account.to_string()},
                                     {"thread", run.who.thread.to_string()},
                                     {"model", run.who.model},
                                     {"reason", e.reason},
                                     {"error_code", e.error_code},
                                     {"error", e.error},
                                     {"cause", run.progress.causes.empty() ? e.error : run.progress.causes.back().text},
                                     {"steps", run.progress.step},
                                     {"ms", run.age_ms()}});
  if (run.progress.causes.empty()) co_return;
  const ry::result<void> stored_causes = co_await context_.repo.put_causes(run.who.run, causes_json(run));
  if (!stored_causes) context_.ctx.log_error("the causes of a failed run could not be stored", stored_causes.error());
}

ry::task<void> executor::steps(run_ptr run, step_state& c) {
  catalog_ptr catalog;
  while (c.next == step_state::action::next_step) {
    co_await prepare(run, catalog, c);
    if (c.next != step_state::action::ask_model) continue;
    // Most runs are suspended here most of the time, so the enclosing coroutine frames are kept small.
    co_await ask_model(context_, run, catalog, c.so_far.any(), c.answer);
    co_await apply_answer(run, catalog, c);
  }
}

void executor::add_prompts(live_run& run, std::vector<stored_message> prompts, step_record& record) {
  for (stored_message& prompt : prompts) {
    run.events.buffer.append("message")
        .text("message_id", prompt.id.to_string())
        .text("role", prompt.role)
        .text("content", content_of(prompt.body));
    append_to_history(run, prompt.role, prompt.body);
    record.messages.push_back(std::move(prompt));
    ++record.joined;
  }
}

ry::task<std::optional<ry::job_outcome>> executor::finish_or_release(run_ptr run, step_state& c) {
  if (c.next == step_state::action::not_ours) co_return abandon(run, "lost");
  if (c.next == step_state::action::release) co_return co_await release(run);
  if (c.next == step_state::action::parked) {
    context_.metrics.released.add("parked");
    run->end(event_broadcaster::ending::left);
    context_.live.remove(*run);
    co_return ry::job_outcome::done_in_tx();
  }
  co_return co_await finish(run, c);
}

void executor::step_state::interrupt(std::int32_t reason, last_answer a) {
  switch (reason) {
    case RY_REASON_LEASE_LOST:
      next = action::not_ours;
      break;
    case RY_REASON_USER:
      end_run(stopped(), a);
      break;
    case RY_REASON_DEADLINE:
      end_run(timed_out(), a);
      break;
    default:
      next = action::release;
  }
}

// Runs everything that precedes a model request.
ry::task<void> executor::prepare(run_ptr run, catalog_ptr& catalog, step_state& c) {
  if (run->stop.reason() != 0) co_return c.interrupt(run->stop.reason(), step_state::last_answer::recorded);
  if (run->progress.uploads_waiting) {
    const bool still_ours = co_await look_at_uploads(context_, run);
    if (!still_ours) c.next = step_state::action::not_ours;
    if (!still_ours || run->stop.reason() != 0) co_return;
  }
  const loaded history = co_await load_history(context_.ctx, context_.repo, run);
  if (history == loaded::interrupted) co_return;
  next_action next = decide(run->progress.messages);
  if (wants_output(*run)) c.asked_for_repair = has_asked_for_repair(run->progress.messages);
  if (next.kind == next_kind::finished && !wants_output(*run)) co_return c.end_run(completed());
  if (next.kind == next_kind::finished) {
    std::string answer = answer_so_far(run->progress.messages);
    co_return co_await conclude_answer(run, c, std::move(answer), step_state::last_answer::recorded);
  }
  catalog = co_await tools_.catalog(run);
  if (next.kind == next_kind::run_tools) {
    run->progress.open_turn = {};
    if (!drop_client_calls(*run, *catalog, next.calls)) co_return c.end_run(waits_for_client());
    std::optional<ending> refused = check_budget(*run, spending_step::make_calls);
    if (!refused) refused = check_tool_loop(*run, next.calls);
    if (refused) co_return c.end_run(std::move(*refused));
    co_await make_calls(run, catalog, std::move(next.calls), c);
    run->progress.calls_may_have_begun = false;
    co_return;
  }
  run->progress.calls_may_have_begun = false;
  if (run->progress.open_turn.to != 0) {
    run->progress.attempt_base = run->progress.open_turn.attempt;
    run->events.buffer.append("turn_aborted")
        .integer("step", run->progress.step + 1)
        .integer("attempt", run->progress.open_turn.attempt)
        .integer("from_sequence", static_cast<std::int64_t>(run->progress.open_turn.from))
        .integer("to_sequence", static_cast<std::int64_t>(run->progress.open_turn.to));
    run->progress.open_turn = {};
    run->events.deliver_soon();
    notify_writer(run);
  }
  if (run->progress.step >= context_.config.max_steps)
    co_return c.end_run(failed("step_limit", "The run reached its step limit", "STEP_LIMIT"));
  std::optional<ending> refused = check_budget(*run, spending_step::ask_model);
  if (refused) co_return c.end_run(std::move(*refused));
  c.so_far = parts_so_far(run->progress.messages);
  if (wants_output(*run)) c.text_so_far = c.so_far.any() ? answer_so_far(run->progress.messages) : std::string();
  // The model first continues an answer that is not complete.
  if (run->progress.prompts_pending && !c.so_far.any()) {
    ry::result<std::vector<stored_message>> prompts = co_await context_.repo.pending_prompts(run->who.run);
    run->progress.prompts_pending = false;
    if (!prompts.value().empty()) {
      step_record record;
      run->events.buffer.hold();
      add_prompts(*run, std::move(*prompts), record);
      const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
      if (written == stored::not_ours) c.next = step_state::action::not_ours;
      co_return;
    }
  }
  c.next = step_state::action::ask_model;
}

// Handles an answer, which ends the run, contains tool calls, or is continued.
ry::task<void> executor::apply_answer(run_ptr run, catalog_ptr catalog, step_state& c) {
  turn& t = c.answer;
  c.next = step_state::action::next_step;
  switch (t.result) {
    case turn::end::lost:
      c.next = step_state::action::not_ours;
      co_return;
    case turn::end::interrupted:
      co_return c.interrupt(run->stop.reason(), step_state::last_answer::open);
    case turn::end::failed:
      co_return c.end_run(failed("llm_error", t.error, "LLM_ERROR"));
    case turn::end::unaffordable: {
      std::optional<ending> refused = check_budget(*run, spending_step::ask_model);
      co_return c.end_run(refused ? std::move(*refused) : failed("llm_error", t.error, "LLM_ERROR"));
    }
    case turn::end::answered:
      break;
  }
  if (t.meaning == outcome::complete && wants_output(*run)) {
    std::string answer = c.text_so_far + t.text;
    co_return co_await conclude_answer(run, c, std::move(answer), step_state::last_answer::open);
  }
  std::optional<ending> end_of_run = end_by_answer(*run, c);
  if (end_of_run) co_return c.end_run(std::move(*end_of_run), step_state::last_answer::open);
  if (t.calls.empty()) co_return co_await commit_part(run, c);

  co_await read_agent_rules(context_, run);
  step_record record;
  run->events.buffer.hold();
  record_turn(*run, t, record);
  for (const tool_call& call : t.calls) {
    const tool_catalog::tool* tool = catalog->find(call.name);
    event_text event = run->events.buffer.append("tool_call");
    event.text("tool_call_id", call.id)
        .text("name", call.name)
        .json("arguments", call.arguments)
        .text("source", tool != nullptr ? tool->source : "unknown");
    // earlier_approvals() in migrations/functions/approvals.sql reads this member.
    if (needs_approval(context_, *run, tool, call)) event.boolean("needs_approval", true);
  }
  // Rejections are committed together with the calls: a worker that takes over cannot see that arguments were invalid.
  const answer_ending end = t.finish == RY_LLM_FINISH_LENGTH ? answer_ending::truncated : answer_ending::finished;
  std::vector<tool_call> valid_calls;
  for (const tool_call& call : t.calls) {
    std::optional<tool_outcome> refused = refuse_call(call, end);
    if (refused && run->progress.loops.judge(call, context_.config.repeat_limit) != loop_guard::verdict::allow)
      refused->content = loop_guard::refusal();
    if (refused)
      record_result(*run, call, *refused, record);
    else
      valid_calls.push_back(call);
  }
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
  if (written == stored::not_ours) {
    c.next = step_state::action::not_ours;
    co_return;
  }
  std::optional<ending> refused = check_budget(*run, spending_step::make_calls);
  if (!refused) refused = check_tool_loop(*run, t.calls);
  if (refused) co_return c.end_run(std::move(*refused));
  // The calls are committed before they run, because a call must not be made twice.
  if (run->stop.reason() != 0 || !drop_client_calls(*run, *catalog, valid_calls)) co_return;
  // Otherwise prepare() executes the calls, as it does when another worker continues the run.
  if (!calls_are_free(context_, *run)) co_return;
  const stored result = co_await run_calls(run, catalog, std::move(valid_calls));
  if (result == stored::not_ours) c.next = step_state::action::not_ours;
}

std::optional<executor::ending> executor::end_by_answer(const live_run& run, const step_state& c) const {
  const turn& t = c.answer;
  switch (t.meaning) {
    case outcome::calls:
      return std::nullopt;
    case outcome::complete:
      return completed();
    case outcome::truncated:
      if (c.so_far.truncated < context_.config.max_continuations &&
          (!run.who.options || run.who.options->continue_truncated))
        return std::nullopt;
      return failed("length", "The answer was cut off at the model's output limit", "LLM_OUTPUT_TRUNCATED");
    case outcome::paused:
      if (c.so_far.paused < max_pauses) return std::nullopt;
      return failed("no_answer", "The provider paused the answer too often", "LLM_NO_ANSWER");
    case outcome::filtered:
      return failed("content_filter", "The provider's content filter withheld the answer", "LLM_CONTENT_FILTERED");
    case outcome::refused:
      return failed("refusal", "The model refused to answer", "LLM_REFUSED");
    case outcome::empty:
      break;
  }
  if (t.finish == RY_LLM_FINISH_LENGTH)
    return failed("length", "The model reached its output limit before it gave an answer", "LLM_OUTPUT_TRUNCATED");
  return failed("no_answer", "The model gave no answer", "LLM_NO_ANSWER");
}

ry::task<void> executor::conclude_answer(run_ptr run, step_state& c, std::string answer,
                                         step_state::last_answer status) {
  const std::shared_ptr<const run_options> options = run->who.options;
  const auto check = [&options, &answer] { return check_output(options->output_schema, answer); };
  const output_check checked = co_await context_.ctx.run_blocking(check);
  const std::string problem = "The output does not match output_schema: " + plain_sentence(checked.errors);
  if (checked.errors.empty()) {
    ending e = completed();
    e.output = checked.output;
    co_return c.end_run(std::move(e), status);
  }
  if (c.asked_for_repair) co_return c.end_run(failed("output_invalid", problem, "OUTPUT_INVALID"), status);
  step_record record;
  run->events.buffer.hold();
  if (status == step_state::last_answer::open) record_turn(*run, c.answer, record);
  run->events.buffer.append("error")
      .text("message", problem)
      .text("error_code", "OUTPUT_INVALID")
      .boolean("recoverable", true);
  stored_message request{context_.ctx.new_uuid(), std::string(repair_role), repair_body(checked.errors)};
  append_to_history(*run, request.role, request.body);
  record.messages.push_back(std::move(request));
  // Committed together, so that a worker that claims the run does not ask a second time.
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
  c.next = written == stored::not_ours ? step_state::action::not_ours : step_state::action::next_step;
}

ry::task<void> executor::commit_part(run_ptr run, step_state& c) {
  step_record record;
  run->events.buffer.hold();
  record_turn(*run, c.answer, record);
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
  if (written == stored::not_ours) c.next = step_state::action::not_ours;
}

std::optional<executor::ending> executor::check_budget(const live_run& run, spending_step step) const {
  switch (may_spend(context_.config, run, step)) {
    case budget_verdict::no_credits:
      return failed("credits", "Insufficient credits", "INSUFFICIENT_CREDITS");
    case budget_verdict::over_budget:
      return failed("budget", "The run's budget is used up", "BUDGET_EXCEEDED");
    case budget_verdict::allowed:
      break;
  }
  return std::nullopt;
}

std::optional<executor::ending> executor::check_tool_loop(const live_run& run,
                                                          const std::vector<tool_call>& calls) const {
  for (const tool_call& call : calls)
    if (run.progress.loops.judge(call, context_.config.repeat_limit) == loop_guard::verdict::give_up)
      return failed("tool_error", "The agent kept repeating the same call of the tool " + call.name, "TOOL_LOOP");
  return std::nullopt;
}

void executor::notify_writer(const run_ptr& run) {
  context_.writers.of(run->exec).touch(run);
}

void executor::record_turn(live_run& run, turn& t, step_record& record) {
  if (!t.open) return;
  const std::int64_t charge =
      is_charged(t.meaning, !t.text.empty()) ? charge_micro(context_.config.price_of(t.model), t.usage) : 0;
  bill(run, t.usage, charge);
  ++run.progress.step;
  run.progress.attempt_base = 0;
  const std::string id = run.who.run.to_string();
  record.charge_ref = id + ":" + std::to_string(run.progress.step) + ":" + std::to_string(t.attempt);
  record.charge_note = "{\"run_id\":\"" + id + "\",\"step\":" + std::to_string(run.progress.step) +
                       ",\"model\":" + json_string(t.model) + "}";
  const bool is_complete = t.result == turn::end::answered;
  const std::string finish(is_complete ? finish_name(t.finish, !t.calls.empty()) : std::string_view());
  {
    event_text end = run.events.buffer.append("llm_response_end");
    end.integer("step", run.progress.step).json("usage", usage_json(t.usage)).json("credits", credits_text(charge));
    if (is_complete) end.text("finish", finish);
  }
  warn_about_budget(run);
  if (t.text.empty() && t.calls.empty()) return;
  const bool store_finish = is_complete && t.meaning != outcome::complete && t.meaning != outcome::calls;
  stored_message message{context_.ctx.new_uuid(), "assistant",
                         assistant_body(t.text, t.calls, store_finish ? std::string_view(finish) : std::string_view())};
  run.events.buffer.append("message")
      .text("message_id", message.id.to_string())
      .text("role", "assistant")
      .text("content", t.text);
  append_to_history(run, message.role, with_reasoning(message.body, t.reasoning));
  if (!t.reasoning.empty()) record.reasoning = std::move(t.reasoning);
  record.messages.push_back(std::move(message));
}

void executor::record_result(live_run& run, const tool_call& call, const tool_outcome& result, step_record& record) {
  run.progress.loops.note(call, result.content);
  run.events.buffer.append("tool_result")
      .text("tool_call_id", call.id)
      .text("name", call.name)
      .boolean("is_error", result.is_error)
      .text("content", result.content);
  stored_message m{context_.ctx.new_uuid(), "tool", tool_body(call, result)};
  append_to_history(run, m.role, m.body);
  record.messages.push_back(std::move(m));
}

// The terminal event, in the same form as runs.terminal_payload() (migrations/functions/terminal.sql).
void executor::append_terminal(live_run& run, const ending& e, std::int64_t duration_ms) {
  const auto ms_or_null = [](const std::optional<std::int64_t>& ms) {
    return ms ? std::to_string(*ms) : std::string("null");
  };
  event_text event = run.events.buffer.append("status");
  event.text("status", e.status).text("reason", e.reason);
  if (e.status == "failed") event.text("error", e.error).text("error_code", e.error_code);
  event.json("usage", usage_json(run.progress.usage))
      .integer("tokens", run.progress.usage.input + run.progress.usage.output)
      .json("credits", credits_text(run.progress.charged_micro))
      .integer("duration_ms", duration_ms)
      .json("queue_wait_ms", ms_or_null(run.progress.queue_wait_ms))
      .json("time_to_first_token_ms", ms_or_null(run.progress.first_token_ms));
  if (!e.output.empty()) event.json("output", e.output);
}

ry::task<std::optional<ry::job_outcome>> executor::finish(run_ptr run, step_state& c) {
  const ending& e = c.final_ending;
  if (e.status == std::string_view("failed")) co_await log_run_failure(run, e);
  const auto shared_record = std::make_shared<step_record>();
  step_record& record = *shared_record;
  run->events.buffer.hold();
  if (c.answer_status == step_state::last_answer::open) {
    // Records only the text, because calls of an interrupted, withheld or refused answer are never made.
    c.answer.calls.clear();
    record_turn(*run, c.answer, record);
  }
  const std::int64_t duration_ms = run->age_ms();
  append_terminal(*run, e, duration_ms);
  record.status = e.status;
  record.reason = e.reason;
  record.webhooks = context_.config.webhooks_for(e.status);
  if (!e.error.empty()) record.error = e.error;
  if (!e.error_code.empty()) record.error_code = e.error_code;
  if (!e.output.empty()) record.output = e.output;
  std::string& event = record.event_json.emplace("{\"run_id\":\"");
  event += run->who.run.to_string() + "\",\"thread_id\":\"" + run->who.thread.to_string() + "\",\"project_id\":\"" +
           run->who.project.to_string() + "\",\"account_id\":\"" + run->who.account.to_string() + "\",\"agent_id\":\"" +
           run->who.agent.to_string() + "\",\"status\":\"" + e.status + "\",\"reason\":\"" + e.reason +
           "\",\"error\":" + json_string(e.error) + ",\"title\":" + json_string(run->who.title) +
           ",\"charged_micro\":" + std::to_string(run->progress.charged_micro) +
           ",\"duration_ms\":" + std::to_string(duration_ms) +
           ",\"result\":" + json_string(result_excerpt(run->progress.messages)) +
           ",\"viewed\":" + (run->events.streams != 0 ? "true" : "false") + "}";
  const bool has_webhooks = !record.webhooks.empty() || (run->who.options && run->who.options->has_webhook);
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, shared_record);
  if (written == stored::not_ours) co_return abandon(run, "lost");
  if (written == stored::prompts) co_return co_await continue_with_prompts(run, shared_record, c);
  // After the end is committed: a worker that has lost the run must not change its approvals.
  if (run->progress.has_approvals) {
    const ry::result<void> dropped = co_await context_.repo.drop_approvals(run->who.run);
    // The job that ends expired approvals also cancels those of runs that have ended.
    if (!dropped) context_.ctx.log_error("the approvals of a run could not be cancelled", dropped.error());
    context_.ctx.jobs().wake("runs");  // their events have consumers
  }
  context_.metrics.ended.add(e.reason);
  context_.metrics.duration.observe(static_cast<double>(duration_ms) / 1e3);
  if (has_webhooks) context_.ctx.jobs().wake("webhooks");
  run->progress.final_status = e.status;
  run->end(event_broadcaster::ending::finished);
  context_.live.remove(*run);
  co_return ry::job_outcome::done_in_tx();
}

ry::task<std::optional<ry::job_outcome>> executor::continue_with_prompts(run_ptr run,
                                                                         std::shared_ptr<step_record> record,
                                                                         step_state& c) {
  run->events.buffer.drop_last();  // the terminal event
  record->events = {};
  record->status = record->reason = record->error = record->error_code = record->event_json = record->output =
      std::nullopt;
  record->webhooks.clear();
  ry::result<std::vector<stored_message>> prompts = co_await context_.repo.pending_prompts(run->who.run);
  add_prompts(*run, std::move(prompts).value(), *record);
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, record);
  if (written == stored::not_ours) co_return abandon(run, "lost");
  c = {};
  co_return std::nullopt;
}

ry::task<ry::job_outcome> executor::release(run_ptr run) {
  notify_writer(run);
  const ry::trace trace = ry::trace::current(context_.ctx);
  while (!run->events.buffer.all_durable()) {
    if (run->stop.reason() == RY_REASON_LEASE_LOST) co_return abandon(run, "lost");
    (void)co_await run->events.log_moved.wait();
    trace.enter();
  }
  (void)co_await context_.repo.release(run->who.run, run->who.fence,
                                       static_cast<std::int64_t>(run->events.buffer.last()));
  context_.metrics.released.add("released");
  run->end(event_broadcaster::ending::left);
  context_.live.remove(*run);
  co_return ry::job_outcome::release();
}

ry::job_outcome executor::abandon(run_ptr run, const char* label) {
  context_.metrics.released.add(label);
  run->stop.interrupt(RY_REASON_LEASE_LOST);
  run->end(event_broadcaster::ending::left);
  context_.live.remove(*run);
  return ry::job_outcome::release();
}

}  // namespace runs
