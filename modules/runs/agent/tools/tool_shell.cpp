#include "agent/tools/tool_shell.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "account_limits.hpp"
#include "agent/output_stream.hpp"
#include "agent/tools/tool_catalog.hpp"
#include "agent/tools/tool_source_text.hpp"
#include "json/members.hpp"
#include "module_context.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

// A sandboxed command. Lifetime: the frame that awaits it.
struct command_run : abortable {
  const ry_sandbox_driver_v1* table = nullptr;
  void* self = nullptr;
  void* call = nullptr;
  output_stream* out = nullptr;
  std::string text;
  std::size_t omitted_bytes = 0;
  ry_status status = RY_OK;
  ry_sandbox_exit exit{};
  bool measured = false;  // the exit reports the size of the workspace
  std::string message;
  ry::signal done;

  void abort() noexcept override {
    if (call != nullptr) table->cancel(self, call);
  }
  static void on_output(void* ctx, std::int32_t, ry_bytes bytes) noexcept {
    auto* c = static_cast<command_run*>(ctx);
    (void)ry::guard([&] {
      const std::string_view piece = ry::view(bytes);
      // Keeps more than the model receives, so that the end of a long output is preserved.
      if (c->text.size() < 4 * max_result_bytes)
        c->text += piece;
      else
        c->omitted_bytes += piece.size();
      c->out->add(piece);
    });
  }
  static void on_exit(void* ctx, ry_status st, const ry_sandbox_exit* end, const ry_error_view* err) noexcept {
    auto* c = static_cast<command_run*>(ctx);
    c->call = nullptr;
    c->status = st;
    if (end != nullptr) {
      c->measured = RY_HAS(end, ry_sandbox_exit, workspace_files);
      std::memcpy(&c->exit, end, std::min<std::size_t>(end->struct_size, sizeof c->exit));
    }
    (void)ry::guard([&] {
      if (err != nullptr) c->message = ry::text(err->message);
    });
    c->done.set();
  }
};

}  // namespace

ry::task<tool_outcome> run_shell(module_context& p, std::shared_ptr<live_run> run,
                                 ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string id,
                                 json::object arguments) {
  const std::string command = module_json::text_of(arguments, "command");
  if (command.empty()) co_return tool_outcome{"the argument \"command\" is missing", true};
  if (command.find('\0') != std::string::npos) co_return tool_outcome{"the command contains a NUL character", true};
  output_stream out(p.ctx, p.writers, run, std::move(id), output_stream::kind::output);
  command_run state;
  state.table = driver->table;
  state.self = driver->self;
  state.out = &out;
  const ry_str argv[] = {ry::str("/bin/sh"), ry::str("-c"), ry::str(command)};
  ry_sandbox_command spec{};
  spec.struct_size = sizeof spec;
  spec.argv = argv;
  spec.n_argv = 3;
  const std::int64_t seconds = std::clamp<std::int64_t>(module_json::integer_at(arguments, "timeout_seconds", 0), 0,
                                                        p.config.tool_timeout_seconds);
  spec.wall_ms = static_cast<std::uint64_t>(seconds) * 1000;
  ry_sandbox_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = &command_run::on_output;
  sink.on_exit = &command_run::on_exit;
  const std::string project = run->who.project.to_string(), account = run->who.account.to_string();
  spec.account = ry::str(account);
  const command_semaphore::place permit = co_await p.commands.take(run);
  if (!permit) co_return tool_outcome{"the command was cancelled before it started", true};
  // Read after the wait, because other commands of the account may have written meanwhile.
  const ry::result<workspace_quota::allowance> allowance =
      co_await p.quota.for_command(run->who.account, run->who.project);
  if (!allowance) co_return tool_outcome{"the command could not be started: the database did not respond", true};
  spec.workspace_bytes = allowance->bytes;
  spec.workspace_files = allowance->files;
  const ry_status st = driver->table->run(driver->self, ry::str(project), &spec, run->exec, &sink, &state, &state.call);
  if (st == RY_RESOURCE_EXHAUSTED)
    co_return tool_outcome{
        "the command was not started: the server's disk is nearly full or it is nearly out of memory. Try again later",
        true};
  if (st != RY_OK) co_return tool_outcome{"the sandbox could not run the command", true};
  {
    stop_state::working busy(run->stop, state);
    // The state lives in this frame: leave only after on_exit.
    while (state.call != nullptr) (void)co_await state.done.wait();
  }
  out.end();
  if (state.measured && state.exit.workspace_bytes != UINT64_MAX)
    co_await p.quota.note(run->who.project, state.exit.workspace_bytes, state.exit.workspace_files);
  if (state.measured && state.exit.why == RY_REASON_OVERLOAD && state.exit.workspace_bytes != UINT64_MAX) {
    if (state.exit.workspace_bytes > allowance->bytes) count_workspace_limit(p.ctx, "account_bytes");
    if (state.exit.workspace_files > allowance->files) count_workspace_limit(p.ctx, "account_files");
  }
  if (state.status != RY_OK) co_return tool_outcome{"the sandbox failed: " + state.message, true};
  std::string text = std::move(state.text);
  const std::uint64_t dropped = state.exit.dropped_bytes + state.omitted_bytes;
  if (dropped != 0) text += "\n[" + std::to_string(dropped) + " more bytes of output were dropped]";
  text = shorten(text, max_result_bytes);
  if (state.exit.why == RY_REASON_DEADLINE)
    text += "\n[the command was terminated because it exceeded its time limit]";
  else if (state.exit.why == RY_REASON_OVERLOAD)
    text += "\n[the command was terminated because it exceeded a resource limit]";
  else if (state.exit.why == RY_REASON_USER)
    text += "\n[the command was cancelled]";
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "[exit code " + std::to_string(state.exit.exit_code) + "]";
  co_return tool_outcome{std::move(text), state.exit.exit_code != 0};
}

}  // namespace runs
