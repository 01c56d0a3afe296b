#include "agent/compaction.hpp"

#include "agent/answer_outcome.hpp"
#include "agent/checkpoint.hpp"
#include "agent/context.hpp"
#include "agent/history.hpp"
#include "agent/model_call.hpp"
#include "agent/retry.hpp"
#include "agent/tools/tool_search.hpp"
#include "module_context.hpp"
#include "run/waiting.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr int max_rounds = 3;
constexpr std::int64_t summary_tokens = 2048;
constexpr std::int64_t summary_tries = 2;

struct summary_result {
  bool interrupted = false;
  std::string text;  // empty: the model could not be asked, or returned no text
  token_usage usage;  // of all attempts
  token_usage charged;  // of the attempt that returned text or was interrupted
};

// Requests a summary from the model that will continue the run.
ry::task<summary_result> summarise(const ry::context& ctx, const run_metrics& metrics, sink_guards& sinks,
                                   event_log_writers& writers, std::shared_ptr<live_run> run,
                                   const selected_model& model, std::string text) {
  summary_result out;
  const std::vector<chat_message> question = {{"user", user_body(text), belongs::to_this_run, 0}};
  const std::string request = build_request({model.provider_model, summary_instruction, {}, summary_tokens}, question);
  for (std::int64_t tries = 1;; ++tries) {
    model_call call(ctx, metrics, sinks, writers, run, model.provider, model_call::audience::none);
    const ry_status start_status = call.start(request);
    if (start_status == RY_OK) co_await call.finished();
    out.usage += call.usage();
    if (run->stop.must_break()) {
      out.interrupted = true;
      out.charged = call.usage();
      co_return out;
    }
    const ry_status st = start_status != RY_OK ? start_status : call.status();
    if (st == RY_OK) {
      const std::string text = call.take_text();
      const bool has_text = !is_blank(text);
      const outcome result = judge_answer({call.finish(), has_text, false, false});
      if (is_charged(result, has_text)) out.charged = call.usage();
      if (result == outcome::complete || result == outcome::truncated) out.text = trim(text);
      co_return out;
    }
    failed_attempt f;
    f.status = st;
    f.retry_after_s = call.retry_after_s();
    f.tries = tries;
    f.max_tries = summary_tries;
    f.remaining_ms = (run->who.deadline_us - ctx.mono_us()) / 1000;
    const next_try next = after_failure(f);
    if (next.action != next_try::action_kind::same_model) co_return out;
    co_await interruptible_sleep(ctx, run, next.wait_ms);
    if (run->stop.must_break()) {
      out.interrupted = true;
      co_return out;
    }
  }
}

}  // namespace

ry::task<fitted> fit_history(module_context& p, std::shared_ptr<live_run> run, const selected_model& model,
                             std::int64_t room) {
  fitted out;
  for (int round = 1;; ++round) {
    const loaded history = co_await load_history(p.ctx, p.repo, run);
    if (history == loaded::interrupted) {
      out.result = fitted::end::interrupted;
      co_return out;
    }
    if (estimate_tokens(run->progress.messages) <= room) co_return out;
    std::vector<chat_message> messages = run->progress.messages;
    if (shorten_old(messages, room) <= room) {
      out.shortened = std::move(messages);
      co_return out;
    }
    const std::size_t count = round > max_rounds ? 0 : to_summarise(messages, room);
    if (count == 0) {
      shorten_recent(messages, room);
      out.shortened = std::move(messages);
      co_return out;
    }
    const std::int64_t covers_to = messages[count - 1].position;
    if (covers_to == 0) {
      // This worker wrote the message and has not read it back, so its position in the thread is unknown.
      run->progress.messages_known = false;
      continue;
    }
    const std::string text = transcript(messages, count, room);
    const summary_result summary = co_await summarise(p.ctx, p.metrics, p.sinks, p.writers, run, model, text);
    const std::int64_t charge = charge_micro(p.config.price_of(model.name), summary.charged);
    bill(*run, summary.usage, charge);
    if (summary.interrupted) {
      out.result = fitted::end::interrupted;
      co_return out;
    }
    step_record record;
    run->events.buffer.hold();
    run->events.buffer.append("context_compacted")
        .integer("step", run->progress.step + 1)
        .integer("messages", static_cast<std::int64_t>(count))
        .text("model", model.name)
        .json("usage", usage_json(summary.usage))
        .json("credits", credits_text(charge));
    warn_about_budget(*run);
    stored_message message{p.ctx.new_uuid(), "summary", summary_body(summary.text, messages, count, room)};
    messages.resize(count);
    message.body = with_loaded_tools(std::move(message.body), tools_in_use(messages));
    if (has_asked_for_repair(messages)) message.body = with_repair_mark(std::move(message.body));
    record.messages.push_back(std::move(message));
    record.covers_to = covers_to;
    record.charge_ref = run->who.run.to_string() + ":summary:" + std::to_string(covers_to);
    record.charge_note =
        "{\"run_id\":\"" + run->who.run.to_string() + "\",\"model\":" + json_string(model.name) + ",\"summary\":true}";
    run->progress.messages_known = false;
    const stored checkpoint = co_await persist(p.ctx, p.checkpoints, run, std::move(record));
    if (checkpoint == stored::not_ours) {
      out.result = fitted::end::lost;
      co_return out;
    }
  }
}

}  // namespace runs
