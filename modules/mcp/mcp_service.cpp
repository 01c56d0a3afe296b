#include "mcp_service.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>
#include <utility>

#include "deadline.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "schema.hpp"

namespace mcp {
namespace {

// Attempts with expired credentials, with a larger scope, and with credentials that another caller obtained in the
// meantime.
constexpr int max_credentials = 3;
// Waiting for a slot for a local program: three seconds in total.
constexpr int max_waits = 20;
constexpr std::uint64_t wait_ms = 150;
constexpr std::uint64_t cancel_ms = 10'000;

std::string first_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) {
    if (out.size() > 500) return out + ", ...";
    out += (out.empty() ? "" : ", ") + n;
  }
  return out;
}

// Some servers answer a call of an unknown tool with a result instead of an error.
bool says_unknown_tool(const json::value& result) {
  const auto* o = result.if_object();
  const auto* failed = o != nullptr ? o->if_contains("isError") : nullptr;
  const auto* content = o != nullptr ? array_at(*o, "content") : nullptr;
  if (failed == nullptr || !failed->is_bool() || !failed->get_bool() || content == nullptr) return false;
  for (const auto& each : *content) {
    const auto* block = each.if_object();
    if (block == nullptr) continue;
    const auto text = ry::lower_ascii(text_of(*block, "text").substr(0, 300));
    const bool about_tool = text.find("tool") != std::string::npos;
    for (const char* sign : {"unknown tool", "-32602"}) {
      if (text.find(sign) != std::string::npos) return true;
    }
    for (const char* sign : {"not found", "no such", "does not exist"}) {
      if (about_tool && text.find(sign) != std::string::npos) return true;
    }
  }
  return false;
}

// Where the structured content of a result violates the tool's output schema; empty: nowhere.
std::string structured_mismatch(const json::value& result, const json::value& schema) {
  const auto* o = result.if_object();
  const auto* structured = o != nullptr ? o->if_contains("structuredContent") : nullptr;
  const auto* failed = o != nullptr ? o->if_contains("isError") : nullptr;
  const bool is_error = failed != nullptr && failed->is_bool() && failed->get_bool();
  if (structured == nullptr || is_error) return {};
  return schema_mismatch(schema, *structured);
}

ry::task<json::value> perform(client& c, operation what, std::string tool, json::object arguments,
                              const call_options& options) {
  if (what == operation::call_tool) {
    co_return co_await c.call_tool(std::move(tool), std::move(arguments), options);
  }
  if (what == operation::read_resource) co_return co_await c.read_resource(text_of(arguments, "uri"));
  resource_query query;
  query.filter = text_of(arguments, "filter");
  const auto* offset = arguments.if_contains("offset");
  if (offset != nullptr && offset->is_int64())
    query.offset = static_cast<std::size_t>(std::max<std::int64_t>(offset->get_int64(), 0));
  co_return co_await c.list_resources(std::move(query));
}

ry::error no_turn(const server& s, std::uint64_t ms) {
  return trouble_with(s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                      "the request waited longer than " + std::to_string(ms / 1000) +
                          " seconds: too many calls of this account are in progress");
}

}  // namespace

ry::task<tool_list> mcp_service::fetch(server_ptr s) {
  ry_exec* exec = co_await ry::this_exec();
  attempts made;
  // A modern server sends its name, instructions and capabilities only in answer to server/discover, which the client
  // skips if the revision is cached. Without a cached list, drop the cached revision so that the client asks. Legacy
  // servers send them in every session.
  const auto now = context_.ctx.now_unix_us();
  if (context_.revisions.look_up(s->key, now) == protocol_revision::modern && !memory_.look_up(s->key, now).tools)
    context_.revisions.forget(s->key);
  if (s->expired) s = co_await maker_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (;;) {
    auto c = client_of(s, exec);
    ry::error why(RY_OK);
    try {
      auto list = co_await c->list_tools();
      done_with(std::move(c));
      co_return list;
    } catch (const ry::error& e) {
      why = e;
    }
    const bool unsent = c->unsent();
    c.reset();
    s = co_await next_try(s, why, unsent, made);
  }
}

std::unique_ptr<client> mcp_service::client_of(const server_ptr& s, ry_exec* exec) {
  auto kept = s->reuse ? kept_.take(*s, exec) : nullptr;
  if (kept) {
    if (!s->session.empty()) kept->use_credentials_of(*s);
    return kept;
  }
  auto made = std::make_unique<client>(context_, s, exec);
  if (!s->session.empty()) {
    note_beginning(*s);
    made->when_restarted([this, c = made.get()] { note_beginning(c->to()); });
  }
  return made;
}

void mcp_service::done_with(std::unique_ptr<client> c) noexcept {
  const bool automatic = !c->to().session.empty() && c->to().scope == server::session_scope::automatic;
  if (c->to().reuse && (!automatic || c->keeps_state())) kept_.give(std::move(c));
}

ry::task<server_ptr> mcp_service::next_try(server_ptr s, ry::error why, bool unsent, attempts& made) {
  // The server may have closed a pooled connection unnoticed.
  if (unsent && s->reuse && made.unsent++ == 0) {
    context_.count.unsent.add();
    co_return s;
  }
  // A concurrency limit was reached. Evict an idle client, then wait for a slot: programs that are shutting down free
  // theirs soon.
  const bool of_account = why.status() == RY_RESOURCE_EXHAUSTED, of_all = why.status() == RY_ABORTED;
  if (why.is("mcp.connect_failed") && (of_account || of_all) && made.slots++ < max_waits) {
    if (!kept_.close_idle(s->account_id) && of_all) kept_.close_any_idle();
    (co_await context_.ctx.sleep(wait_ms)).value();
    co_return s;
  }
  if (why.is("mcp.era_changed") && made.revisions++ == 0) {
    context_.count.revision.add();
    co_return s;
  }
  if (why.is("mcp.unauthorized") && made.credentials++ < max_credentials) {
    context_.count.credentials.add();
    co_return co_await maker_.authorize(s, why);
  }
  log_cause(context_.ctx, *s, why);
  throw why;
}

tool_list_ptr mcp_service::keep(const server& s, tool_list got, std::uint64_t aged) {
  // A list from a server with a cached revision lacks what server/discover returns; copy it from the cached list.
  if (const auto before = memory_.look_up(s.key, context_.ctx.now_unix_us()).tools; before && !got.introduced) {
    got.instructions = before->instructions;
    got.has_resources = before->has_resources;
    if (got.server_name.empty()) got.server_name = before->server_name;
  }
  got.bytes += got.instructions.size() + got.server_name.size();
  const auto list = std::make_shared<const tool_list>(std::move(got));
  constexpr std::int64_t day_ms = 24LL * 3600 * 1000;
  const auto life = std::min(settings_.cache_us, std::min(list->ttl_ms.value_or(day_ms), day_ms) * 1000);
  for (const auto& why : list->left_out) {
    context_.ctx.warn("a tool of an MCP server was left out", {{"server", s.name}, {"tool", why}});
  }
  const auto change = memory_.store(s.key, s.account_id, list, life, context_.ctx.now_unix_us(), aged);
  if (change.none()) return list;
  context_.ctx.warn("an MCP server describes its tools otherwise than before",
                    {{"server", s.name},
                     {"account", s.account_id},
                     {"changed", first_names(change.changed)},
                     {"added", first_names(change.added)},
                     {"removed", first_names(change.removed)}});
  return list;
}

ry::task<tool_list_ptr> mcp_service::discover(server_ptr s, freshness wanted) {
  const auto late =
      trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                   "the discovery took longer than " + std::to_string(settings_.discovery_ms / 1000) + " seconds");
  const auto begun = context_.ctx.mono_us();
  ry::error why(RY_OK);
  tool_list_ptr list;
  bool waits = false;
  try {
    list = co_await within(context_.ctx, settings_.discovery_ms, late, ask(s, wanted, waits));
  } catch (const ry::error& e) {
    why = waits && e.is("mcp.timeout") ? no_turn(*s, settings_.discovery_ms) : e;
  }
  note(mcp_metrics::kind::list, *s, why, begun);
  if (why.status() != RY_OK) throw why;
  co_return list;
}

void mcp_service::note(mcp_metrics::kind what, const server& s, const ry::error& why, std::int64_t begun_us) const {
  const std::string by = context_.transports.find(s.driver) ? s.driver : "none";
  context_.count.ended(what, by, why, context_.ctx.mono_us() - begun_us);
}

ry::task<tool_list_ptr> mcp_service::ask(server_ptr s, freshness wanted, bool& waits) {
  s = co_await maker_.resolve(s);
  if (wanted == freshness::remembered) {
    auto known = memory_.look_up(s->key, context_.ctx.now_unix_us());
    if (known.fresh) co_return known.tools;
  }
  waits = true;
  const auto place = co_await limiter_.take(s->account_id);
  waits = false;
  const auto aged = memory_.look_up(s->key, context_.ctx.now_unix_us()).aged;
  bool called_off = false;
  std::exception_ptr why;
  try {
    co_return keep(*s, co_await fetch(s), aged);
  } catch (const ry::error& e) {
    called_off = e.status() == RY_CANCELLED;
    why = std::current_exception();
  }
  // A cancellation by the time limit counts as a failure of the server; one by the caller does not.
  const auto chain = co_await ry::this_cancel();
  if (!called_off || chain.why() == RY_REASON_DEADLINE)
    memory_.failed(s->key, s->account_id, context_.ctx.now_unix_us());
  std::rethrow_exception(why);
}

ry::task<json::value> mcp_service::invoke(server_ptr s, call_request request, call_hooks hooks) {
  ry_exec* exec = co_await ry::this_exec();
  attempts made;
  ry::error said(RY_OK);
  auto& task = request.task;
  call_options options;
  options.on_progress = std::move(hooks.on_progress);
  options.on_status = std::move(hooks.on_status);
  options.task_life_ms = static_cast<std::int64_t>(settings_.max_call_ms);
  options.on_task = [&](const remote_task& t) { return note_task(request.of, t, task); };
  if (s->expired) s = co_await maker_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (int lists = 0;;) {
    const auto known = memory_.look_up(s->key, context_.ctx.now_unix_us());
    const bool calls = request.what == operation::call_tool;
    const auto* t = known.tools && calls ? known.tools->find(request.tool) : nullptr;
    options.mirrored = t != nullptr ? t->mirrored : std::vector<mirrored_argument>();
    options.as_task = t != nullptr ? t->as_task : task_support::forbidden;
    ry::error why(RY_OK);
    bool unsent = false;
    try {
      auto c = client_of(s, exec);
      if (said.status() != RY_OK) c->doubt(said);
      try {
        json::value result;
        // A call that has become a task is never repeated.
        if (task.empty()) {
          move_to(result, co_await perform(*c, request.what, request.tool, request.arguments, options));
        } else {
          move_to(result, co_await c->follow_task(request.tool, task, options));
        }
        done_with(std::move(c));
        if (calls && says_unknown_tool(result)) memory_.age(s->key, s->account_id, context_.ctx.now_unix_us());
        co_return result;
      } catch (const ry::error& e) {
        why = e;
      }
      unsent = c->unsent();
      if (why.is("mcp.era_changed")) said = c->said();
      // A session survives a call that failed, was cancelled by its caller or the time limit, or had expired
      // credentials.
      const bool outlives =
          !s->session.empty() && (why.status() == RY_CANCELLED || why.is("mcp.unauthorized")) && c->usable();
      if (why.is("mcp.rpc") || outlives) done_with(std::move(c));
    } catch (const ry::error& e) {
      why = e;
    }
    if (why.status() == RY_CANCELLED && !task.empty()) {
      const auto chain = co_await ry::this_cancel();
      abandon_task(s, request.of, task, chain.why());
    }
    const auto detail = why.detail_json();
    const auto code = why.is("mcp.rpc") && !detail.empty() ? code_of(parse(detail)) : 0;
    const bool about_tool = calls && (code == invalid_params || code == method_not_found);
    if (about_tool || code == header_mismatch) {
      memory_.age(s->key, s->account_id, context_.ctx.now_unix_us());
    }
    // In all of these cases the server has not processed the call.
    if (code == header_mismatch && lists++ == 0) {
      const auto aged = memory_.look_up(s->key, context_.ctx.now_unix_us()).aged;
      keep(*s, co_await fetch(s), aged);
      continue;
    }
    std::optional<ry::error> over;
    try {
      s = co_await next_try(s, why, unsent, made);
    } catch (const ry::error& e) {
      over = e;
    }
    if (!over) continue;
    const bool ended = over->status() == RY_CANCELLED || over->is("mcp.rpc") || over->is("mcp.task_lost") ||
                       over->is("mcp.task_cancelled");
    // A task that waits for input would wait forever; one whose server is unreachable may still be cancelled later.
    if (!task.empty() && !ended)
      abandon_task(s, request.of, task, over->is("mcp.input_required") ? RY_REASON_DEADLINE : 0);
    throw *over;
  }
}

ry::task<void> mcp_service::note_task(const call_id& of, const remote_task& t, std::string& task) {
  task = t.id;
  if (!of.stored()) co_return;
  constexpr std::int64_t hour_ms = 3600 * 1000, max_ms = 30LL * 24 * hour_ms;
  const auto life_ms = std::max(static_cast<std::int64_t>(settings_.max_call_ms), t.ttl_ms.value_or(0));
  try {
    co_await tasks_.keep(of, t.id, std::min(life_ms, max_ms) + hour_ms);
  } catch (...) {
    const auto e = ry::current_error();
    if (e.status() == RY_CANCELLED) throw;
    // The call continues, but a worker that claims the run cannot continue it.
    context_.ctx.log_error("the task of an MCP server could not be stored", e);
  }
}

void mcp_service::abandon_task(server_ptr s, const call_id& of, std::string task, std::int32_t why) noexcept {
  (void)ry::guard([&] {
    // If the run only moves to another worker, that worker continues the task.
    if (of.stored() && why != RY_REASON_DEADLINE) return tasks_.note_abandoned(of.run, {std::move(s), std::move(task)});
    (void)context_.ctx.spawn(cancel_task(std::move(s), std::move(task)), context_.ctx.pick_exec());
  });
}

ry::task<void> mcp_service::cancel_task(server_ptr s, std::string task) {
  try {
    std::optional<concurrency_limiter::one> turn;
    const auto key = waiting_key(*s);
    if (!s->session.empty()) turn.emplace(co_await turns_.take(key));
    // The session of the task is on the event loop that opened it.
    ry_exec* const home = s->reuse ? kept_.home_of(key) : nullptr;
    const auto driver = context_.transports.find(s->driver);
    // The end of a program or stream has already ended its tasks.
    if (home == nullptr && driver && (driver->table->capabilities & RY_MCP_EXCHANGES) == 0) co_return;
    ry_exec* const here = co_await ry::this_exec();
    if (home != nullptr && home != here) co_await context_.ctx.switch_to(home);
    auto c = client_of(s, home != nullptr ? home : here);
    co_await within(context_.ctx, cancel_ms,
                    ry::error(RY_DEADLINE_EXCEEDED, "mcp.timeout", "tasks/cancel was not answered"),
                    c->cancel_task(std::move(task)));
    done_with(std::move(c));
  } catch (const ry::error& e) {
    context_.ctx.info("a task of an MCP server could not be cancelled", {{"server", s->name}, {"error", e.message()}});
  }
}

void mcp_service::end_run(const std::string& run, bool finished) noexcept {
  (void)ry::guard([&] {
    auto left = tasks_.take(run);
    if (finished && (left.stored || !left.tasks.empty())) {
      if (context_.ctx.spawn(end_tasks(run, std::move(left)), context_.ctx.pick_exec())) return;
    }
    end_sessions(run);
  });
}

void mcp_service::end_sessions(const std::string& run) noexcept {
  kept_.end_session(run);
  std::lock_guard lock(mutex_);
  sessions_.erase(run);
}

ry::task<void> mcp_service::end_tasks(std::string run, task_store::of_run left) {
  for (auto& each : left.tasks) co_await cancel_task(std::move(each.at), std::move(each.task_id));
  end_sessions(run);
  if (!left.stored) co_return;
  try {
    co_await tasks_.forget(run);
  } catch (...) {
    // The rows are deleted when they expire.
    context_.ctx.log_error("the tasks of a run could not be removed", ry::current_error());
  }
}

ry::task<std::string> mcp_service::call(server_ptr s, call_request request) {
  if (s->session.empty()) {
    co_return co_await timed_call(std::move(s), std::move(request));
  }
  co_return co_await call_in_session(std::move(s), std::move(request));
}

ry::task<std::string> mcp_service::resume(server_ptr s, call_request request) {
  auto task = co_await tasks_.find(request.of);
  if (!task) throw ry::not_found("mcp.no_task", "the call became no task that is known here");
  tasks_.note_stored(request.of.run);
  request.task = std::move(*task);
  co_return co_await call(std::move(s), std::move(request));
}

ry::task<std::string> mcp_service::call_in_session(server_ptr s, call_request request) {
  s = co_await maker_.resolve(s);
  const auto key = waiting_key(*s);
  ry_exec* const here = co_await ry::this_exec();
  // Until the first response, it is not known whether the server keeps a session.
  const auto keeps_none = [&] {
    return s->scope == server::session_scope::automatic && !context_.sessions.look_up(s->key).value_or(true);
  };
  std::optional<concurrency_limiter::one> turn;
  if (!keeps_none()) turn.emplace(co_await turns_.take(key));
  if (keeps_none()) {
    turn.reset();
    co_return co_await timed_call(server_maker::out_of_session(std::move(s)), std::move(request));
  }
  ry_exec* const home = kept_.home_of(key);
  const bool moves = home != nullptr && home != here;
  if (moves) {
    // Callbacks must run on the caller's executor, in order and before the result.
    request.on_progress_line =
        [this, here,
         to = std::make_shared<const progress_line_fn>(std::move(request.on_progress_line))](std::string_view line) {
          context_.ctx.post(here, [to, text = std::string(line)] {
            if (*to) (*to)(text);
          });
        };
    co_await context_.ctx.switch_to(home);
  }
  std::string result;
  ry::error why(RY_OK);
  try {
    result = co_await timed_call(s, std::move(request));
  } catch (...) {
    why = ry::current_error();
  }
  if (moves) co_await context_.ctx.switch_to(here);
  if (why.status() != RY_OK) throw why;
  if (!keeps_none() && note_use(*s)) {
    result = with_note(result, "[a new session with this server was started; the state of the previous one is lost]");
  }
  co_return result;
}

void mcp_service::note_beginning(const server& s) {
  std::lock_guard lock(mutex_);
  const auto of = sessions_.find(s.session);
  if (of == sessions_.end()) return;
  if (const auto at = of->second.find(waiting_key(s)); at != of->second.end()) at->second = true;
}

bool mcp_service::note_use(const server& s) {
  constexpr std::size_t max_sessions = 100'000;
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= max_sessions) sessions_.clear();
  const auto [at, is_new] = sessions_[s.session].try_emplace(waiting_key(s), false);
  return std::exchange(at->second, false) || (is_new && s.taken_over);
}

ry::task<std::string> mcp_service::timed_call(server_ptr s, call_request request) {
  const auto max_ms = settings_.max_call_ms;
  const auto patience_ms = std::min(s->call_ms != 0 ? s->call_ms : settings_.call_ms, max_ms);
  const auto begun = context_.ctx.mono_us();
  auto clock = std::make_shared<idle_clock>();
  clock->patience_us = static_cast<std::int64_t>(patience_ms) * 1000;
  clock->max_us = static_cast<std::int64_t>(max_ms) * 1000;
  clock->begun_us = clock->last_us = begun;
  const auto report = std::make_shared<const progress_line_fn>(std::move(request.on_progress_line));
  call_hooks hooks;
  hooks.on_progress = [this, clock, report, last = progress_mark()](const json::object& params) mutable {
    if (!last.grows(params)) return;
    clock->last_us = context_.ctx.mono_us();
    if (*report) (*report)(progress_line(params));
  };
  // A status report shows that the server is still working on the task.
  hooks.on_status = [this, clock, report, last = std::string()](const remote_task& t) mutable {
    clock->last_us = context_.ctx.mono_us();
    auto line = task_line(t);
    if (line == last) return;
    if (*report) (*report)(line);
    last = std::move(line);
  };
  const auto late = trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout", "the call took too long");
  const auto name = request.tool;
  ry::error why(RY_OK);
  std::string text;
  bool waits = false;
  try {
    text = co_await within(context_.ctx, patience_ms, late, result_of(s, std::move(request), std::move(hooks), waits),
                           clock);
  } catch (const ry::error& e) {
    why = e;
  }
  // Timeouts of the server or its transport keep their own message.
  const bool over = why.is("mcp.timeout") && why.message() == late.message();
  if (over && waits) {
    why = no_turn(*s, patience_ms);
  } else if (over) {
    const bool spoke = clock->last_us != begun;
    const bool at_most = clock->last_us + clock->patience_us >= begun + clock->max_us;
    why = trouble_with(
        *s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
        "the call of " + name +
            (spoke && !at_most ? " reported no progress for " + std::to_string(patience_ms / 1000)
                               : " took longer than " + std::to_string((spoke ? max_ms : patience_ms) / 1000)) +
            " seconds");
  }
  note(mcp_metrics::kind::call, *s, why, begun);
  if (why.status() != RY_OK) throw why;
  co_return text;
}

ry::task<std::string> mcp_service::result_of(server_ptr s, call_request request, call_hooks hooks, bool& waits) {
  const auto tool = request.tool;
  const bool calls = request.what == operation::call_tool;
  if (s->session.empty()) s = co_await maker_.resolve(s);
  waits = true;
  const auto place = co_await limiter_.take(s->account_id);
  waits = false;
  const auto result = co_await invoke(s, std::move(request), std::move(hooks));
  const auto known = memory_.look_up(s->key, context_.ctx.now_unix_us());
  const auto* described = known.tools && calls ? known.tools->find(tool) : nullptr;
  std::string mismatch;
  if (described != nullptr && !described->output_schema.is_null()) {
    mismatch = structured_mismatch(result, described->output_schema);
  }
  if (!mismatch.empty()) {
    context_.ctx.warn("a structured result does not match the output schema of its tool",
                      {{"server", s->name}, {"tool", tool}, {"mismatch", mismatch}});
  }
  co_return result_json(result, settings_.max_result_bytes, mismatch, settings_.max_files_bytes);
}

}  // namespace mcp
