#include "agent/checkpoint.hpp"

#include <algorithm>
#include <ry/cpp/trace.hpp>
#include <utility>

#include "agent/history.hpp"
#include "store/transient_error.hpp"

namespace runs {

std::string usage_json(const token_usage& u) {
  return "{\"input_tokens\":" + std::to_string(u.input) + ",\"output_tokens\":" + std::to_string(u.output) +
         ",\"cached_tokens\":" + std::to_string(u.cached) +
         (u.cache_write != 0 ? ",\"cache_write_tokens\":" + std::to_string(u.cache_write) : "") + "}";
}

void append_notice(live_run& run, std::string_view code, std::string_view message) {
  run.events.buffer.append("notice").text("code", code).text("message", message);
}

void bill(live_run& run, const token_usage& usage, std::int64_t micro) {
  run.progress.usage += usage;
  run.progress.unbilled.usage += usage;
  run.progress.charged_micro += micro;
  run.progress.unbilled.micro += micro;
}

void warn_about_budget(live_run& run) {
  if (!crosses_soft_budget(run.progress.spending, run.progress.charged_micro, run.progress.unbilled.micro)) return;
  run.events.buffer.append("error")
      .text("message", "The run's budget is used up; the run continues")
      .text("error_code", "BUDGET_EXCEEDED")
      .boolean("recoverable", true);
}

budget_verdict may_spend(const settings& config, const live_run& run, spending_step step) {
  const std::vector<std::string> chain = config.chain(run.who.model);
  money m;
  if (run.progress.balance_micro) m.balance_micro = *run.progress.balance_micro - run.progress.unbilled.micro;
  m.priced = !config.price_of(chain[std::min(run.progress.answering, chain.size() - 1)]).free();
  m.charged_micro = run.progress.charged_micro;
  m.spending = run.progress.spending;
  return may_spend(m, step);
}

ry::task<stored> persist(const ry::context& ctx, checkpoint_batcher& checkpoints, std::shared_ptr<live_run> run,
                         step_record content) {
  return persist(ctx, checkpoints, std::move(run), std::make_shared<step_record>(std::move(content)));
}

ry::task<stored> persist(const ry::context& ctx, checkpoint_batcher& checkpoints, std::shared_ptr<live_run> run,
                         std::shared_ptr<step_record> content) {
  step_record& record = *content;
  const ry::trace trace = ry::trace::current(ctx);
  while (run->events.buffer.in_flight()) {
    if (run->stop.reason() == RY_REASON_LEASE_LOST) co_return stored::not_ours;
    (void)co_await run->events.log_moved.wait();
    trace.enter();
  }
  const event_buffer::range text = run->events.buffer.take();
  record.events.add(text.wire, text.from, text.to);
  const bool terminal = record.status.has_value();
  record.step = run->progress.step;
  record.queue_wait_ms = run->progress.queue_wait_ms;
  record.first_token_ms = run->progress.first_token_ms;
  record.reserve_to = static_cast<std::int64_t>(text.to) + (terminal ? 0 : reserve_window);
  record.usage = run->progress.unbilled.usage;
  record.charge_micro = run->progress.unbilled.micro;
  run->progress.unbilled = {};
  if (record.charge_ref.empty()) {
    // The charge of interrupted attempts that no answer followed.
    record.charge_ref = run->who.run.to_string() + ":cut:" + std::to_string(text.to);
    record.charge_note = "{\"run_id\":\"" + run->who.run.to_string() + "\",\"cut\":true}";
  }
  for (std::uint64_t delay_ms = 100;; delay_ms = std::min<std::uint64_t>(delay_ms * 2, 5000)) {
    checkpoint_step step{run->who.run, run->who.account, run->who.job, run->who.fence, content};
    ry::result<step_result> done = co_await checkpoints.write(std::move(step), run->exec);
    if (done) {
      run->progress.prompts_pending = done->pending_prompts > 0;
      if (done->how == step_result::outcome::prompts) {
        run->progress.unbilled.usage = record.usage;
        run->progress.unbilled.micro = record.charge_micro;
        co_return stored::prompts;
      }
      if (done->how != step_result::outcome::ok) co_return stored::not_ours;
      if (done->balance_micro) run->progress.balance_micro = done->balance_micro;
      if (done->jobs_ready) ctx.jobs().wake("runs");
      run->events.buffer.reserve(static_cast<std::uint64_t>(record.reserve_to));
      run->events.buffer.release();
      run->events.deliver();
      run->events.buffer.done(text.from, text.to);
      (void)ctx.events().live_publish(topic_of(run->who.run), text.to, {}, RY_LIVE_WAKEUP);
      co_return stored::yes;
    }
    if (done.error().is("jobs.fence_lost") || run->stop.reason() == RY_REASON_LEASE_LOST) co_return stored::not_ours;
    if (!is_transient(done.error())) {
      // On a permanent error the terminal checkpoint must still charge this amount.
      run->progress.unbilled.usage = record.usage;
      run->progress.unbilled.micro = record.charge_micro;
      run->events.buffer.drop_held();
      done.value();  // throws
    }
    ctx.log_error("a step could not be written", done.error());
    (void)co_await ctx.sleep(delay_ms);
  }
}

}  // namespace runs
