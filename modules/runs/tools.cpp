#include "tools.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "account_limits.hpp"
#include "border.hpp"
#include "history.hpp"
#include "json_members.hpp"
#include "model_call.hpp"
#include "output_stream.hpp"
#include "path_lookup.hpp"
#include "text.hpp"
#include "tool_offer.hpp"
#include "workspace_write.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::string_view replaced_note =
    "[The workspace was removed or replaced from outside during this run: changes since the last step are lost.]";
constexpr std::uint64_t most_read_bytes = 256 * 1024;
constexpr std::uint64_t first_list_pause_ms = 100, last_list_pause_ms = 400;

constexpr std::string_view sandbox_tools = R"json([
{"name":"shell","description":"Runs a command with /bin/sh in the sandbox. The working directory is /workspace, which keeps its files between calls. There is no network. Returns the output and the exit code.","parameters":{"type":"object","properties":{"command":{"type":"string","description":"The command line"},"timeout_seconds":{"type":"integer","minimum":1,"description":"Ends the command after this time; default 120"}},"required":["command"]}},
{"name":"read_file","description":"Reads a text file of the workspace. Uploaded files are under uploads/.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Relative to /workspace"},"offset":{"type":"integer","minimum":0,"description":"First byte"},"limit":{"type":"integer","minimum":1,"description":"Maximum number of bytes"}},"required":["path"]}},
{"name":"write_file","description":"Writes a file of the workspace as a whole; missing directories are created.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Relative to /workspace"},"content":{"type":"string"}},"required":["path","content"]}},
{"name":"list_files","description":"Lists a directory of the workspace.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Relative to /workspace; default: the workspace itself"}}}}
])json";

// Models write "/workspace/a.txt" as often as "a.txt".
std::string relative_path(std::string path) {
  for (std::string_view prefix : {"/workspace/", "./"})
    if (path.starts_with(prefix)) path.erase(0, prefix.size());
  if (path == "/workspace" || path == ".") path.clear();
  return path;
}

// Whether an existing file may be meant that has a special blank or another normalisation in its name.
bool may_be_typed_differently(std::string_view path) {
  return std::any_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80 || c == ' ' || c == '\'' || c == '"'; });
}

// A sandboxed command; lives in the frame that waits for it.
struct command_run : abortable {
  const ry_sandbox_driver_v1* table = nullptr;
  void* self = nullptr;
  void* call = nullptr;
  output_stream* out = nullptr;
  std::string text;
  std::size_t left_out = 0;
  ry_status status = RY_OK;
  ry_sandbox_exit exit{};
  bool measured = false;  // the exit says what the workspace takes
  std::string message;
  ry::signal done;

  void abort() noexcept override {
    if (call != nullptr) table->cancel(self, call);
  }
  static void on_output(void* ctx, std::int32_t, ry_bytes bytes) noexcept {
    auto* c = static_cast<command_run*>(ctx);
    (void)ry::guard([&] {
      const std::string_view piece = ry::view(bytes);
      // Twice what the model gets, so that the end of a long output is still the end.
      if (c->text.size() < 4 * most_result_bytes)
        c->text += piece;
      else
        c->left_out += piece.size();
      c->out->add(piece);
    });
  }
  static void on_exit(void* ctx, ry_status st, const ry_sandbox_exit* end,
                      const ry_error_view* err) noexcept {
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

ry::task<tool_outcome> run_shell(parts& p, std::shared_ptr<live_run> run,
                                 ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string id,
                                 json::object arguments) {
  const std::string command = text_of(arguments, "command");
  if (command.empty()) co_return tool_outcome{"the argument \"command\" is missing", true};
  if (command.find('\0') != std::string::npos)
    co_return tool_outcome{"the command contains a NUL character", true};
  output_stream out(p, run, std::move(id), output_stream::kind::output);
  command_run state;
  state.table = driver->table;
  state.self = driver->self;
  state.out = &out;
  const ry_str argv[] = {ry::str("/bin/sh"), ry::str("-c"), ry::str(command)};
  ry_sandbox_command spec{};
  spec.struct_size = sizeof spec;
  spec.argv = argv;
  spec.n_argv = 3;
  const std::int64_t seconds = std::clamp<std::int64_t>(int_of(arguments, "timeout_seconds", 0), 0,
                                                        p.config.tool_timeout_seconds);
  spec.wall_ms = static_cast<std::uint64_t>(seconds) * 1000;
  ry_sandbox_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = &command_run::on_output;
  sink.on_exit = &command_run::on_exit;
  const std::string project = run->who.project.to_string(), account = run->who.account.to_string();
  spec.account = ry::str(account);
  const sandbox_places::place mine = co_await p.commands.take(run);
  if (!mine) co_return tool_outcome{"the command was cancelled before it started", true};
  // After the wait, in which other commands of the account may have written.
  const ry::result<workspace_quota::allowance> may = co_await p.quota.for_command(run->who.account, run->who.project);
  if (!may) co_return tool_outcome{"the command could not be started: the database did not respond", true};
  spec.workspace_bytes = may->bytes;
  spec.workspace_files = may->files;
  const ry_status st = driver->table->run(driver->self, ry::str(project), &spec, run->exec, &sink, &state,
                                          &state.call);
  if (st == RY_RESOURCE_EXHAUSTED)
    co_return tool_outcome{"the command was not started: the server's disk is nearly full or its memory is nearly used up. Try again later", true};
  if (st != RY_OK) co_return tool_outcome{"the sandbox could not run the command", true};
  {
    live_run::working busy(*run, state);
    // The state lives in this frame: leave only after on_exit.
    while (state.call != nullptr) (void)co_await state.done.wait();
  }
  out.end();
  if (state.measured && state.exit.workspace_bytes != UINT64_MAX)
    co_await p.quota.note(run->who.project, state.exit.workspace_bytes, state.exit.workspace_files);
  if (state.measured && state.exit.why == RY_WHY_OVERLOAD && state.exit.workspace_bytes != UINT64_MAX) {
    if (state.exit.workspace_bytes > may->bytes) count_workspace_limit(p.ctx, "account_bytes");
    if (state.exit.workspace_files > may->files) count_workspace_limit(p.ctx, "account_files");
  }
  if (state.status != RY_OK)
    co_return tool_outcome{"the sandbox failed: " + state.message, true};
  std::string text = std::move(state.text);
  const std::uint64_t dropped = state.exit.dropped_bytes + state.left_out;
  if (dropped != 0) text += "\n[" + std::to_string(dropped) + " more bytes of output were dropped]";
  text = shorten(text, most_result_bytes);
  if (state.exit.why == RY_WHY_DEADLINE)
    text += "\n[the command was ended because it exceeded its time limit]";
  else if (state.exit.why == RY_WHY_OVERLOAD)
    text += "\n[the command was ended because it exceeded a resource limit]";
  else if (state.exit.why == RY_WHY_USER)
    text += "\n[the command was cancelled]";
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "[exit code " + std::to_string(state.exit.exit_code) + "]";
  co_return tool_outcome{std::move(text), state.exit.exit_code != 0};
}

ry::task<tool_outcome> run_read(std::shared_ptr<live_run> run,
                                ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                json::object arguments) {
  struct read {
    std::string bytes;
    std::uint64_t total = 0;
  };
  const std::string project = run->who.project.to_string();
  std::string path = relative_path(text_of(arguments, "path"));
  const auto offset = static_cast<std::uint64_t>(std::max<std::int64_t>(int_of(arguments, "offset", 0), 0));
  const auto limit = std::min<std::uint64_t>(
      static_cast<std::uint64_t>(std::max<std::int64_t>(int_of(arguments, "limit", most_read_bytes), 1)),
      most_read_bytes);
  const auto read_it = [&] {
    return ry::call<read, ry_bytes, std::uint64_t>(
        [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
          return driver->table->read_file(driver->self, ry::str(project), ry::str(path), offset, limit,
                                          exec, fn, ctx);
        },
        [](ry_bytes content, std::uint64_t total) { return read{ry::text(content), total}; });
  };
  ry::result<read> got = co_await read_it();
  if (got.status() == RY_NOT_FOUND) {
    ry::result<std::string> similar = co_await find_path(lister_of(driver, project), path);
    if (similar.status() == RY_FAILED_PRECONDITION) co_return tool_outcome{std::string(similar.error().message()), true};
    if (similar && *similar != path) {
      path = *std::move(similar);
      got = co_await read_it();
    }
  }
  if (!got) co_return tool_outcome{std::string(got.error().message()), true};
  std::string text = shorten(got->bytes, most_result_bytes);
  if (offset + got->bytes.size() < got->total)
    text += "\n[" + std::to_string(got->total - offset - got->bytes.size()) +
            " more bytes: continue with offset " + std::to_string(offset + got->bytes.size()) + "]";
  co_return tool_outcome{std::move(text), false};
}

ry::task<tool_outcome> run_write(parts& p, std::shared_ptr<live_run> run, json::object arguments) {
  const json::value* content = arguments.if_contains("content");
  if (content == nullptr || !content->is_string())
    co_return tool_outcome{"the argument \"content\" is missing", true};
  std::string path = relative_path(text_of(arguments, "path"));
  const auto driver = p.sandbox();
  if (driver && may_be_typed_differently(path)) {
    ry::result<std::string> similar = co_await find_path(lister_of(driver, run->who.project.to_string()), path, path_use::may_be_new);
    if (similar.status() == RY_FAILED_PRECONDITION) co_return tool_outcome{std::string(similar.error().message()), true};
    // Other errors are those of the write itself.
    if (similar) path = *std::move(similar);
  }
  const std::string bytes(content->as_string());
  ry::result<void> done = co_await write_workspace_file(p, run, path, bytes);
  if (!done) co_return tool_outcome{std::string(done.error().message()), true};
  co_return tool_outcome{"wrote " + std::to_string(bytes.size()) + " bytes to " + path, false};
}

ry::task<tool_outcome> run_list(std::shared_ptr<live_run> run,
                                ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                json::object arguments) {
  const std::string path = relative_path(text_of(arguments, "path"));
  const directory_lister list = lister_of(driver, run->who.project.to_string());
  ry::result<std::string> entries = co_await list(path);
  if (entries.status() == RY_NOT_FOUND && !path.empty()) {
    ry::result<std::string> similar = co_await find_path(list, path);
    if (similar.status() == RY_FAILED_PRECONDITION) co_return tool_outcome{std::string(similar.error().message()), true};
    if (similar && *similar != path) entries = co_await list(*similar);
  }
  if (!entries) co_return tool_outcome{std::string(entries.error().message()), true};
  std::string text;
  boost::system::error_code bad;
  const json::value parsed = json::parse(*entries, bad);
  if (!bad && parsed.is_array()) {
    for (const json::value& v : parsed.as_array()) {
      if (!v.is_object()) continue;
      const json::object& e = v.as_object();
      const std::string kind = text_of(e, "kind");
      text += text_of(e, "name") + (kind == "dir" ? "/" : "");
      if (kind == "file")
        text += "  " + size_text(static_cast<std::uint64_t>(int_of(e, "size", 0)));
      text += "\n";
    }
  }
  co_return tool_outcome{text.empty() ? "(empty)" : shorten(text, most_result_bytes), false};
}

// Calls work off when its time is over. On the run's executor.
class time_limit {
 public:
  time_limit(const ry::context& ctx, ry_exec* exec, std::int64_t seconds, abortable& what)
      : state_(std::make_shared<state>()) {
    state_->what = &what;
    // Without a waiter the limit is lost, the call is not.
    (void)ctx.spawn(wait(ctx, state_, static_cast<std::uint64_t>(seconds) * 1000), exec,
                    state_->source.token());
  }
  time_limit(const time_limit&) = delete;
  ~time_limit() {
    state_->what = nullptr;
    state_->source.cancel(RY_WHY_USER);
  }
  bool reached() const { return state_->reached; }

 private:
  struct state {
    abortable* what = nullptr;
    bool reached = false;
    ry::cancel_source source;
  };
  static ry::task<void> wait(const ry::context& ctx, std::shared_ptr<state> s, std::uint64_t ms) {
    ry::result<void> slept = co_await ctx.sleep(ms);
    if (!slept || s->what == nullptr) co_return;
    s->reached = true;
    s->what->abort();
  }
  std::shared_ptr<state> state_;
};

// A call to an agent.tools/1 source; lives in the frame that waits for it.
struct foreign_run : abortable {
  const ry_agent_tools_v1* table = nullptr;
  void* self = nullptr;
  void* call = nullptr;
  output_stream* out = nullptr;
  bool ended = false, resumed = false;
  bool unknown = false;  // its source knows nothing of the call that is resumed
  tool_outcome outcome;
  std::vector<result_file> files;
  ry::signal done;

  void abort() noexcept override {
    if (!ended && call != nullptr) table->cancel(self, call);
  }
  static void on_output(void* ctx, ry_str text) noexcept {
    auto* c = static_cast<foreign_run*>(ctx);
    (void)ry::guard([&] { c->out->add(ry::view(text)); });
  }
  static void on_result(void* ctx, ry_status st, ry_str result, const ry_error_view* err) noexcept {
    auto* c = static_cast<foreign_run*>(ctx);
    const ry_status read = ry::guard([&] {
      if (st == RY_NOT_FOUND && c->resumed) {
        c->outcome = {std::string(unknown_outcome), true, {}};
        c->unknown = true;
        return;
      }
      if (st != RY_OK) {
        const std::string why = err != nullptr ? ry::text(err->message) : ry::status_name(st);
        c->outcome = {"the tool could not be called: " + why, true};
        return;
      }
      c->outcome = read_result(ry::view(result), &c->files);
    });
    if (read != RY_OK) c->outcome.is_error = true;
    c->ended = true;
    c->done.set();
  }
};

struct scope_texts {
  explicit scope_texts(const live_run& run)
      : account(run.who.account.to_string()),
        agent(run.who.agent.to_string()),
        project(run.who.project.to_string()),
        thread(run.who.thread.to_string()),
        id(run.who.run.to_string()) {
    scope.struct_size = sizeof scope;
    scope.agent_version = run.who.agent_version;
    scope.account_id = ry::str(account);
    scope.agent_id = ry::str(agent);
    scope.project_id = ry::str(project);
    scope.thread_id = ry::str(thread);
    scope.run_id = ry::str(id);
    scope.flags = run.had_worker ? RY_TOOLS_TAKEN_OVER : 0;
  }
  std::string account, agent, project, thread, id;
  ry_tools_scope scope{};
};

ry::task<tool_outcome> run_foreign(parts& p, std::shared_ptr<live_run> run,
                                   const tool_catalog::tool& tool, tool_call call, call_kind how, bool& unknown) {
  const auto driver = tool.driver;
  const scope_texts scope(*run);
  output_stream out(p, run, call.id, output_stream::kind::progress);
  foreign_run state;
  state.table = driver->table;
  state.self = driver->self;
  state.out = &out;
  ry_tool_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = &foreign_run::on_output;
  sink.on_result = &foreign_run::on_result;
  state.resumed = how == call_kind::resumed;
  const auto begin = state.resumed ? driver->table->resume : driver->table->call;
  const ry_status st = begin(driver->self, &scope.scope, ry::str(call.id), ry::str(call.name),
                             ry::str(call.arguments), run->exec, &sink, &state, &state.call);
  if (st != RY_OK)
    co_return tool_outcome{std::string("the tool could not be called: ") + ry::status_name(st), true};
  {
    live_run::working busy(*run, state);
    std::optional<time_limit> limit;
    if (!tool.own_time_limit) limit.emplace(p.ctx, run->exec, p.config.tool_timeout_seconds, state);
    while (!state.ended) (void)co_await state.done.wait();
    if (limit && limit->reached()) {
      state.outcome = {"the tool took longer than " + std::to_string(p.config.tool_timeout_seconds) + " seconds",
                       true, {}};
      state.files.clear();
    }
  }
  out.end();
  // Before the result is written, as with the sandbox's tools.
  if (!state.files.empty()) co_await store_result_files(p, run, std::move(state.files), state.outcome);
  unknown = state.unknown;
  co_return std::move(state.outcome);
}

}  // namespace

bool resumes_calls(const tool_catalog::tool& tool) {
  return tool.driver && RY_HAS(tool.driver->table, ry_agent_tools_v1, resume) && tool.driver->table->resume != nullptr;
}

void tell_sources_of_end(parts& p, const live_run& run, bool finished) {
  std::optional<scope_texts> scope;  // created only if a source wants to know
  for (const auto& source : p.tool_sources.all()) {
    if (!RY_HAS(source->table, ry_agent_tools_v1, ended) || source->table->ended == nullptr) continue;
    if (!scope) scope.emplace(run);
    source->table->ended(source->self, &scope->scope, finished ? 1 : 0);
  }
}

const tool_catalog::tool* tool_catalog::find(std::string_view name) const {
  for (const tool& t : tools)
    if (t.name == name) return &t;
  return tools.size() > built_in && search.name == name ? &search : nullptr;
}

void tool_catalog::add(tool t, std::string_view text) {
  json.pop_back();  // the closing bracket
  if (json.size() > 1) json += ',';
  t.begin = json.size();
  t.length = text.size();
  json.append(text).append("]");
  tools.push_back(std::move(t));
}

ry::task<toolbox::workspace_use> toolbox::use_of_workspace(std::shared_ptr<live_run> run) const {
  if (run->who.mode == run_mode::chat) co_return workspace_use::withheld;
  if (run->who.memory) co_return workspace_use::allowed;
  ry::result<bool> shared = co_await parts_.repo.is_shared(run->who.project);
  if (!shared.value()) co_return workspace_use::allowed;
  if (!std::exchange(run->workspace_withheld_told, true)) {
    append_notice(*run, "workspace_withheld",
                  "The run has no access to the workspace: memory_enabled is false, and another thread has used the workspace");
    run->deliver_soon();
    parts_.writers.of(run->exec).touch(run);
  }
  co_return workspace_use::withheld;
}

catalog_ptr toolbox::built_in(workspace_use use) {
  const bool there = use == workspace_use::allowed && parts_.sandbox() != nullptr;
  std::lock_guard lock(mutex_);
  catalog_ptr& slot = there ? with_sandbox_ : empty_;
  if (slot) return slot;
  auto made = std::make_shared<tool_catalog>();
  made->json = "[]";
  const json::array list = there ? json::parse(sandbox_tools).as_array() : json::array();
  for (const json::value& tool : list) {
    std::string name = text_of(tool.as_object(), "name");
    // Files are written as a whole: writing twice is writing once.
    const bool repeatable = name != "shell";
    made->add({std::move(name), "sandbox", repeatable}, json::serialize(tool));
  }
  made->built_in = made->tools.size();
  slot = made;
  return slot;
}

namespace {

// What a source says. A passing failure is given a moment: an answer without its tools is a worse one.
ry::task<ry::result<tool_listing>> ask_source(parts& p, std::shared_ptr<live_run> run,
                                              ry::drivers<ry_agent_tools_v1>::entry source) {
  const scope_texts scope(*run);
  for (std::uint64_t pause = first_list_pause_ms;; pause *= 4) {
    ry::result<std::string> listed = co_await ry::call<std::string, ry_str>(
        [&](ry_exec* exec, ry_tools_list_fn fn, void* ctx) {
          return source->table->list(source->self, &scope.scope, exec, fn, ctx);
        },
        [](ry_str text) { return ry::text(text); });
    if (listed) {
      std::optional<tool_listing> offered = read_listing(*listed);
      if (offered) co_return std::move(*offered);
      co_return ry::error(RY_DATA_LOSS, "runs.tool_list", "the list of tools is not an array");
    }
    if (listed.status() == RY_NOT_FOUND) co_return tool_listing{};
    if (!is_transient(listed.error()) || pause > last_list_pause_ms || run->must_break()) co_return listed.error();
    co_await interruptible_sleep(p.ctx, run, pause);
  }
}

// Says once, and again after a time with them, that the run goes on without a source's tools.
void tell_missing(parts& p, const std::shared_ptr<live_run>& run, const std::string& source, const ry::error& why) {
  if (std::find(run->sources_missing.begin(), run->sources_missing.end(), source) != run->sources_missing.end()) return;
  run->sources_missing.push_back(source);
  p.ctx.complain("the tools of " + source + " could not be listed", why);
  run->feed.append("error")
      .text("message", "The tools of " + source + " could not be listed; the run continues without them")
      .text("error_code", "TOOLS_UNAVAILABLE")
      .boolean("recoverable", true);
  run->deliver_soon();
  p.writers.of(run->exec).touch(run);
}

}  // namespace

ry::task<catalog_ptr> toolbox::catalog(std::shared_ptr<live_run> run) {
  catalog_ptr base = built_in(co_await use_of_workspace(run));
  const auto sources = parts_.tool_sources.all();
  if (sources.empty() || run->who.mode == run_mode::chat) co_return base;
  auto made = std::make_shared<tool_catalog>(*base);
  std::set<std::string, std::less<>> names;
  for (const tool_catalog::tool& t : base->tools) names.insert(t.name);
  for (const auto& source : sources) {
    ry::result<tool_listing> offered = co_await ask_source(parts_, run, source);
    if (!offered) {
      if (!run->must_break()) tell_missing(parts_, run, source->name, offered.error());
      continue;
    }
    std::erase(run->sources_missing, source->name);
    for (const std::string& name : offered->left_out)
      parts_.ctx.warn("a tool is left out: its description is unreadable or nested too deep",
                      {{"tool", name}, {"driver", source->name}});
    std::move(offered->instructions.begin(), offered->instructions.end(), std::back_inserter(made->instructions));
    for (tool_listing::tool& t : offered->tools) {
      if (!names.insert(t.name).second) continue;
      made->add({std::move(t.name), std::move(t.source), t.repeatable, t.own_time_limit, source}, one_line(std::move(t.for_model)));
    }
  }
  for (int n = 2; names.contains(made->search.name); ++n) made->search.name = "find_tools_" + std::to_string(n);
  co_return catalog_ptr(std::move(made));
}

ry::task<ry::result<void>> ensure_workspace(parts& p, std::shared_ptr<live_run> run) {
  if (run->files) co_return ry::result<void>();
  const auto driver = p.sandbox();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "no sandbox driver is loaded");
  ry::result<std::int64_t> version = co_await p.repo.mark_sandbox(run->who.project, p.ctx.new_uuid());
  if (!version) co_return version.error();
  workspace_keeper::wish want;
  want.version = *version;
  ry::result<workspace_ptr> files =
      co_await p.keeper.open(driver, run->who.project.to_string(), std::move(want), run->exec);
  if (!files) co_return files.error();
  run->files = *files;
  co_return ry::result<void>();
}

ry::task<void> keep_files(parts& p, std::shared_ptr<live_run> run, std::string& note) {
  const workspace_fence fence{run->who.job, run->who.fence};
  const std::function<bool()> hurry = [run] { return run->must_break(); };
  const workspace_ptr files = run->files;
  if (!files) {  // another call of the same answer has found it replaced
    note = replaced_note;
    co_return;
  }
  const workspace_limits limits = co_await p.quota.limits(run->who.account);
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    const auto driver = p.sandbox();
    if (!driver) co_return;
    ry::result<workspace_keeper::kept> kept = co_await p.keeper.keep(driver, files, fence, limits, run->who.account.to_string(), hurry, run->exec);
    if (kept) {
      if (!kept->ours) run->interrupt(RY_WHY_LEASE_LOST);
      note = kept->note;
      co_return;
    }
    p.ctx.complain("the files of a workspace could not be kept", kept.error());
    if (kept.error().is("runs.workspace_replaced")) {
      if (run->files == files) run->files.reset();  // the next call makes it anew, from what was kept
      note = replaced_note;
      co_return;
    }
    const ry_status st = kept.status();
    const bool passes = st == RY_UNAVAILABLE || st == RY_DEADLINE_EXCEEDED || st == RY_ABORTED;
    if (!passes || run->must_break()) co_return;
    co_await interruptible_sleep(p.ctx, run, pause);
  }
}

namespace {

ry::task<tool_outcome> make_call(parts& p, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                 const tool_catalog::tool* tool, tool_call call, call_kind how) {
  try {
    if (tool == nullptr) co_return tool_outcome{"there is no tool named \"" + call.name + "\"", true};
    if (tool->driver) {
      bool unknown = false;
      tool_outcome out = co_await run_foreign(p, run, *tool, call, how, unknown);
      if (!unknown || !tool->repeatable) co_return out;
      tool_outcome again = co_await run_foreign(p, run, *tool, call, call_kind::first, unknown);
      co_return again;
    }
    if (tool == &catalog->search) co_return co_await run_find_tools(p, catalog, std::move(call));
    ry::result<void> ready = co_await ensure_workspace(p, run);
    if (!ready)
      co_return tool_outcome{"the sandbox is not available: " + std::string(ready.error().message()), true};
    const auto driver = p.sandbox();
    if (!driver) co_return tool_outcome{"the sandbox is not available", true};
    json::object arguments = json::parse(call.arguments).as_object();
    const bool reads = call.name == "read_file" || call.name == "list_files";
    tool_outcome out;
    if (call.name == "read_file")
      out = co_await run_read(run, driver, std::move(arguments));
    else if (call.name == "list_files")
      out = co_await run_list(run, driver, std::move(arguments));
    else if (call.name == "shell")
      out = co_await run_shell(p, run, driver, call.id, std::move(arguments));
    else
      out = co_await run_write(p, run, std::move(arguments));
    if (reads && !out.is_error) co_return out;
    // Before the result is written: whoever goes on from there finds the files. What could not be read may be missing
    // because the workspace was removed, which this finds.
    std::string note;
    co_await keep_files(p, run, note);
    if (!note.empty()) out.content += "\n" + note;
    co_return out;
  } catch (...) {
    const ry::error e = ry::current_error();
    p.ctx.complain("a tool call failed", e);
    co_return tool_outcome{"the tool failed", true};
  }
}

}  // namespace

ry::task<tool_outcome> run_tool(parts& p, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                tool_call call, call_kind how) {
  const tool_catalog::tool* tool = catalog->find(call.name);
  const std::int64_t begun = p.ctx.mono_us();
  tool_outcome out = co_await make_call(p, run, catalog, tool, std::move(call), how);
  const std::string_view driver = tool == nullptr ? "none"
                                  : tool->driver  ? std::string_view(tool->driver->name)
                                                  : std::string_view(tool->source);
  const char* ended = run->must_break() ? "interrupted" : out.is_error ? "error" : "ok";
  p.figures.tool_call(driver, ended, static_cast<double>(p.ctx.mono_us() - begun) / 1e6);
  co_return out;
}

}  // namespace runs
