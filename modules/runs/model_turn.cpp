#include "model_turn.hpp"

#include <algorithm>
#include <cstring>

#include "border.hpp"
#include "compaction.hpp"
#include "context.hpp"
#include "history.hpp"
#include "model_call.hpp"
#include "pictures.hpp"
#include "retry.hpp"
#include "text.hpp"

namespace runs {
namespace {

using run_ptr = std::shared_ptr<live_run>;

constexpr int most_narrowings = 2;

ry::task<std::string> system_prompt(parts& p, run_ptr run) {
  const std::string account = run->who.account.to_string(), agent = run->who.agent.to_string();
  ry::result<std::string> system = co_await ry::call<std::string, const ry_agent_view*>(
      [&](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return p.agents->get(p.agents.self(), ry::str(account), ry::str(agent), run->who.agent_version,
                             exec, fn, ctx);
      },
      [](const ry_agent_view* a) { return ry::text(a->system_prompt); });
  // An agent may be deleted while its run goes on: the deployment's prompt serves then.
  std::string prompt = system ? std::move(*system) : std::string();
  if (prompt.empty()) prompt = p.config.system_prompt;
  co_return prompt;
}

std::uint32_t any_number(const ry::context& ctx) {
  const ry::uuid id = ctx.new_uuid();
  std::uint32_t n;
  std::memcpy(&n, id.bytes + 12, sizeof n);
  return n;
}

// Tells the readers to drop what an attempt has shown, and what comes next.
void close_attempt(parts& p, run_ptr run, const turn& t, std::uint64_t from, const token_usage& usage,
                   std::int64_t charge, std::string_view code) {
  const auto to = static_cast<std::int64_t>(run->feed.last());
  {
    event_text aborted = run->feed.append("turn_aborted");
    aborted.integer("step", run->step + 1)
        .integer("attempt", t.attempt)
        .integer("from_sequence", static_cast<std::int64_t>(from))
        .integer("to_sequence", to);
    if (usage.input != 0 || usage.output != 0)
      aborted.json("usage", usage_json(usage)).json("credits", credits_text(charge));
  }
  if (!code.empty())
    run->feed.append("error").text("message", t.error).text("error_code", code).boolean("recoverable", true);
  run->deliver_soon();
  p.writers.of(run->exec).touch(run);
}

}  // namespace

ry::task<turn> ask_model(parts& p, run_ptr run, catalog_ptr catalog) {
  turn out;
  const std::vector<std::string> chain = p.config.chain(run->who.model);
  const std::string prompt = co_await system_prompt(p, run);
  std::int64_t shown = 0, tries = 0;
  int narrowings = 0;
  std::size_t refused_bytes = 0;  // of a request that was too long
  // One model may have answered the steps before in another's place: it is asked first.
  run->answering = std::min(run->answering, chain.size() - 1);
  for (;;) {
    const bool has_fallback = run->answering + 1 < chain.size();
    model_choice_in_use by;
    by.name = chain[run->answering];
    const std::optional<model_target> target = p.config.target(by.name);
    if (target) by.provider = p.providers.find(target->provider);
    if (!by.provider) {
      out.error = "The model \"" + by.name + "\" names no provider that is configured and loaded";
      if (!has_fallback) co_return out;
      ++run->answering;
      run->narrowed_window = 0;
      continue;
    }
    by.model = target->model;
    out.model = by.name;
    const std::int64_t window =
        run->narrowed_window != 0 ? run->narrowed_window : p.config.window_of(by.name);
    const std::int64_t room =
        room_for_messages(window, p.config.max_output_tokens, prompt, catalog->json);
    const fitted fit = co_await fit_history(p, run, by, room);
    if (fit.how != fitted::end::fits) {
      out.how = fit.how == fitted::end::lost ? turn::end::lost : turn::end::interrupted;
      co_return out;
    }
    const std::vector<chat_message>& history = fit.shortened ? *fit.shortened : run->messages;
    const std::optional<std::vector<chat_message>> shown_to_it =
        co_await show_pictures(p, run, by.name, history);
    std::string request = build_request({by.model, prompt, catalog->json, p.config.max_output_tokens},
                                        shown_to_it ? *shown_to_it : history);
    if (refused_bytes != 0 && request.size() >= refused_bytes) co_return out;  // nothing left to shorten

    out.attempt = run->attempt_base + ++shown;
    ++tries;
    run->feed.append("llm_response_start")
        .integer("step", run->step + 1)
        .integer("attempt", out.attempt)
        .text("model", by.name);
    const std::uint64_t from = run->feed.last();
    run->deliver_soon();
    p.writers.of(run->exec).touch(run);
    release_history(*run);
    model_call call(p, run, by.provider, model_call::audience::readers);
    const ry_status begun = call.start(request);
    const std::size_t sent_bytes = request.size();
    const std::int64_t sent_tokens = run->messages_known ? 0 : estimate_tokens(request);
    request = {};
    if (begun == RY_OK) co_await call.finished();
    if (run->must_break()) {
      out.how = turn::end::interrupted;
      out.open = true;
      out.usage = call.usage();
      out.text = call.take_text();
      co_return out;
    }
    const ry_status st = begun != RY_OK ? begun : call.status();
    if (st == RY_OK) {
      out.how = turn::end::answered;
      out.open = true;
      out.usage = call.usage();
      out.text = call.take_text();
      out.reasoning = call.take_reasoning();
      out.calls = call.take_calls();
      co_return out;
    }

    out.error = call.error_text(st);
    const std::int64_t charge = charge_micro(p.config.price_of(by.name), call.usage());
    bill(*run, call.usage(), charge);
    if (st == RY_OUT_OF_RANGE && sent_tokens != 0 && narrowings < most_narrowings) {
      // The window is smaller than configured, or the estimate was wrong.
      ++narrowings;
      run->narrowed_window = std::min(window, sent_tokens) * 6 / 10;
      refused_bytes = sent_bytes;
      close_attempt(p, run, out, from, call.usage(), charge, "LLM_CONTEXT_TOO_LONG");
      continue;
    }
    failed_attempt f;
    f.status = st;
    f.retry_after_s = call.retry_after_s();
    f.tries = tries;
    f.max_tries = p.config.max_attempts;
    f.has_fallback = has_fallback;
    f.remaining_ms = (run->who.deadline_us - p.ctx.now_unix_us()) / 1000;
    f.random = any_number(p.ctx);
    const next_try next = after_failure(f);
    if (next.how == next_try::what::give_up) {
      close_attempt(p, run, out, from, call.usage(), charge, {});
      co_return out;
    }
    const bool other = next.how == next_try::what::next_model;
    close_attempt(p, run, out, from, call.usage(), charge, other ? "LLM_FALLBACK" : "LLM_RETRY");
    if (other) {
      ++run->answering;
      run->narrowed_window = 0;
      tries = 0;
      narrowings = 0;
      refused_bytes = 0;
      continue;
    }
    co_await interruptible_sleep(p.ctx, run, next.wait_ms);
    if (run->must_break() || run->why() == RY_WHY_SHUTDOWN) {
      out.how = turn::end::interrupted;
      co_return out;
    }
  }
}

}  // namespace runs
