#include "agent/tools/tool_foreign.hpp"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "agent/output_stream.hpp"
#include "agent/questions.hpp"
#include "agent/tools/tool_files.hpp"
#include "agent/tools/tool_scope.hpp"
#include "agent/tools/tool_source_text.hpp"

namespace runs {

namespace {

constexpr std::string_view too_many_requests = "the tool requested input too often";

bool answers_open_calls(const ry_agent_tools_v1* table) {
  return RY_HAS(table, ry_agent_tools_v1, answer) && table->answer != nullptr;
}

// Cancels a call when its time limit expires. Thread: the run's executor.
class time_limit {
 public:
  time_limit(const ry::context& ctx, ry_exec* exec, std::int64_t seconds, abortable& call)
      : state_(std::make_shared<state>()) {
    state_->call = &call;
    // If the timer cannot be started, the call runs without a limit.
    (void)ctx.spawn(wait(ctx, state_, static_cast<std::uint64_t>(seconds) * 1000), exec, state_->source.token());
  }
  time_limit(const time_limit&) = delete;
  ~time_limit() {
    state_->call = nullptr;
    state_->source.cancel(RY_REASON_USER);
  }
  bool expired() const { return state_->expired; }

 private:
  struct state {
    abortable* call = nullptr;
    bool expired = false;
    ry::cancel_source source;
  };
  static ry::task<void> wait(const ry::context& ctx, std::shared_ptr<state> s, std::uint64_t ms) {
    ry::result<void> elapsed = co_await ctx.sleep(ms);
    if (!elapsed || s->call == nullptr) co_return;
    s->expired = true;
    s->call->abort();
  }
  std::shared_ptr<state> state_;
};

// A call to an agent.tools/1 source. Lifetime: the frame that awaits it.
struct source_call : abortable {
  const ry_agent_tools_v1* table = nullptr;
  void* self = nullptr;
  void* call = nullptr;
  output_stream* out = nullptr;
  bool ended = false, resumed = false;
  bool unknown = false;  // the source does not know the resumed call
  tool_outcome outcome;
  std::vector<result_file> files;
  std::deque<std::string> requests;  // for input, which the open call waits for
  ry::signal done;  // the call has ended, or requests input

  void abort() noexcept override {
    if (!ended && call != nullptr) table->cancel(self, call);
  }
  static void on_output(void* ctx, ry_str text) noexcept {
    auto* c = static_cast<source_call*>(ctx);
    (void)ry::guard([&] { c->out->add(ry::view(text)); });
  }
  static void on_input(void* ctx, ry_str requests) noexcept {
    auto* c = static_cast<source_call*>(ctx);
    (void)ry::guard([&] { c->requests.push_back(ry::text(requests)); });
    c->done.set();
  }
  static void on_result(void* ctx, ry_status st, ry_str result, const ry_error_view* err) noexcept {
    auto* c = static_cast<source_call*>(ctx);
    const ry_status read = ry::guard([&] {
      if (st == RY_NOT_FOUND && c->resumed) {
        c->outcome = {std::string(unknown_call_outcome), true, {}};
        c->unknown = true;
        return;
      }
      if (st != RY_OK) {
        const std::string reason = err != nullptr ? ry::text(err->message) : ry::status_name(st);
        c->outcome = {"the tool could not be called: " + reason, true};
        return;
      }
      c->outcome = read_result(ry::view(result), &c->files);
    });
    if (read != RY_OK) c->outcome.is_error = true;
    c->ended = true;
    c->done.set();
  }
};

}  // namespace

ry::task<tool_outcome> call_source_tool(const ry::context& ctx, const settings& config, const repository& repo,
                                        event_log_writers& writers, const run_workspace& files,
                                        std::shared_ptr<live_run> run, const tool_catalog::tool& tool, tool_call call,
                                        call_kind kind, bool& unknown) {
  const auto driver = tool.driver;
  scope_texts scope(*run);
  const bool may_ask = may_request_input(config, *run);
  if (may_ask) scope.scope.flags |= RY_TOOLS_INPUT;
  scope.scope.input_json = ry::str(call.input);
  output_stream out(ctx, writers, run, call.id, output_stream::kind::progress);
  source_call state;
  state.table = driver->table;
  state.self = driver->self;
  state.out = &out;
  ry_tool_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = &source_call::on_output;
  sink.on_result = &source_call::on_result;
  if (may_ask && answers_open_calls(driver->table)) sink.on_input = &source_call::on_input;
  state.resumed = kind == call_kind::resumed;
  const auto begin = state.resumed ? driver->table->resume : driver->table->call;
  const ry_status st = begin(driver->self, &scope.scope, ry::str(call.id), ry::str(call.name), ry::str(call.arguments),
                             run->exec, &sink, &state, &state.call);
  if (st != RY_OK) co_return tool_outcome{std::string("the tool could not be called: ") + ry::status_name(st), true};
  {
    stop_state::working busy(run->stop, state);
    std::optional<time_limit> limit;
    if (!tool.own_time_limit) limit.emplace(ctx, run->exec, config.tool_timeout_seconds, state);
    while (!state.ended) {
      if (state.requests.empty()) {
        (void)co_await state.done.wait();
        continue;
      }
      const std::string requests = std::move(state.requests.front());
      state.requests.pop_front();
      auto input = read_open_requests(requests);
      if (!input || ++call.round > max_question_rounds) {
        state.abort();
        while (!state.ended) (void)co_await state.done.wait();
        state.outcome = {input ? std::string(too_many_requests) : "the tool's request for input was malformed", true};
        break;
      }
      // The time of the person does not count.
      limit.reset();
      const open_call open{tool, call, state.ended, state.done};
      const std::string answers = co_await ask_during_call(ctx, config, repo, writers, run, open, std::move(input));
      if (state.ended) break;
      state.table->answer(state.self, state.call, ry::str(answers));
      if (!tool.own_time_limit) limit.emplace(ctx, run->exec, config.tool_timeout_seconds, state);
    }
    if (state.outcome.input && !may_ask)
      state.outcome = {"the tool requested input, but this run cannot ask the person", true};
    if (state.outcome.input && call.round >= max_question_rounds)
      state.outcome = {std::string(too_many_requests), true};
    if (limit && limit->expired()) {
      state.outcome = {
          "the tool took longer than " + std::to_string(config.tool_timeout_seconds) + " seconds", true, {}};
      state.files.clear();
    }
  }
  out.end();
  // Files are stored before the result is committed, as with sandbox tools.
  if (!state.files.empty()) co_await store_result_files(ctx, config, files, run, std::move(state.files), state.outcome);
  unknown = state.unknown;
  co_return std::move(state.outcome);
}

bool resumes_calls(const tool_catalog::tool& tool) {
  return tool.driver && RY_HAS(tool.driver->table, ry_agent_tools_v1, resume) && tool.driver->table->resume != nullptr;
}

void notify_sources_of_end(const ry::drivers<ry_agent_tools_v1>& sources, const live_run& run, bool finished) {
  std::optional<scope_texts> scope;  // created only if a source implements ended()
  for (const auto& source : sources.all()) {
    if (!RY_HAS(source->table, ry_agent_tools_v1, ended) || source->table->ended == nullptr) continue;
    if (!scope) scope.emplace(run);
    source->table->ended(source->self, &scope->scope, finished ? 1 : 0);
  }
}

}  // namespace runs
