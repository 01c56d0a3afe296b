#include "mcp_service.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>
#include <utility>

#include "deadline.hpp"
#include "input_state.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "schema.hpp"

namespace mcp {
namespace {

// One retry each: after the credentials expired, with a larger scope, and with credentials that another caller obtained
// in the meantime.
constexpr int max_credentials = 3;
// Limits the wait for a slot for a local program to three seconds in total.
constexpr int max_slot_waits = 20;
constexpr std::uint64_t slot_wait_ms = 150;
constexpr std::uint64_t cancel_timeout_ms = 10'000;

std::string first_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) {
    if (out.size() > 500) return out + ", ...";
    out += (out.empty() ? "" : ", ") + n;
  }
  return out;
}

// Some servers respond to a call of an unknown tool with a result instead of an error.
bool reports_unknown_tool(const json::value& result) {
  const auto* o = result.if_object();
  const auto* failed = o != nullptr ? o->if_contains("isError") : nullptr;
  const auto* content = o != nullptr ? array_at(*o, "content") : nullptr;
  if (failed == nullptr || !failed->is_bool() || !failed->get_bool() || content == nullptr) return false;
  for (const auto& each : *content) {
    const auto* block = each.if_object();
    if (block == nullptr) continue;
    const auto text = ry::lower_ascii(text_of(*block, "text").substr(0, 300));
    const bool about_tool = text.find("tool") != std::string::npos;
    for (const char* phrase : {"unknown tool", "-32602"}) {
      if (text.find(phrase) != std::string::npos) return true;
    }
    for (const char* phrase : {"not found", "no such", "does not exist"}) {
      if (about_tool && text.find(phrase) != std::string::npos) return true;
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

ry::task<json::value> perform(client& c, operation kind, std::string tool, json::object arguments,
                              const call_options& options) {
  if (kind == operation::call_tool) {
    co_return co_await c.call_tool(std::move(tool), std::move(arguments), options);
  }
  if (kind == operation::read_resource) co_return co_await c.read_resource(text_of(arguments, "uri"));
  resource_query query;
  query.filter = text_of(arguments, "filter");
  const auto* offset = arguments.if_contains("offset");
  if (offset != nullptr && offset->is_int64())
    query.offset = static_cast<std::size_t>(std::max<std::int64_t>(offset->get_int64(), 0));
  co_return co_await c.list_resources(std::move(query));
}

// Delivers answers to a client during its call.
struct input_delivery {
  input_delivery(std::shared_ptr<input_channel> input, ry_exec* exec, client& c) : input_(std::move(input)) {
    if (input_) input_->open(exec, [&c](const json::array& answers) { c.answer_input(answers); });
  }
  input_delivery(const input_delivery&) = delete;
  ~input_delivery() {
    if (input_) input_->close();
  }

 private:
  std::shared_ptr<input_channel> input_;
};

ry::error queue_timeout(const server& s, std::uint64_t ms) {
  return server_error(s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                      "the request waited longer than " + std::to_string(ms / 1000) +
                          " seconds: too many calls of this account are in progress");
}

}  // namespace

ry::task<tool_list> mcp_service::list_with_retries(server_ptr s) {
  ry_exec* exec = co_await ry::this_exec();
  attempts so_far;
  // A modern server sends its name and instructions only in response to server/discover, which the client skips if the
  // revision is cached. Without a cached list, the cached revision is dropped so that the client sends server/discover.
  const auto now = context_.ctx.now_unix_us();
  if (context_.revisions.look_up(s->key, now) == protocol_revision::modern && !cache_.look_up(s->key, now).tools)
    context_.revisions.forget(s->key);
  if (s->expired) s = co_await factory_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (;;) {
    auto c = client_of(s, exec);
    ry::error failure(RY_OK);
    try {
      auto list = co_await c->list_tools();
      release_client(std::move(c));
      co_return list;
    } catch (const ry::error& e) {
      failure = e;
    }
    const bool unsent = c->unsent();
    c.reset();
    s = co_await prepare_retry(s, failure, unsent, so_far);
  }
}

std::unique_ptr<client> mcp_service::client_of(const server_ptr& s, ry_exec* exec) {
  auto pooled = s->reuse ? pool_.take(*s, exec) : nullptr;
  if (pooled) {
    if (!s->session.empty()) pooled->use_credentials_of(*s);
    return pooled;
  }
  auto created = std::make_unique<client>(context_, s, exec);
  if (!s->session.empty()) {
    record_session_opened(*s);
    created->on_session_replaced([this, c = created.get()] { record_session_opened(c->target()); });
  }
  return created;
}

void mcp_service::release_client(std::unique_ptr<client> c) noexcept {
  const bool automatic = !c->target().session.empty() && c->target().scope == server::session_scope::automatic;
  if (c->target().reuse && (!automatic || c->keeps_state())) pool_.put(std::move(c));
}

ry::task<server_ptr> mcp_service::prepare_retry(server_ptr s, ry::error failure, bool unsent, attempts& so_far) {
  // The server may have closed a pooled connection unnoticed.
  if (unsent && s->reuse && so_far.unsent++ == 0) {
    context_.metrics.unsent_retries.add();
    co_return s;
  }
  // A concurrency limit was reached. Evict an idle client, then wait for a slot: programs that are shutting down free
  // theirs soon.
  const bool account_full = failure.status() == RY_RESOURCE_EXHAUSTED, node_full = failure.status() == RY_ABORTED;
  if (failure.is("mcp.connect_failed") && (account_full || node_full) && so_far.slots++ < max_slot_waits) {
    if (!pool_.close_idle(s->account_id) && node_full) pool_.close_any_idle();
    (co_await context_.ctx.sleep(slot_wait_ms)).value();
    co_return s;
  }
  if (failure.is("mcp.revision_changed") && so_far.revisions++ == 0) {
    context_.metrics.revision_retries.add();
    co_return s;
  }
  if (failure.is("mcp.unauthorized") && so_far.credentials++ < max_credentials) {
    context_.metrics.credentials_retries.add();
    co_return co_await factory_.authorize(s, failure);
  }
  log_cause(context_.ctx, *s, failure);
  throw failure;
}

tool_list_ptr mcp_service::cache_list(const server& s, tool_list received, std::uint64_t invalidations_seen) {
  // A list from a server with a cached revision lacks what server/discover returns; copy it from the cached list.
  if (const auto previous = cache_.look_up(s.key, context_.ctx.now_unix_us()).tools;
      previous && !received.has_server_info) {
    received.instructions = previous->instructions;
    received.has_resources = previous->has_resources;
    if (received.server_name.empty()) received.server_name = previous->server_name;
  }
  received.bytes += received.instructions.size() + received.server_name.size();
  const auto list = std::make_shared<const tool_list>(std::move(received));
  constexpr std::int64_t day_ms = 24LL * 3600 * 1000;
  const auto life = std::min(settings_.cache_us, std::min(list->ttl_ms.value_or(day_ms), day_ms) * 1000);
  for (const auto& reason : list->skipped) {
    context_.ctx.warn("a tool of an MCP server was omitted", {{"server", s.name}, {"tool", reason}});
  }
  const auto change = cache_.store(s.key, s.account_id, list, life, context_.ctx.now_unix_us(), invalidations_seen);
  if (change.none()) return list;
  context_.ctx.warn("an MCP server changed its tool definitions", {{"server", s.name},
                                                                   {"account", s.account_id},
                                                                   {"changed", first_names(change.changed)},
                                                                   {"added", first_names(change.added)},
                                                                   {"removed", first_names(change.removed)}});
  return list;
}

ry::task<tool_list_ptr> mcp_service::discover(server_ptr s, cache_policy policy) {
  const auto timeout =
      server_error(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                   "the discovery took longer than " + std::to_string(settings_.discovery_ms / 1000) + " seconds");
  const auto started = context_.ctx.mono_us();
  ry::error failure(RY_OK);
  tool_list_ptr list;
  bool queued = false;
  try {
    list = co_await within(context_.ctx, settings_.discovery_ms, timeout, list_with_permit(s, policy, queued));
  } catch (const ry::error& e) {
    failure = queued && e.is("mcp.timeout") ? queue_timeout(*s, settings_.discovery_ms) : e;
  }
  record_metrics(mcp_metrics::request_kind::list, *s, failure, started);
  if (failure.status() != RY_OK) throw failure;
  co_return list;
}

void mcp_service::record_metrics(mcp_metrics::request_kind kind, const server& s, const ry::error& failure,
                                 std::int64_t started_us) const {
  const std::string transport = context_.transports.find(s.driver) ? s.driver : "none";
  context_.metrics.record_request(kind, transport, failure, context_.ctx.mono_us() - started_us);
}

ry::task<tool_list_ptr> mcp_service::list_with_permit(server_ptr s, cache_policy policy, bool& queued) {
  s = co_await factory_.resolve(s);
  if (policy == cache_policy::allow_cached) {
    auto cached = cache_.look_up(s->key, context_.ctx.now_unix_us());
    if (cached.fresh) co_return cached.tools;
  }
  queued = true;
  const auto permit = co_await limiter_.acquire(s->account_id);
  queued = false;
  const auto invalidations = cache_.look_up(s->key, context_.ctx.now_unix_us()).invalidations;
  bool cancelled = false;
  std::exception_ptr exception;
  try {
    co_return cache_list(*s, co_await list_with_retries(s), invalidations);
  } catch (const ry::error& e) {
    cancelled = e.status() == RY_CANCELLED;
    exception = std::current_exception();
  }
  // A cancellation by the time limit counts as a failure of the server; a cancellation by the caller does not.
  const auto cancellation = co_await ry::this_cancel();
  if (!cancelled || cancellation.why() == RY_REASON_DEADLINE)
    cache_.record_failure(s->key, s->account_id, context_.ctx.now_unix_us());
  std::rethrow_exception(exception);
}

ry::task<mcp_service::call_outcome> mcp_service::call_with_retries(server_ptr s, call_request request,
                                                                   call_hooks hooks) {
  ry_exec* exec = co_await ry::this_exec();
  attempts so_far;
  ry::error revision_error(RY_OK);
  auto& task = request.task;
  call_options options;
  options.on_progress = std::move(hooks.on_progress);
  options.on_status = std::move(hooks.on_status);
  options.requested_task_ttl_ms = static_cast<std::int64_t>(settings_.max_call_ms);
  options.on_task = [&](const remote_task& t) { return store_task(request.id, t, task); };
  options.continued = request.continued;
  options.on_url_completed = std::move(hooks.on_url_completed);
  std::optional<suspended_call> suspended;
  if (request.input) {
    options.on_suspended = [&suspended](suspended_call call) { suspended = std::move(call); };
    if (request.on_input) options.on_input = request.on_input;
  }
  if (s->expired) s = co_await factory_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (int refreshes = 0;;) {
    const auto cached = cache_.look_up(s->key, context_.ctx.now_unix_us());
    const bool is_tool_call = request.kind == operation::call_tool;
    const auto* t = cached.tools && is_tool_call ? cached.tools->find(request.tool) : nullptr;
    options.mirrored = t != nullptr ? t->mirrored : std::vector<mirrored_argument>();
    options.as_task = t != nullptr ? t->as_task : task_support::forbidden;
    ry::error failure(RY_OK);
    bool unsent = false;
    try {
      auto c = client_of(s, exec);
      if (revision_error.status() != RY_OK) c->set_fallback_error(revision_error);
      const input_delivery delivery(request.input, exec, *c);
      try {
        json::value result;
        // A call that has become a task is never repeated.
        if (task.empty()) {
          move_to(result, co_await perform(*c, request.kind, request.tool, request.arguments, options));
        } else {
          move_to(result, co_await c->await_task(request.tool, task, options));
        }
        release_client(std::move(c));
        if (is_tool_call && reports_unknown_tool(result))
          cache_.invalidate(s->key, s->account_id, context_.ctx.now_unix_us());
        co_return call_outcome{std::move(result), std::move(suspended)};
      } catch (const ry::error& e) {
        failure = e;
      }
      unsent = c->unsent();
      if (failure.is("mcp.revision_changed")) revision_error = c->last_error();
      // A session survives a call that failed, was cancelled by its caller or the time limit, or had expired
      // credentials.
      const bool session_survives =
          !s->session.empty() && (failure.status() == RY_CANCELLED || failure.is("mcp.unauthorized")) && c->usable();
      if (failure.is("mcp.rpc") || session_survives) release_client(std::move(c));
    } catch (const ry::error& e) {
      failure = e;
    }
    if (failure.status() == RY_CANCELLED && !task.empty()) {
      const auto cancellation = co_await ry::this_cancel();
      abandon_task(s, request.id, task, cancellation.why());
    }
    const auto detail = failure.detail_json();
    const auto code = failure.is("mcp.rpc") && !detail.empty() ? code_of(parse(detail)) : 0;
    const bool about_tool = is_tool_call && (code == invalid_params || code == method_not_found);
    if (about_tool || code == header_mismatch) {
      cache_.invalidate(s->key, s->account_id, context_.ctx.now_unix_us());
    }
    // After these errors, the server has not processed the call.
    if (code == header_mismatch && refreshes++ == 0) {
      const auto invalidations = cache_.look_up(s->key, context_.ctx.now_unix_us()).invalidations;
      cache_list(*s, co_await list_with_retries(s), invalidations);
      continue;
    }
    std::optional<ry::error> final_error;
    try {
      s = co_await prepare_retry(s, failure, unsent, so_far);
    } catch (const ry::error& e) {
      final_error = e;
    }
    if (!final_error) continue;
    const bool task_ended = final_error->status() == RY_CANCELLED || final_error->is("mcp.rpc") ||
                            final_error->is("mcp.task_lost") || final_error->is("mcp.task_cancelled");
    // A task that waits for input would wait forever. If the server is unreachable, the task is cancelled later.
    if (!task.empty() && !task_ended)
      abandon_task(s, request.id, task, final_error->is("mcp.input_required") ? RY_REASON_DEADLINE : 0);
    throw *final_error;
  }
}

ry::task<void> mcp_service::store_task(const call_id& id, const remote_task& t, std::string& task) {
  task = t.id;
  if (!id.is_stored()) co_return;
  constexpr std::int64_t hour_ms = 3600 * 1000, max_ms = 30LL * 24 * hour_ms;
  const auto life_ms = std::max(static_cast<std::int64_t>(settings_.max_call_ms), t.ttl_ms.value_or(0));
  try {
    co_await tasks_.store(id, t.id, std::min(life_ms, max_ms) + hour_ms);
  } catch (...) {
    const auto e = ry::current_error();
    if (e.status() == RY_CANCELLED) throw;
    // The call continues, but a worker that claims the run cannot continue it.
    context_.ctx.log_error("the task of an MCP server could not be stored", e);
  }
}

void mcp_service::abandon_task(server_ptr s, const call_id& id, std::string task, std::int32_t reason) noexcept {
  (void)ry::guard([&] {
    // If the run merely moves to another worker, that worker continues the task.
    if (id.is_stored() && reason != RY_REASON_DEADLINE)
      return tasks_.add_abandoned(id.run, {std::move(s), std::move(task)});
    (void)context_.ctx.spawn(cancel_task(std::move(s), std::move(task)), context_.ctx.pick_exec());
  });
}

ry::task<void> mcp_service::cancel_task(server_ptr s, std::string task) {
  try {
    std::optional<concurrency_limiter::permit> permit;
    const auto key = pool_key(*s);
    if (!s->session.empty()) permit.emplace(co_await session_limiter_.acquire(key));
    // The session of the task is on the event loop that opened it.
    ry_exec* const session_exec = s->reuse ? pool_.executor_of(key) : nullptr;
    const auto driver = context_.transports.find(s->driver);
    // On a transport without exchanges, the end of the program or stream has already ended its tasks.
    if (session_exec == nullptr && driver && (driver->table->capabilities & RY_MCP_EXCHANGES) == 0) co_return;
    ry_exec* const here = co_await ry::this_exec();
    if (session_exec != nullptr && session_exec != here) co_await context_.ctx.switch_to(session_exec);
    auto c = client_of(s, session_exec != nullptr ? session_exec : here);
    co_await within(context_.ctx, cancel_timeout_ms,
                    ry::error(RY_DEADLINE_EXCEEDED, "mcp.timeout", "tasks/cancel was not answered"),
                    c->cancel_task(std::move(task)));
    release_client(std::move(c));
  } catch (const ry::error& e) {
    context_.ctx.info("a task of an MCP server could not be cancelled", {{"server", s->name}, {"error", e.message()}});
  }
}

void mcp_service::end_run(const std::string& run, bool finished) noexcept {
  (void)ry::guard([&] {
    auto remaining = tasks_.take(run);
    if (finished && (remaining.stored || !remaining.tasks.empty())) {
      if (context_.ctx.spawn(end_tasks(run, std::move(remaining)), context_.ctx.pick_exec())) return;
    }
    end_sessions(run);
  });
}

void mcp_service::end_sessions(const std::string& run) noexcept {
  pool_.close_session(run);
  std::lock_guard lock(mutex_);
  sessions_.erase(run);
}

ry::task<void> mcp_service::end_tasks(std::string run, task_store::run_tasks remaining) {
  for (auto& each : remaining.tasks) co_await cancel_task(std::move(each.server), std::move(each.task_id));
  end_sessions(run);
  if (!remaining.stored) co_return;
  try {
    co_await tasks_.remove(run);
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
  auto task = co_await tasks_.find(request.id);
  if (!task) throw ry::not_found("mcp.no_task", "the call has no stored task");
  tasks_.mark_stored(request.id.run);
  request.task = std::move(*task);
  co_return co_await call(std::move(s), std::move(request));
}

ry::task<std::string> mcp_service::call_in_session(server_ptr s, call_request request) {
  s = co_await factory_.resolve(s);
  const auto key = pool_key(*s);
  ry_exec* const here = co_await ry::this_exec();
  // Before the first response, it is unknown whether the server keeps state; calls then use a session.
  const auto is_stateless = [&] {
    return s->scope == server::session_scope::automatic && !context_.session_states.look_up(s->key).value_or(true);
  };
  std::optional<concurrency_limiter::permit> permit;
  if (!is_stateless()) permit.emplace(co_await session_limiter_.acquire(key));
  if (is_stateless()) {
    permit.reset();
    co_return co_await timed_call(server_factory::without_session(std::move(s)), std::move(request));
  }
  ry_exec* const session_exec = pool_.executor_of(key);
  const bool switches_exec = session_exec != nullptr && session_exec != here;
  if (switches_exec) {
    // Callbacks must run on the caller's executor, in order and before the result.
    request.on_progress_line =
        [this, here,
         to = std::make_shared<const progress_line_fn>(std::move(request.on_progress_line))](std::string_view line) {
          context_.ctx.post(here, [to, text = std::string(line)] {
            if (*to) (*to)(text);
          });
        };
    if (request.on_input) {
      request.on_input = [this, here, ask = std::move(request.on_input)](json::array requests) {
        context_.ctx.post(here, [ask, asked = std::move(requests)] { ask(asked); });
      };
    }
    co_await context_.ctx.switch_to(session_exec);
  }
  std::string result;
  ry::error failure(RY_OK);
  try {
    result = co_await timed_call(s, std::move(request));
  } catch (...) {
    failure = ry::current_error();
  }
  if (switches_exec) co_await context_.ctx.switch_to(here);
  if (failure.status() != RY_OK) throw failure;
  if (!is_stateless() && record_session_use(*s) && !is_input_required(result)) {
    result = with_note(result, "[a new session with this server was started; the state of the previous one is lost]");
  }
  co_return result;
}

void mcp_service::record_session_opened(const server& s) {
  std::lock_guard lock(mutex_);
  const auto run = sessions_.find(s.session);
  if (run == sessions_.end()) return;
  if (const auto at = run->second.find(pool_key(s)); at != run->second.end()) at->second = true;
}

bool mcp_service::record_session_use(const server& s) {
  constexpr std::size_t max_sessions = 100'000;
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= max_sessions) sessions_.clear();
  const auto [at, is_new] = sessions_[s.session].try_emplace(pool_key(s), false);
  return std::exchange(at->second, false) || (is_new && s.resumed);
}

ry::task<std::string> mcp_service::timed_call(server_ptr s, call_request request) {
  const auto max_ms = settings_.max_call_ms;
  const auto idle_ms = std::min(s->call_ms != 0 ? s->call_ms : settings_.call_ms, max_ms);
  const auto started = context_.ctx.mono_us();
  auto clock = std::make_shared<idle_clock>();
  clock->idle_us = static_cast<std::int64_t>(idle_ms) * 1000;
  clock->max_us = static_cast<std::int64_t>(max_ms) * 1000;
  clock->started_us = clock->last_us = started;
  const auto report = std::make_shared<const progress_line_fn>(std::move(request.on_progress_line));
  call_hooks hooks;
  hooks.on_progress = [this, clock, report, last = progress_tracker()](const json::object& params) mutable {
    if (!last.advances(params)) return;
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
  hooks.on_url_completed = [this, clock, report] {
    clock->last_us = context_.ctx.mono_us();
    if (*report) (*report)("The server reports that the requested page has been completed\n");
  };
  // The time limit does not include the time of the person.
  if (request.on_input) {
    request.on_input = [this, clock, ask = std::move(request.on_input)](json::array requests) {
      clock->pause(context_.ctx.mono_us());
      ask(std::move(requests));
    };
    request.input->on_answered = [this, clock] { clock->resume(context_.ctx.mono_us()); };
  }
  const auto timeout = server_error(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout", "the call took too long");
  const auto name = request.tool;
  ry::error failure(RY_OK);
  std::string text;
  bool queued = false;
  try {
    text = co_await within(context_.ctx, idle_ms, timeout,
                           call_with_permit(s, std::move(request), std::move(hooks), queued), clock);
  } catch (const ry::error& e) {
    failure = e;
  }
  // Timeouts of the server or its transport keep their own message.
  const bool timed_out = failure.is("mcp.timeout") && failure.message() == timeout.message();
  if (timed_out && queued) {
    failure = queue_timeout(*s, idle_ms);
  } else if (timed_out) {
    const bool had_progress = clock->last_us != started;
    const bool max_reached = clock->last_us + clock->idle_us >= started + clock->max_us;
    failure = server_error(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                           "the call of " + name +
                               (had_progress && !max_reached
                                    ? " reported no progress for " + std::to_string(idle_ms / 1000)
                                    : " took longer than " + std::to_string((had_progress ? max_ms : idle_ms) / 1000)) +
                               " seconds");
  }
  record_metrics(mcp_metrics::request_kind::call, *s, failure, started);
  if (failure.status() != RY_OK) throw failure;
  co_return text;
}

ry::task<std::string> mcp_service::call_with_permit(server_ptr s, call_request request, call_hooks hooks,
                                                    bool& queued) {
  const auto tool = request.tool;
  const bool is_tool_call = request.kind == operation::call_tool;
  if (s->session.empty()) s = co_await factory_.resolve(s);
  queued = true;
  const auto permit = co_await limiter_.acquire(s->account_id);
  queued = false;
  const auto id = request.id;
  const call_outcome outcome = co_await call_with_retries(s, std::move(request), std::move(hooks));
  if (outcome.suspended) co_return input_required_json(context_.ctx, id, *outcome.suspended);
  const json::value& result = outcome.result;
  const auto cached = cache_.look_up(s->key, context_.ctx.now_unix_us());
  const auto* described = cached.tools && is_tool_call ? cached.tools->find(tool) : nullptr;
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
