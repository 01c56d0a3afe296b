// The executor's tool calls: which of them are made now, their execution, and parking a run that waits for the others.
#include <algorithm>
#include <ry/cpp/trace.hpp>

#include "agent/approval_gate.hpp"
#include "agent/executor.hpp"
#include "agent/questions.hpp"
#include "module_context.hpp"

namespace runs {

ry::task<void> executor::make_calls(run_ptr run, catalog_ptr catalog, std::vector<tool_call> calls, step_state& c) {
  co_await read_agent_rules(context_, run);
  if (!calls_are_free(context_, *run)) {
    gated_calls gated = co_await gate_calls(context_, run, catalog, std::move(calls));
    if (gated.lost) {
      c.next = step_state::action::not_ours;
      co_return;
    }
    if (gated.stop) co_return c.interrupt(RY_REASON_USER, step_state::last_answer::recorded);
    if (!gated.refused.empty()) {
      step_record record;
      run->events.buffer.hold();
      for (const gated_calls::refusal& r : gated.refused) record_result(*run, r.call, r.outcome, record);
      const stored written = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
      if (written == stored::not_ours) c.next = step_state::action::not_ours;
      if (written == stored::not_ours) co_return;
    }
    calls = std::move(gated.allowed);
    if (calls.empty() && !gated.waiting.empty()) co_return co_await park(run, c);
  }
  if (calls.empty()) co_return;
  const stored result = co_await run_calls(run, catalog, std::move(calls));
  if (result == stored::not_ours) c.next = step_state::action::not_ours;
}

ry::task<void> executor::park(run_ptr run, step_state& c) {
  notify_writer(run);
  const ry::trace trace = ry::trace::current(context_.ctx);
  while (!run->events.buffer.all_durable()) {
    if (run->stop.reason() != 0) co_return;  // prepare() handles the interruption
    (void)co_await run->events.log_moved.wait();
    trace.enter();
  }
  ry::result<park_outcome> outcome = co_await context_.repo.park(run->who.run, run->who.job, run->who.fence,
                                                                 static_cast<std::int64_t>(run->events.buffer.last()),
                                                                 context_.config.park_slot_seconds);
  switch (outcome.value()) {
    case park_outcome::resolved:
      break;  // a decision has been made in the meantime
    case park_outcome::gone:
      c.next = step_state::action::not_ours;
      break;
    case park_outcome::stop:
      run->stop.interrupt(RY_REASON_USER);
      break;
    case park_outcome::parked:
      c.next = step_state::action::parked;
  }
}

ry::task<stored> executor::run_calls(run_ptr run, catalog_ptr catalog, std::vector<tool_call> calls) {
  struct pending_call {
    tool_call call;
    tool_outcome outcome;
    call_kind kind = call_kind::first;
    bool started = false, finished = false, written = false;
  };
  std::vector<pending_call> pending;
  pending.reserve(calls.size());
  for (tool_call& call : calls) {
    pending_call item;
    item.call = std::move(call);
    pending.push_back(std::move(item));
  }
  ry::signal changed;
  const auto run_one = [](module_context& p, run_ptr r, catalog_ptr tools, pending_call& item,
                          ry::signal& signal) -> ry::task<void> {
    item.outcome = co_await run_tool(p, r, tools, item.call, item.kind);
    item.finished = true;
    signal.set();
  };
  const auto set_error_result = [](pending_call& item, std::string_view text) {
    item.outcome.content = text;
    item.outcome.is_error = true;
    item.started = item.finished = true;
  };
  for (pending_call& item : pending) {
    const tool_catalog::tool* tool = catalog->find(item.call.name);
    const bool may_have_begun = run->progress.calls_may_have_begun && !item.call.not_begun;
    if (may_have_begun && tool != nullptr && resumes_calls(*tool))
      item.kind = call_kind::resumed;
    else if (may_have_begun && !tool_catalog::may_repeat(tool, item.call))
      set_error_result(item, unknown_call_outcome);
    else if (run->progress.loops.judge(item.call, context_.config.repeat_limit) != loop_guard::verdict::allow)
      set_error_result(item, loop_guard::refusal());
  }
  stored result = stored::yes;
  std::exception_ptr database_error;  // a permanent one
  // The calls refer to this frame, so it must not end before all running calls have ended.
  for (;;) {
    const bool may_start = !run->stop.must_break() && result == stored::yes && !database_error;
    if (may_start) {
      auto running = std::count_if(pending.begin(), pending.end(),
                                   [](const pending_call& item) { return item.started && !item.finished; });
      for (pending_call& item : pending) {
        if (item.started || running >= context_.config.max_parallel_tools) continue;
        item.started = true;
        ++running;
        if (!context_.ctx.spawn(run_one(context_, run, catalog, item, changed), run->exec, ry::cancel_source().token()))
          set_error_result(item, "the server is stopping");
      }
    }
    for (pending_call& item : pending) {
      if (!may_start || !item.finished || item.written || !item.outcome.input) continue;
      item.written = true;
      ++item.call.round;
      try {
        const bool ours = co_await suspend_call(context_, run, catalog, item.call, item.outcome.input);
        if (!ours) result = stored::not_ours;
      } catch (...) {
        database_error = std::current_exception();
      }
      if (result == stored::not_ours) run->stop.interrupt(RY_REASON_LEASE_LOST);
    }
    step_record record;
    bool has_results = false;
    for (pending_call& item : pending) {
      if (!may_start || !item.finished || item.written) continue;
      if (!has_results) run->events.buffer.hold();
      has_results = item.written = true;
      record_result(*run, item.call, item.outcome, record);
    }
    if (has_results) {
      try {
        result = co_await persist(context_.ctx, context_.checkpoints, run, std::move(record));
      } catch (...) {
        database_error = std::current_exception();
      }
      if (result == stored::not_ours) run->stop.interrupt(RY_REASON_LEASE_LOST);
      continue;
    }
    const bool waiting = std::any_of(pending.begin(), pending.end(), [&](const pending_call& item) {
      return !item.finished && (item.started || may_start);
    });
    if (!waiting) break;
    (void)co_await changed.wait();
  }
  if (database_error) std::rethrow_exception(database_error);
  co_return result;
}

}  // namespace runs
