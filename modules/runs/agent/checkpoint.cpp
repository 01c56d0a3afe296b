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
  run.buffer.append("notice").text("code", code).text("message", message);
}

void bill(live_run& run, const token_usage& usage, std::int64_t micro) {
  run.usage += usage;
  run.unbilled.usage += usage;
  run.charged_micro += micro;
  run.unbilled.micro += micro;
}

void warn_of_budget(live_run& run) {
  if (!warns(run.spending, run.charged_micro, run.unbilled.micro)) return;
  run.buffer.append("error")
      .text("message", "The run's budget is used up; it goes on")
      .text("error_code", "BUDGET_EXCEEDED")
      .boolean("recoverable", true);
}

budget_verdict may_spend(const module_context& p, const live_run& run, spending_step step) {
  const std::vector<std::string> chain = p.config.chain(run.who.model);
  money m;
  if (run.balance_micro) m.balance_micro = *run.balance_micro - run.unbilled.micro;
  m.priced = !p.config.price_of(chain[std::min(run.answering, chain.size() - 1)]).free();
  m.charged_micro = run.charged_micro;
  m.spending = run.spending;
  return may_spend(m, step);
}

ry::task<stored> persist(module_context& p, std::shared_ptr<live_run> run, step_record what) {
  const auto kept = std::make_shared<step_record>(std::move(what));
  step_record& record = *kept;
  const ry::trace mine = ry::trace::current(p.ctx);
  while (run->buffer.in_flight()) {
    if (run->why() == RY_REASON_LEASE_LOST) co_return stored::not_ours;
    (void)co_await run->log_moved.wait();
    mine.enter();
  }
  const event_buffer::range text = run->buffer.take();
  record.events.add(text.wire, text.from, text.to);
  const bool terminal = record.status.has_value();
  record.step = run->step;
  record.queue_wait_ms = run->queue_wait_ms;
  record.first_token_ms = run->first_token_ms;
  record.reserve_to = static_cast<std::int64_t>(text.to) + (terminal ? 0 : reserve_window);
  record.usage = run->unbilled.usage;
  record.charge_micro = run->unbilled.micro;
  run->unbilled = {};
  if (record.charge_ref.empty()) {
    // Interrupted attempts without a successor.
    record.charge_ref = run->who.run.to_string() + ":cut:" + std::to_string(text.to);
    record.charge_note = "{\"run_id\":\"" + run->who.run.to_string() + "\",\"cut\":true}";
  }
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    checkpoint_step step{run->who.run, run->who.account, run->who.job, run->who.fence, kept};
    ry::result<step_result> done = co_await p.checkpoints.write(std::move(step), run->exec);
    if (done) {
      if (done->how != step_result::outcome::ok) co_return stored::not_ours;
      if (done->balance_micro) run->balance_micro = done->balance_micro;
      if (done->jobs_ready) p.ctx.jobs().wake("runs");
      run->buffer.reserve(static_cast<std::uint64_t>(record.reserve_to));
      run->buffer.release();
      run->deliver();
      run->buffer.done(text.from, text.to);
      (void)p.ctx.events().live_publish(topic_of(run->who.run), text.to, {}, RY_LIVE_HINT);
      co_return stored::yes;
    }
    if (done.error().is("jobs.fence_lost") || run->why() == RY_REASON_LEASE_LOST) co_return stored::not_ours;
    if (!is_transient(done.error())) {
      // A permanent error. The end of the run must still charge this amount.
      run->unbilled.usage = record.usage;
      run->unbilled.micro = record.charge_micro;
      run->buffer.drop_held();
      done.value();  // throws
    }
    p.ctx.log_error("a step could not be written", done.error());
    (void)co_await p.ctx.sleep(pause);
  }
}

}  // namespace runs
