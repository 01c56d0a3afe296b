#include "agent/executor.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/trace.hpp>

#include "agent/history.hpp"
#include "agent/result_excerpt.hpp"
#include "module_context.hpp"
#include "store/transient_error.hpp"
#include "text.hpp"
#include "workspace/upload_reader.hpp"

namespace runs {
namespace {

// Retry delay for a run whose worker could not reach the database.
constexpr std::uint64_t away_ms = 500;
// Retry delay for a claimed run when starts have taken the last permits.
constexpr std::uint64_t full_ms = 100;
// How often a provider may pause one answer.
constexpr std::int64_t max_pauses = 20;

// The outcomes of a run. Named functions, because g++ 12 destroys braced arguments of an awaited call twice.
using run_outcome = executor::ending;
run_outcome completed() {
  return {"completed", "ok", "", ""};
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
  // A shutdown or stop must not interrupt a transaction: the run checks for them between steps.
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
  const bool ours = run && run->who.job == job.id() && run->who.fence == job.fence();
  if (!ours) {
    std::optional<placement::ticket> place;
    if (!run) {
      place = co_await context_.run_placement.place_for_claimed(job.cancel());
      // A cancelled run needs no permit: it ends at once.
      if (!place && !job.cancel().cancelled()) co_return ry::job_outcome::snooze(full_ms);
    }
    std::optional<ry::job_outcome> otherwise;
    run = co_await claim(job, *id, otherwise);
    if (!run) co_return std::move(*otherwise);
  }
  co_await context_.ctx.switch_to(run->exec);
  const auto on_cancel = [ctx = &context_.ctx, run](std::int32_t why) {
    ctx->post(run->exec, [run, why] { run->stop.interrupt(why); });
  };
  ry::cancel_callback listening(job.cancel(), on_cancel);
  co_return co_await execute(run, job.crashes());
}

ry::task<executor::run_ptr> executor::claim(ry::job job, ry::uuid id, std::optional<ry::job_outcome>& otherwise) {
  ry::result<std::optional<claimed_run>> taken =
      co_await context_.repo.claim(id, job.id(), job.fence(), reserve_window);
  if (!taken) {
    if (taken.error().is("jobs.fence_lost"))
      otherwise = ry::job_outcome::release();
    else if (is_transient(taken.error()))
      otherwise = ry::job_outcome::snooze(away_ms);  // does not count as an attempt of the run
    else
      otherwise = ry::job_outcome::retry(taken.error());
    co_return nullptr;
  }
  if (!*taken || (*taken)->status != "running") {
    otherwise = ry::job_outcome::done();
    co_return nullptr;
  }
  const claimed_run& t = **taken;
  run_identity who;
  who.run = id;
  who.account = ry::uuid::parse(t.account_id).value_or(ry::uuid());
  who.project = ry::uuid::parse(t.project_id).value_or(ry::uuid());
  who.thread = ry::uuid::parse(t.thread_id).value_or(ry::uuid());
  who.agent = ry::uuid::parse(t.agent_id).value_or(ry::uuid());
  who.agent_version = t.agent_version;
  who.model = t.model;
  who.title = t.title;
  who.parameters = t.parameters;
  who.mode = t.mode;
  who.memory = t.memory;
  who.job = job.id();
  who.fence = job.fence();
  const std::int64_t now = context_.ctx.mono_us();
  who.started_us = now - t.started_ago_us;
  who.deadline_us = now - t.begun_ago_us + t.timeout_seconds * 1'000'000;
  const auto last = static_cast<std::uint64_t>(t.last_seq);
  auto run = std::make_shared<live_run>(context_.ctx, std::move(who), job.exec(), last, last + reserve_window);
  run->progress.step = t.step;
  run->progress.usage = t.usage;
  run->progress.charged_micro = t.charged_micro;
  run->progress.queue_wait_ms = t.queue_wait_ms;
  run->progress.first_token_ms = t.first_token_ms;
  run->progress.text_shown = t.text_shown;
  run->progress.calls_may_have_begun = true;
  run->progress.had_worker = t.step > 0;
  run->progress.spending = t.spending;
  run->progress.balance_micro = t.balance_micro;
  run->progress.loops_known = false;
  run->progress.uploads_waiting = t.uploads_waiting;
  if (t.last_seq > t.border_seq)
    run->progress.open_turn = {static_cast<std::uint64_t>(t.border_seq) + 1, last, t.attempts};
  if (t.stop_requested) run->stop.interrupt(RY_REASON_USER);
  // A run that only waited in the queue had no worker before.
  if (job.crashes() != 0)
    context_.metrics.taken_over.add("lease_lapsed");
  else if (t.queue_wait_ms || run->progress.open_turn.to != 0)
    context_.metrics.taken_over.add("handed_over");
  context_.live.put(run);
  // Wakes the readers on this node that followed the run as if on another node.
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
    c.ends(failed("crashed", "The run crashed its worker too often", "RUN_CRASHED"));
  std::optional<ry::job_outcome> out;
  for (int tries = 0; !out; ++tries) {
    std::optional<ry::error> failure;
    try {
      co_await steps(run, c);
      out = co_await conclude(run, c);
    } catch (...) {
      failure = ry::current_error();
    }
    if (!failure) break;
    if (is_transient(*failure)) {
      // Not the run's fault: it continues from its last checkpoint.
      log_error(*run, "a run is requeued", *failure);
      leave(run, "put_back");
      out = ry::job_outcome::snooze(away_ms);
    } else if (tries == 0) {
      log_error(*run, "a run failed inside the server", *failure);
      run->events.buffer.drop_held();
      c.ends(failed("crashed", "Internal server error", "INTERNAL"));
    } else {
      leave(run, "put_back");
      out = ry::job_outcome::retry(*failure);
    }
  }
  writer.dismiss(run);
  notify_sources_of_end(context_.tool_sources, *run, run->progress.final_status != "running");
  co_return std::move(*out);
}

void executor::log_error(live_run& run, std::string_view what, const ry::error& why) const {
  const std::string detail = why.detail_json().empty() ? std::string() : " " + std::string(why.detail_json());
  run.note_cause(std::string(what) + ": " + std::string(why.reason()) + ": " + std::string(why.message()) + detail);
  context_.ctx.log(RY_LOG_ERROR, what,
                   {{"run", run.who.run.to_string()},
                    {"account", run.who.account.to_string()},
                    {"reason", why.reason()},
                    {"error", why.message()},
                    {"detail", why.detail_json()}});
}

ry::task<void> executor::note_failure(run_ptr kept, const ending& how) const {
  const live_run& run = *kept;
  context_.ctx.warn("a run failed",
                    {{"run", run.who.run.to_string()},
                     {"account", run.who.account.to_string()},
                     {"thread", run.who.thread.to_string()},
                     {"model", run.who.model},
                     {"reason", how.reason},
                     {"error_code", how.error_code},
                     {"error", how.error},
                     {"cause", run.progress.causes.empty() ? std::string() : run.progress.causes.back().text},
                     {"steps", run.progress.step},
                     {"ms", run.age_ms()}});
  if (run.progress.causes.empty()) co_return;
  const ry::result<void> noted = co_await context_.repo.put_causes(run.who.run, causes_json(run));
  if (!noted) context_.ctx.log_error("the causes of a failed run could not be stored", noted.error());
}

ry::task<void> executor::steps(run_ptr run, step_state& c) {
  catalog_ptr catalog;
  while (c.next == step_state::to::go_on) {
    co_await prepare(run, catalog, c);
    if (c.next != step_state::to::ask) continue;
    // Most runs are suspended here most of the time, so the frames above are kept small.
    co_await ask_model(context_, run, catalog, c.so_far.any(), c.answer);
    co_await apply_answer(run, catalog, c);
  }
}

ry::task<ry::job_outcome> executor::conclude(run_ptr run, step_state& c) {
  if (c.next == step_state::to::not_ours) co_return leave(run, "lost");
  if (c.next == step_state::to::release) co_return co_await release(run);
  co_return co_await finish(run, c);
}

void executor::step_state::interrupted(std::int32_t why, answer_is a) {
  switch (why) {
    case RY_REASON_LEASE_LOST:
      next = to::not_ours;
      break;
    case RY_REASON_USER:
      ends(stopped(), a);
      break;
    case RY_REASON_DEADLINE:
      ends(timed_out(), a);
      break;
    default:
      next = to::release;
  }
}

// Everything before a model request.
ry::task<void> executor::prepare(run_ptr run, catalog_ptr& catalog, step_state& c) {
  if (run->stop.reason() != 0) co_return c.interrupted(run->stop.reason(), step_state::answer_is::past);
  if (run->progress.uploads_waiting) {
    const bool ours = co_await look_at_uploads(context_, run);
    if (!ours) c.next = step_state::to::not_ours;
    if (!ours || run->stop.reason() != 0) co_return;
  }
  const loaded there = co_await load_history(context_.ctx, context_.repo, run);
  if (there == loaded::broken_off) co_return;
  next_action next = decide(run->progress.messages);
  if (next.kind == next_kind::finished) co_return c.ends(completed());
  catalog = co_await tools_.catalog(run);
  if (next.kind == next_kind::run_tools) {
    run->progress.open_turn = {};
    std::optional<ending> refused = check_budget(*run, spending_step::make_calls);
    if (!refused) refused = check_tool_loop(*run, next.calls);
    if (refused) co_return c.ends(std::move(*refused));
    const stored kept = co_await run_calls(run, catalog, std::move(next.calls));
    if (kept == stored::not_ours) c.next = step_state::to::not_ours;
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
    touch(run);
  }
  if (run->progress.step >= context_.config.max_steps)
    co_return c.ends(failed("step_limit", "The run reached its step limit", "STEP_LIMIT"));
  std::optional<ending> refused = check_budget(*run, spending_step::ask_model);
  if (refused) co_return c.ends(std::move(*refused));
  c.so_far = parts_so_far(run->progress.messages);
  c.next = step_state::to::ask;
}

// Handles an answer: the end of the run, or tool calls.
ry::task<void> executor::apply_answer(run_ptr run, catalog_ptr catalog, step_state& c) {
  turn& t = c.answer;
  c.next = step_state::to::go_on;
  switch (t.how) {
    case turn::end::lost:
      c.next = step_state::to::not_ours;
      co_return;
    case turn::end::interrupted:
      co_return c.interrupted(run->stop.reason(), step_state::answer_is::part_of_the_end);
    case turn::end::failed:
      co_return c.ends(failed("llm_error", t.error, "LLM_ERROR"));
    case turn::end::unaffordable: {
      std::optional<ending> refused = check_budget(*run, spending_step::ask_model);
      co_return c.ends(refused ? std::move(*refused) : failed("llm_error", t.error, "LLM_ERROR"));
    }
    case turn::end::answered:
      break;
  }
  std::optional<ending> over = end_by_answer(c);
  if (over) co_return c.ends(std::move(*over), step_state::answer_is::part_of_the_end);
  if (t.calls.empty()) co_return co_await keep_part(run, c);

  step_record record;
  run->events.buffer.hold();
  record_turn(*run, t, record);
  for (const tool_call& call : t.calls) {
    const tool_catalog::tool* tool = catalog->find(call.name);
    run->events.buffer.append("tool_call")
        .text("tool_call_id", call.id)
        .text("name", call.name)
        .json("arguments", call.arguments)
        .text("source", tool != nullptr ? tool->source : "unknown");
  }
  // Committed together with the calls: a worker that takes over cannot see that their arguments were unusable.
  const answer_end end = t.finish == RY_LLM_FINISH_LENGTH ? answer_end::cut_off : answer_end::by_itself;
  std::vector<tool_call> usable;
  for (const tool_call& call : t.calls) {
    std::optional<tool_outcome> refused = refuse_call(call, end);
    if (refused && run->progress.loops.judge(call, context_.config.repeat_limit) != loop_guard::verdict::make)
      refused->content = loop_guard::refusal();
    if (refused)
      record_result(*run, call, *refused, record);
    else
      usable.push_back(call);
  }
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
  if (written == stored::not_ours) {
    c.next = step_state::to::not_ours;
    co_return;
  }
  std::optional<ending> refused = check_budget(*run, spending_step::make_calls);
  if (!refused) refused = check_tool_loop(*run, t.calls);
  if (refused) co_return c.ends(std::move(*refused));
  // A call must not be made twice, so the calls are committed before they run.
  if (run->stop.reason() != 0 || usable.empty()) co_return;
  const stored kept = co_await run_calls(run, catalog, std::move(usable));
  if (kept == stored::not_ours) c.next = step_state::to::not_ours;
}

std::optional<executor::ending> executor::end_by_answer(const step_state& c) const {
  const turn& t = c.answer;
  switch (t.means) {
    case outcome::calls:
      return std::nullopt;
    case outcome::complete:
      return completed();
    case outcome::cut:
      if (c.so_far.cut < context_.config.max_continuations) return std::nullopt;
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

ry::task<void> executor::keep_part(run_ptr run, step_state& c) {
  step_record record;
  run->events.buffer.hold();
  record_turn(*run, c.answer, record);
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
  if (written == stored::not_ours) c.next = step_state::to::not_ours;
}

std::optional<executor::ending> executor::check_budget(const live_run& run, spending_step step) const {
  switch (may_spend(context_.config, run, step)) {
    case budget_verdict::no_credits:
      return failed("credits", "Insufficient credits", "INSUFFICIENT_CREDITS");
    case budget_verdict::over_budget:
      return failed("budget", "The run's budget is used up", "BUDGET_EXCEEDED");
    case budget_verdict::go_on:
      break;
  }
  return std::nullopt;
}

std::optional<executor::ending> executor::check_tool_loop(const live_run& run,
                                                          const std::vector<tool_call>& calls) const {
  for (const tool_call& call : calls)
    if (run.progress.loops.judge(call, context_.config.repeat_limit) == loop_guard::verdict::hopeless)
      return failed("tool_error", "The agent kept repeating the same call of the tool " + call.name, "TOOL_LOOP");
  return std::nullopt;
}

void executor::touch(const run_ptr& run) {
  context_.writers.of(run->exec).touch(run);
}

void executor::record_turn(live_run& run, turn& t, step_record& record) {
  if (!t.open) return;
  const std::int64_t charge =
      is_charged(t.means, !t.text.empty()) ? charge_micro(context_.config.price_of(t.model), t.usage) : 0;
  bill(run, t.usage, charge);
  ++run.progress.step;
  run.progress.attempt_base = 0;
  const std::string id = run.who.run.to_string();
  record.charge_ref = id + ":" + std::to_string(run.progress.step) + ":" + std::to_string(t.attempt);
  record.charge_note = "{\"run_id\":\"" + id + "\",\"step\":" + std::to_string(run.progress.step) +
                       ",\"model\":" + json_string(t.model) + "}";
  const bool whole = t.how == turn::end::answered;
  const std::string finish(whole ? finish_name(t.finish, !t.calls.empty()) : std::string_view());
  {
    event_text end = run.events.buffer.append("llm_response_end");
    end.integer("step", run.progress.step).json("usage", usage_json(t.usage)).json("credits", credits_text(charge));
    if (whole) end.text("finish", finish);
  }
  warn_of_budget(run);
  if (t.text.empty() && t.calls.empty()) return;
  const bool says_finish = whole && t.means != outcome::complete && t.means != outcome::calls;
  stored_message message{context_.ctx.new_uuid(), "assistant",
                         assistant_body(t.text, t.calls, says_finish ? std::string_view(finish) : std::string_view())};
  run.events.buffer.append("message")
      .text("message_id", message.id.to_string())
      .text("role", "assistant")
      .text("content", t.text);
  remember(run, message.role, with_reasoning(message.body, t.reasoning));
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
  remember(run, m.role, m.body);
  record.messages.push_back(std::move(m));
}

ry::task<stored> executor::run_calls(run_ptr run, catalog_ptr catalog, std::vector<tool_call> calls) {
  struct job {
    tool_call call;
    tool_outcome outcome;
    call_kind how = call_kind::first;
    bool begun = false, finished = false, written = false;
  };
  std::vector<job> jobs;
  jobs.reserve(calls.size());
  for (tool_call& call : calls) {
    job j;
    j.call = std::move(call);
    jobs.push_back(std::move(j));
  }
  ry::signal changed;
  const auto one = [](module_context& p, run_ptr r, catalog_ptr c, job& j, ry::signal& signal) -> ry::task<void> {
    j.outcome = co_await run_tool(p, r, c, j.call, j.how);
    j.finished = true;
    signal.set();
  };
  const auto answer = [](job& j, std::string_view text) {
    j.outcome.content = text;
    j.outcome.is_error = true;
    j.begun = j.finished = true;
  };
  for (job& j : jobs) {
    const tool_catalog::tool* tool = catalog->find(j.call.name);
    if (run->progress.calls_may_have_begun && tool != nullptr && resumes_calls(*tool))
      j.how = call_kind::resumed;
    else if (run->progress.calls_may_have_begun && (tool == nullptr || !tool->repeatable))
      answer(j, unknown_outcome);
    else if (run->progress.loops.judge(j.call, context_.config.repeat_limit) != loop_guard::verdict::make)
      answer(j, loop_guard::refusal());
  }
  stored kept = stored::yes;
  std::exception_ptr refused;  // permanent database error
  // The jobs live in this frame: leave only after all running ones have ended.
  for (;;) {
    const bool go_on = !run->stop.must_break() && kept == stored::yes && !refused;
    if (go_on) {
      auto running = std::count_if(jobs.begin(), jobs.end(), [](const job& j) { return j.begun && !j.finished; });
      for (job& j : jobs) {
        if (j.begun || running >= context_.config.max_parallel_tools) continue;
        j.begun = true;
        ++running;
        if (!context_.ctx.spawn(one(context_, run, catalog, j, changed), run->exec, ry::cancel_source().token()))
          answer(j, "the server is stopping");
      }
    }
    step_record record;
    bool any = false;
    for (job& j : jobs) {
      if (!go_on || !j.finished || j.written) continue;
      if (!any) run->events.buffer.hold();
      any = j.written = true;
      record_result(*run, j.call, j.outcome, record);
    }
    if (any) {
      try {
        kept = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
      } catch (...) {
        refused = std::current_exception();
      }
      if (kept == stored::not_ours) run->stop.interrupt(RY_REASON_LEASE_LOST);
      continue;
    }
    const bool waiting =
        std::any_of(jobs.begin(), jobs.end(), [&](const job& j) { return !j.finished && (j.begun || go_on); });
    if (!waiting) break;
    (void)co_await changed.wait();
  }
  if (refused) std::rethrow_exception(refused);
  co_return kept;
}

// The terminal event, in the same form as runs.terminal_payload() (migrations/functions/terminal.sql).
void executor::append_terminal(live_run& run, const ending& how, std::int64_t duration_ms) {
  const auto or_null = [](const std::optional<std::int64_t>& ms) {
    return ms ? std::to_string(*ms) : std::string("null");
  };
  event_text event = run.events.buffer.append("status");
  event.text("status", how.status).text("reason", how.reason);
  if (how.status == "failed") event.text("error", how.error).text("error_code", how.error_code);
  event.json("usage", usage_json(run.progress.usage))
      .integer("tokens", run.progress.usage.input + run.progress.usage.output)
      .json("credits", credits_text(run.progress.charged_micro))
      .integer("duration_ms", duration_ms)
      .json("queue_wait_ms", or_null(run.progress.queue_wait_ms))
      .json("time_to_first_token_ms", or_null(run.progress.first_token_ms));
}

ry::task<ry::job_outcome> executor::finish(run_ptr run, step_state& c) {
  const ending& how = c.how;
  if (how.status == std::string_view("failed")) co_await note_failure(run, how);
  step_record record;
  run->events.buffer.hold();
  if (c.last == step_state::answer_is::part_of_the_end) {
    // Keeps only the text: calls of an interrupted, withheld or refused answer are never made.
    c.answer.calls.clear();
    record_turn(*run, c.answer, record);
  }
  const std::int64_t duration_ms = run->age_ms();
  append_terminal(*run, how, duration_ms);
  record.status = how.status;
  record.reason = how.reason;
  record.webhooks = context_.config.webhooks_for(how.status);
  if (!how.error.empty()) record.error = how.error;
  if (!how.error_code.empty()) record.error_code = how.error_code;
  std::string& event = record.event_json.emplace("{\"run_id\":\"");
  event += run->who.run.to_string() + "\",\"thread_id\":\"" + run->who.thread.to_string() + "\",\"project_id\":\"" +
           run->who.project.to_string() + "\",\"account_id\":\"" + run->who.account.to_string() + "\",\"agent_id\":\"" +
           run->who.agent.to_string() + "\",\"status\":\"" + how.status + "\",\"reason\":\"" + how.reason +
           "\",\"error\":" + json_string(how.error) + ",\"title\":" + json_string(run->who.title) +
           ",\"charged_micro\":" + std::to_string(run->progress.charged_micro) +
           ",\"duration_ms\":" + std::to_string(duration_ms) +
           ",\"result\":" + json_string(beginning_of_result(run->progress.messages)) +
           ",\"viewed\":" + (run->events.streams != 0 ? "true" : "false") + "}";
  const bool has_webhooks = !record.webhooks.empty();
  const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
  if (written == stored::not_ours) co_return leave(run, "lost");
  context_.metrics.ended.add(how.reason);
  context_.metrics.duration.observe(static_cast<double>(duration_ms) / 1e3);
  if (has_webhooks) context_.ctx.jobs().wake("webhooks");
  run->progress.final_status = how.status;
  run->end(event_broadcaster::ending::finished);
  context_.live.remove(*run);
  co_return ry::job_outcome::done_in_tx();
}

ry::task<ry::job_outcome> executor::release(run_ptr run) {
  touch(run);
  const ry::trace mine = ry::trace::current(context_.ctx);
  while (!run->events.buffer.all_durable()) {
    if (run->stop.reason() == RY_REASON_LEASE_LOST) co_return leave(run, "lost");
    (void)co_await run->events.log_moved.wait();
    mine.enter();
  }
  (void)co_await context_.repo.release(run->who.run, run->who.fence,
                                       static_cast<std::int64_t>(run->events.buffer.last()));
  context_.metrics.left.add("handed_over");
  run->end(event_broadcaster::ending::left);
  context_.live.remove(*run);
  co_return ry::job_outcome::release();
}

ry::job_outcome executor::leave(run_ptr run, const char* why) {
  context_.metrics.left.add(why);
  run->stop.interrupt(RY_REASON_LEASE_LOST);
  run->end(event_broadcaster::ending::left);
  context_.live.remove(*run);
  return ry::job_outcome::release();
}

}  // namespace runs
