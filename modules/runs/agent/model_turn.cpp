#include "agent/model_turn.hpp"

#include <algorithm>
#include <cstring>

#include "agent/checkpoint.hpp"
#include "agent/compaction.hpp"
#include "agent/context.hpp"
#include "agent/history.hpp"
#include "agent/image_scaler.hpp"
#include "agent/loop_turn.hpp"
#include "agent/model_call.hpp"
#include "agent/pictures.hpp"
#include "agent/retry.hpp"
#include "agent/tools/tool_offer.hpp"
#include "llm/common/output_instruction.hpp"
#include "module_context.hpp"
#include "run/waiting.hpp"
#include "text.hpp"

namespace runs {
namespace {

using run_ptr = std::shared_ptr<live_run>;

constexpr int max_window_reductions = 2;

ry::task<std::string> read_system_prompt(const ry::service<ry_agents_v1>& agents, const settings& config, run_ptr run) {
  const std::string account = run->who.account.to_string(), agent = run->who.agent.to_string();
  ry::result<std::string> system = co_await ry::call<std::string, const ry_agent_view*>(
      [&](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return agents->get(agents.self(), ry::str(account), ry::str(agent), run->who.agent_version, exec, fn, ctx);
      },
      [](const ry_agent_view* a) { return ry::text(a->system_prompt); });
  // If the agent was deleted while its run continues, the deployment's prompt is used. On any other error the model is
  // not called.
  if (!system && system.error().status() != RY_NOT_FOUND) throw system.error();
  std::string prompt = system ? std::move(*system) : std::string();
  if (prompt.empty()) prompt = config.system_prompt;
  co_return prompt_in_mode(std::move(prompt), run->who.mode, config.code_instructions);
}

// Limit for the instructions of all tool sources: an eighth of the model's window, at four bytes per token.
std::size_t max_instructions(std::int64_t window_tokens) {
  constexpr std::int64_t max_bytes = 32 * 1024;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(window_tokens / 2, 0, max_bytes));
}

std::string unless_blank(std::string text) {
  return is_blank(text) ? std::string() : std::move(text);
}

std::uint32_t random_number(const ry::context& ctx) {
  const ry::uuid id = ctx.new_uuid();
  std::uint32_t n;
  std::memcpy(&n, id.bytes + 12, sizeof n);
  return n;
}

// Records the usage of a failed attempt, which is free of charge, and tells clients to drop its output.
void close_attempt(event_log_writers& writers, run_ptr run, const turn& t, std::uint64_t from, const token_usage& usage,
                   std::string_view code) {
  bill(*run, usage, 0);
  const auto to = static_cast<std::int64_t>(run->events.buffer.last());
  {
    event_text aborted = run->events.buffer.append("turn_aborted");
    aborted.integer("step", run->progress.step + 1)
        .integer("attempt", t.attempt)
        .integer("from_sequence", static_cast<std::int64_t>(from))
        .integer("to_sequence", to);
    if (usage.input != 0 || usage.output != 0)
      aborted.json("usage", usage_json(usage)).json("credits", credits_text(0));
  }
  if (!code.empty())
    run->events.buffer.append("error").text("message", t.error).text("error_code", code).boolean("recoverable", true);
  run->events.deliver_soon();
  writers.of(run->exec).touch(run);
}

// The parameters of a request. A forced tool call applies only to the run's first answer: otherwise the model could
// never give its final answer.
model_parameters parameters_for(live_run& run, const settings& config, const std::string& model,
                                const tool_catalog& catalog) {
  model_parameters out = merged(run.who.parameters, config.options_of(model));
  if (!demands_call(out)) {
    if (catalog.tools.empty()) out.tool_choice.clear();
    return out;
  }
  const std::string tool = named_tool(out);
  if (catalog.tools.empty() || (!tool.empty() && catalog.find(tool) == nullptr)) {
    if (run.progress.step == 0)
      append_notice(run, "parameter_skipped", "tool_choice was omitted: the run has no such tool");
    out.tool_choice.clear();
  } else if (run.progress.step > 0) {
    out.tool_choice.clear();
  }
  return out;
}

// A complete model request. It is built in a separate step, so that its inputs do not stay in memory during the answer.
struct prepared_request {
  // unknown: the provider is not configured or loaded. lost, interrupted, unaffordable: see turn.
  enum class end { ready, unknown, lost, interrupted, unaffordable } result = end::unknown;
  provider_set::handle provider;
  std::string request;
  std::int64_t window = 0;  // of the model, in tokens
};

ry::task<void> prepare_request(module_context& p, run_ptr run, catalog_ptr catalog, const std::string& model,
                               prepared_request& out) {
  selected_model selected;
  selected.name = model;
  const std::optional<model_target> target = p.config.target(selected.name);
  if (target) selected.provider = p.providers.find(target->provider);
  if (!selected.provider) co_return;
  selected.provider_model = target->model;
  std::string prompt;
  if (run->who.options && !run->who.options->system.empty())
    prompt = run->who.options->system;
  else
    prompt = co_await read_system_prompt(p.agents, p.config, run);
  out.window = run->progress.narrowed_window != 0 ? run->progress.narrowed_window : p.config.window_of(selected.name);
  if (run->who.options && !run->who.options->instructions.empty()) {
    if (!prompt.empty()) prompt += "\n\n";
    prompt += run->who.options->instructions;
  }
  std::string_view output_schema = run->who.options ? std::string_view(run->who.options->output_schema) : "";
  if (!output_schema.empty() && selected.provider->limits(selected.provider_model).output_schema == 0) {
    if (!prompt.empty()) prompt += "\n\n";
    prompt += llm::output_instruction(output_schema);
    output_schema = {};
  }
  prompt += instructions_section(catalog->instructions, max_instructions(out.window));
  model_parameters parameters = parameters_for(*run, p.config, selected.name, *catalog);
  const std::int64_t max_output = parameters.max_output_tokens.value_or(0);
  parameters.max_output_tokens.reset();
  const std::string extra_members = members_of(parameters);
  const tool_offer tools = co_await offer_tools(p.ctx, p.config, p.repo, p.writers, run, catalog, selected.name,
                                                selected.provider, selected.provider_model, named_tool(parameters));
  if (tools.result == tool_offer::end::interrupted) {
    out.result = prepared_request::end::interrupted;
    co_return;
  }
  const std::int64_t room =
      room_for_messages(out.window, max_output, prompt, tools.json) - estimate_tokens(output_schema);
  const fitted fit = co_await fit_history(p, run, selected, room);
  if (fit.result != fitted::end::fits) {
    out.result = fit.result == fitted::end::lost ? prepared_request::end::lost : prepared_request::end::interrupted;
    co_return;
  }
  if (may_spend(p.config, *run, spending_step::ask_model) != budget_verdict::allowed) {
    out.result = prepared_request::end::unaffordable;
    co_return;
  }
  const std::vector<chat_message>& history = fit.shortened ? *fit.shortened : run->progress.messages;
  image_scaler scaler(p.ctx, p.config, p.extract, p.commands, p.images, p.writers, run,
                      selected.provider->limits(selected.provider_model));
  const std::optional<std::vector<chat_message>> with_images =
      co_await show_pictures(p.ctx, p.config, p.sandboxes, p.files, run, selected.name, scaler, history);
  const auto build = [&] {
    return build_request({selected.provider_model, prompt, tools.json, max_output, extra_members, output_schema},
                         with_images ? *with_images : history);
  };
  std::uint64_t bytes = 0;
  if (with_images)
    for (const chat_message& m : *with_images) bytes += m.body.size();
  if (bytes > max_bytes_per_loop_turn) {
    out.request = co_await p.ctx.run_blocking(build);
  } else {
    out.request = build();
  }
  out.provider = std::move(selected.provider);
  out.result = prepared_request::end::ready;
}

}  // namespace

ry::task<void> ask_model(module_context& p, run_ptr run, catalog_ptr catalog, bool continues, turn& out) {
  out = {};
  const std::vector<std::string> chain = p.config.chain(run->who.model);
  std::int64_t attempts = 0, tries = 0;
  int window_reductions = 0;
  bool was_empty = false;  // an earlier answer of this model was empty
  std::size_t too_long_bytes = 0;  // size of the request that exceeded the context window
  // If a fallback model answered the previous steps, start with it.
  run->progress.answering = std::min(run->progress.answering, chain.size() - 1);
  for (;;) {
    const bool has_fallback = run->progress.answering + 1 < chain.size();
    out.model = chain[run->progress.answering];
    prepared_request q;
    co_await prepare_request(p, run, catalog, out.model, q);
    if (q.result == prepared_request::end::unknown) {
      out.error = "The model \"" + out.model + "\" names no provider that is configured and loaded";
      if (!has_fallback) co_return;
      ++run->progress.answering;
      run->progress.narrowed_window = 0;
      continue;
    }
    if (q.result != prepared_request::end::ready) {
      out.result = q.result == prepared_request::end::lost           ? turn::end::lost
                   : q.result == prepared_request::end::unaffordable ? turn::end::unaffordable
                                                                     : turn::end::interrupted;
      co_return;
    }
    if (too_long_bytes != 0 && q.request.size() >= too_long_bytes) co_return;  // nothing left to shorten

    out.attempt = run->progress.attempt_base + ++attempts;
    ++tries;
    run->events.buffer.append("llm_response_start")
        .integer("step", run->progress.step + 1)
        .integer("attempt", out.attempt)
        .text("model", out.model);
    const std::uint64_t from = run->events.buffer.last();
    run->events.deliver_soon();
    p.writers.of(run->exec).touch(run);
    release_history(*run);
    model_call call(p.ctx, p.metrics, p.sinks, p.writers, run, q.provider, model_call::audience::clients);
    const ry_status start_status = call.start(q.request);
    const std::size_t sent_bytes = q.request.size();
    const std::int64_t sent_tokens = run->progress.messages_known ? 0 : estimate_tokens(q.request);
    ry::give_back(q.request);
    if (start_status == RY_OK) co_await call.finished();
    if (run->stop.must_break()) {
      out.result = turn::end::interrupted;
      out.open = true;
      out.usage = call.usage();
      out.text = unless_blank(call.take_text());
      co_return;
    }
    const ry_status st = start_status != RY_OK ? start_status : call.status();
    if (st == RY_OK) {
      out.text = unless_blank(call.take_text());
      out.calls = call.take_calls();
      out.finish = call.finish();
      out.meaning = judge_answer({out.finish, !out.text.empty(), !out.calls.empty(), continues});
      if (out.meaning == outcome::empty && !was_empty) {
        was_empty = true;
        out.error = "The model gave an empty answer";
        p.metrics.provider(q.provider->name).same_again.add();
        close_attempt(p.writers, run, out, from, call.usage(), "LLM_RETRY");
        continue;
      }
      out.result = turn::end::answered;
      out.open = true;
      out.usage = call.usage();
      out.reasoning = call.take_reasoning();
      co_return;
    }

    out.error = call.error_text(st);
    if (st == RY_OUT_OF_RANGE && sent_tokens != 0 && window_reductions < max_window_reductions) {
      // The window is smaller than configured, or the estimate was wrong.
      ++window_reductions;
      run->progress.narrowed_window = std::min(q.window, sent_tokens) * 6 / 10;
      too_long_bytes = sent_bytes;
      close_attempt(p.writers, run, out, from, call.usage(), "LLM_CONTEXT_TOO_LONG");
      continue;
    }
    failed_attempt f;
    f.status = st;
    f.retry_after_s = call.retry_after_s();
    f.tries = tries;
    f.max_tries = p.config.max_attempts;
    f.has_fallback = has_fallback;
    f.remaining_ms = (run->who.deadline_us - p.ctx.mono_us()) / 1000;
    f.random = random_number(p.ctx);
    const next_try next = after_failure(f);
    if (next.action == next_try::action_kind::stop) {
      close_attempt(p.writers, run, out, from, call.usage(), {});
      co_return;
    }
    const bool other = next.action == next_try::action_kind::next_model;
    const provider_metrics& count = p.metrics.provider(q.provider->name);
    (other ? count.next_model : count.same_again).add();
    close_attempt(p.writers, run, out, from, call.usage(), other ? "LLM_FALLBACK" : "LLM_RETRY");
    if (other) {
      ++run->progress.answering;
      run->progress.narrowed_window = 0;
      tries = 0;
      window_reductions = 0;
      was_empty = false;
      too_long_bytes = 0;
      continue;
    }
    co_await interruptible_sleep(p.ctx, run, next.wait_ms);
    if (run->stop.must_break() || run->stop.reason() == RY_REASON_SHUTDOWN) {
      out.result = turn::end::interrupted;
      co_return;
    }
  }
}

}  // namespace runs
