#include "run_metrics.hpp"

#include <vector>

#include "account_limits.hpp"

namespace runs {
namespace {

const std::vector<double> wait_bounds = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                         1,     2.5,   5,    10,    30,   60,  300,  1800};
const std::vector<double> response_bounds = {0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600};
const std::vector<double> run_bounds = {0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600};
const std::vector<double> tool_bounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600};

constexpr const char* tool_calls_help = "Tool calls of agents";
constexpr const char* tool_seconds_help = "Time from a tool call to its result";

}  // namespace

const char* provider_metrics::outcome_of(ry_status st) {
  switch (st) {
    case RY_OK:
      return "ok";
    case RY_RESOURCE_EXHAUSTED:
      return "rate_limited";
    case RY_DEADLINE_EXCEEDED:
      return "timeout";
    case RY_UNAVAILABLE:
      return "unavailable";
    case RY_OUT_OF_RANGE:
      return "too_long";
    case RY_DATA_LOSS:
      return "malformed";
    case RY_CANCELLED:
      return "interrupted";
    case RY_UNAUTHENTICATED:
    case RY_PERMISSION_DENIED:
    case RY_INVALID_ARGUMENT:
    case RY_NOT_FOUND:
      return "refused";
    default:
      return "error";
  }
}

run_metrics::run_metrics(const ry::context& ctx, const settings& s) : ctx_(ctx) {
  // Creates the series with value 0; account_limits.hpp increments them when a request is refused.
  for (const char* limit : account_limit_names) (void)ry::account_limit(ctx, limit);
  const ry::metrics m = ctx.metrics();
  live = m.gauge("live", "Runs that this node executes");
  queued = m.gauge("queued", "Runs of all nodes that wait for a slot");
  queue_wait =
      m.histogram("queue_wait_seconds", "Time from the start of a run to the start of its execution", {}, wait_bounds);
  first_token = m.histogram("first_token_seconds", "Time from the start of a run to the first chunk of an answer", {},
                            response_bounds);
  duration = m.histogram("duration_seconds", "Time from the start of a run to its end", {}, run_bounds);
  starts = counters({"here", "queued", "waiting", "joined", "replayed", "no_account", "prompt_required", "key_reused",
                     "thread_not_found", "project_not_found", "agent_not_found", "model_denied", "no_credits",
                     "thread_limit", "run_limit", "thread_busy", "prompts_full", "queue_full"},
                    [&](const char* outcome) {
                      return m.counter("starts_total", "Start requests", {{"outcome", outcome}});
                    });
  ended = counters(
      {"ok", "tool_calls", "user_stop", "timeout", "crashed", "step_limit", "credits", "budget", "llm_error",
       "tool_error", "length", "content_filter", "refusal", "no_answer", "output_invalid"},
      [&](const char* reason) {
        const std::string_view r = reason;
        const char* status = r == "ok" || r == "tool_calls" ? "completed" : r == "user_stop" ? "stopped" : "failed";
        return m.counter("ended_total", "Runs that ended on this node", {{"status", status}, {"reason", reason}});
      });
  stops = counters({"worker", "forced", "over"}, [&](const char* outcome) {
    return m.counter("stops_total", "Stop requests", {{"outcome", outcome}});
  });
  claimed = counters({"lease_expired", "released"}, [&](const char* after) {
    return m.counter("claimed_total", "Runs that this node continued", {{"after", after}});
  });
  released = counters({"released", "lost", "requeued", "parked"}, [&](const char* reason) {
    return m.counter("released_total", "Runs that this node released before their end", {{"reason", reason}});
  });
  streams = m.gauge("streams", "Open streams of runs");
  stream_events = m.counter("stream_events_total", "Events sent to streams");
  stream_gaps = m.counter("stream_gaps_total", "Gaps reported to streams because events were trimmed");
  for (const provider_settings& p : s.providers) {
    provider_metrics& f = providers_[p.name];
    const ry::headers of{{"provider", p.name}};
    f.requests = counters(
        {"ok", "rate_limited", "timeout", "unavailable", "too_long", "malformed", "interrupted", "refused", "error"},
        [&](const char* outcome) {
          return m.counter("model_requests_total", "Completed requests to models",
                           {{"provider", p.name}, {"outcome", outcome}});
        });
    f.seconds = m.histogram("model_request_seconds", "Time from a request to a model to the end of its answer", of,
                            response_bounds);
    const auto retries = [&](const char* next) {
      return m.counter("model_retries_total", "Failed attempts that were followed by another one",
                       {{"provider", p.name}, {"next", next}});
    };
    f.same_again = retries("same_model");
    f.next_model = retries("next_model");
    const auto tokens = [&](const char* kind) {
      return m.counter("model_tokens_total", "Tokens as providers count them", {{"provider", p.name}, {"kind", kind}});
    };
    f.input = tokens("input");
    f.output = tokens("output");
    f.cached = tokens("cached");
  }
  for (const char* outcome : {"ok", "error", "interrupted"})
    (void)m.counter("tool_calls_total", tool_calls_help, {{"driver", "sandbox"}, {"outcome", outcome}});
  (void)m.histogram("tool_seconds", tool_seconds_help, {{"driver", "sandbox"}}, tool_bounds);
}

const provider_metrics& run_metrics::provider(std::string_view name) const {
  static const provider_metrics no_metrics;
  const auto found = providers_.find(name);
  return found == providers_.end() ? no_metrics : found->second;
}

void run_metrics::tool_call(std::string_view driver, std::string_view outcome, double seconds) const {
  const ry::metrics m = ctx_.metrics();
  const std::string of(driver);
  m.counter("tool_calls_total", tool_calls_help, {{"driver", of}, {"outcome", std::string(outcome)}}).add();
  m.histogram("tool_seconds", tool_seconds_help, {{"driver", of}}, tool_bounds).observe(seconds);
}

}  // namespace runs
