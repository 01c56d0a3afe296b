#include "tasks.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <utility>
#include <vector>

#include "context_ids.hpp"
#include "errors.hpp"
#include "follow_up.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

// Messages in the history of a task.
constexpr std::int64_t max_history = 100;
// Pages of a thread that are searched for the messages of a task. A thread has other runs, and a run has tool calls.
constexpr int max_message_pages = 20;
constexpr std::int64_t message_page = 100;
constexpr std::int64_t short_message_page = 10;
// Pages of runs that one request examines.
constexpr int max_list_pages = 20;
constexpr int max_count_pages = 10;
constexpr std::int64_t count_page = 100;
// Shortly after the event that requests results of the client, the run is stored as waiting.
constexpr int max_request_looks = 10;
constexpr std::uint64_t request_look_ms = 200;

json::object parse_object(std::string_view text) {
  json::error_code bad;
  json::value v = module_json::parse_exactly(text, max_event_depth, bad);
  if (bad || !v.is_object()) throw ry::internal("a2a.runs", "runs/1 returned no JSON object");
  return std::move(v.get_object());
}

// The thread of a context id.
ry::uuid thread_of(const ry::uuid& account, std::string_view context_id) {
  return ry::uuid::parse(context_id).value_or(thread_of_context(account, context_id));
}

ry::runs::start_request request_of(const caller& c, const send_params& message) {
  ry::runs::start_request out(c.account);
  out.field("prompt", message.prompt).field("queue", "true").field("on_busy", "enqueue");
  if (!c.agent.empty()) out.field("agent_id", c.agent);
  if (!message.metadata.empty()) out.field("metadata", json::serialize(message.metadata));
  for (const attached_file& f : message.files) out.file(f.name, f.media_type, f.content);
  out.key(key_of_message(c.agent, message.context_id, message.message_id));
  return out;
}

// The idempotency key was used for another request. Other starts get a 409 too, for example if too many wait for the thread.
bool is_reused_key(const ry::error& e) {
  return e.is(RY_RUNS_KEY_REUSED);
}

protocol_error start_error(const ry::error& e) {
  if (is_reused_key(e)) return invalid_params("message.messageId", "was used before for another message");
  if (e.http_status() == 404) return invalid_params("message.contextId", "is not a context of this account");
  return from_service(e);
}

}  // namespace

ry::runs::reader tasks::follow(const caller& c, std::string_view id, std::uint64_t merge_ms) const {
  ry::runs::follow_options options;
  options.merge_ms = merge_ms;
  options.flags = RY_RUN_BACKGROUND;
  return runs_.follow(c.account, id, options);
}

ry::task<json::object> tasks::run_of(caller c, std::string id) const {
  const auto run_id = ry::uuid::parse(id);
  if (!run_id) throw task_not_found(id);
  std::string text;
  try {
    text = co_await runs_.get(c.account, *run_id);
  } catch (const ry::error& e) {
    if (e.http_status() == 404 || e.status() == RY_NOT_FOUND) throw task_not_found(id);
    throw;
  }
  json::object run = parse_object(text);
  if (!c.agent.empty() && module_json::text_at(run, "agent_id") != c.agent) throw task_not_found(id);
  co_return run;
}

ry::task<started_task> tasks::find(caller c, std::string id) const {
  const json::object run = co_await run_of(c, id);
  const std::string context = co_await contexts_.name_of(c.account, module_json::text_of(run, "thread_id"));
  co_return started_task{task_ids{module_json::text_of(run, "id"), context}, state_of(run), metadata_of(run)};
}

ry::task<json::array> tasks::approvals(caller c, std::string id, std::string status) const {
  json::array out;
  std::string cursor;
  do {
    ry::runs::fields query{{"run_id", id}, {"status", status}, {"limit", "100"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const std::string text = co_await runs_.approvals(c.account, std::move(query));
    json::object page = parse_object(text);
    if (const json::array* list = module_json::array_at(page, "approvals"))
      for (const json::value& v : *list) {
        json::object approval = v.as_object();
        approval["type"] = "approval";
        out.push_back(std::move(approval));
      }
    cursor = module_json::text_of(page, "next_cursor");
  } while (!cursor.empty());
  std::reverse(out.begin(), out.end());
  co_return out;
}

// A request exists before the run is stored as waiting, so the approvals are read even if the run has no waiting_for.
ry::task<json::array> tasks::requests(caller c, std::string id, bool of_client) const {
  json::array out;
  for (int i = 0; i < max_request_looks; ++i) {
    const json::object run = co_await run_of(c, id);
    if (is_terminal(state_of(run))) co_return out;
    out = co_await approvals(c, id, "pending");
    for (const json::value& v : requests_of(run))
      if (module_json::text_at(v.as_object(), "type") == "tool_result") out.push_back(v);
    if (!out.empty() || !of_client) co_return out;
    const ry::result<void> slept = co_await ctx_.sleep(request_look_ms);
    slept.value();
  }
  co_return out;
}

ry::task<void> tasks::complete_requests(caller c, json::object& run) const {
  // An approval is requested shortly before the run is stored as waiting.
  if (module_json::text_at(run, "status") != "running") co_return;
  json::array found = co_await approvals(c, module_json::text_of(run, "id"), "pending");
  for (const json::value& v : requests_of(run))
    if (module_json::text_at(v.as_object(), "type") == "tool_result") found.push_back(v);
  if (!found.empty()) run["waiting_for"] = std::move(found);
}

// Without a decision if one of them is refused.
ry::task<void> tasks::decide(caller c, std::string id, std::vector<decision> decisions) const {
  const json::array known = co_await approvals(c, id, {});
  std::string pending;
  std::size_t n_pending = 0;
  std::map<std::string, std::string> statuses;
  for (const json::value& v : known) {
    const json::object& a = v.as_object();
    const std::string approval = module_json::text_of(a, "approval_id"), status = module_json::text_of(a, "status");
    statuses[approval] = status;
    if (status == "pending" && n_pending++ == 0) pending = approval;
  }
  for (decision& d : decisions) {
    if (d.approval_id.empty()) {
      if (n_pending != 1)
        throw invalid_params(d.field, "must name the approval_id, unless exactly one approval is pending");
      d.approval_id = pending;
    }
    const auto found = statuses.find(d.approval_id);
    if (found == statuses.end()) throw invalid_params(d.field + ".approval_id", "is not an approval of the task");
    if (found->second != "pending" && (found->second == "approved") != d.approve)
      throw invalid_params(d.field + ".decision", "is not the decision that was made before: " + found->second);
  }
  for (const decision& d : decisions) {
    if (statuses[d.approval_id] != "pending") continue;
    json::object body{{"decision", d.approve ? "approve" : "deny"}};
    if (!d.reason.empty()) body["reason"] = d.reason;
    const std::string text = json::serialize(body);
    (void)co_await runs_.decide(c.account, *ry::uuid::parse(d.approval_id), text);
  }
}

ry::task<started_task> tasks::continue_task(caller c, send_params message) const {
  const json::object run = co_await run_of(c, message.task_id);
  const auto thread = ry::uuid::parse(module_json::text_at(run, "thread_id"));
  if (!message.context_id.empty() && thread && thread_of(c.account, message.context_id) != *thread)
    throw invalid_params("message.contextId", "is not the context of the task");
  if (is_terminal(state_of(run)))
    throw unsupported_operation(
        "The task has ended; send the message with its contextId and without taskId to start another task");
  follow_up answer = read_follow_up(message);
  const std::string id = module_json::text_of(run, "id");
  const json::array waiting = co_await requests(c, id, false);
  const auto names_no_approval = [](const decision& d) { return d.approval_id.empty(); };
  const bool repeats =
      answer.has_answer() && std::none_of(answer.decisions.begin(), answer.decisions.end(), names_no_approval);
  if (waiting.empty() && !repeats) throw unsupported_operation("The task is in progress and does not accept messages");
  if (!answer.decisions.empty()) co_await decide(c, id, std::move(answer.decisions));
  if (!answer.results.empty()) {
    json::object body;
    body["tool_results"] = std::move(answer.results);
    std::string text = json::serialize(body);
    (void)co_await runs_.tool_results(c.account, *ry::uuid::parse(id), std::move(text));
  }
  co_return co_await find(c, id);
}

// A context id that is a UUID is that of an existing thread, or names a new one. A repeated request must have the same
// form as the request that created the thread, so the second form follows also after a conflict of the idempotency key.
ry::task<ry::runs::started> tasks::start_run(caller c, const send_params& message) const {
  if (message.context_id.empty()) {
    ry::runs::start_request request = request_of(c, message);
    co_return co_await runs_.start(std::move(request));
  }
  const auto given = ry::uuid::parse(message.context_id);
  const ry::uuid thread = thread_of(c.account, message.context_id);
  if (given) {
    ry::runs::start_request existing = request_of(c, message);
    existing.field("thread_id", thread.to_string());
    try {
      co_return co_await runs_.start(std::move(existing));
    } catch (const ry::error& e) {
      if (e.http_status() != 404 && !is_reused_key(e)) throw;
    }
  }
  ry::runs::start_request named = request_of(c, message);
  named.field("thread_id", thread.to_string())
      .field("project_id", project_of_thread(c.account, thread).to_string())
      .field("optimistic", "true");
  co_return co_await runs_.start(std::move(named));
}

ry::task<started_task> tasks::start(caller c, send_params message) const {
  if (!message.task_id.empty()) co_return co_await continue_task(c, std::move(message));
  ry::runs::started run;
  try {
    run = co_await start_run(c, message);
  } catch (const ry::error& e) {
    throw start_error(e);
  }
  started_task out{task_ids{run.run_id, run.thread_id}, task_state::working, std::move(message.metadata)};
  if (run.queue_position > 0) out.state = task_state::submitted;
  if (message.context_id.empty() || ry::uuid::parse(message.context_id)) co_return out;
  out.ids.context = message.context_id;
  const auto thread = ry::uuid::parse(run.thread_id);
  if (thread) co_await ry::shield(contexts_.put(c.account, *thread, message.context_id));
  co_return out;
}

ry::task<void> tasks::add_messages(caller c, task_ids ids, std::size_t history, bool artifacts,
                                   json::object& task) const {
  const auto thread = thread_of(c.account, ids.context);
  run_messages found(ids, history);
  std::string cursor;
  for (int i = 0; i < max_message_pages; ++i) {
    ry::runs::fields query = {{"order", "desc"},
                              {"limit", std::to_string(history == 0 ? short_message_page : message_page)}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const std::string text = co_await runs_.messages(c.account, thread, std::move(query));
    const json::object page = parse_object(text);
    const json::array* messages = module_json::array_at(page, "messages");
    if (messages != nullptr && !found.add_page(*messages)) break;
    cursor = module_json::text_of(page, "next_cursor");
    if (cursor.empty() || found.has_enough()) break;
  }
  const auto answer = found.answer();
  if (artifacts && answer) task["artifacts"] = json::array{answer_artifact(*answer)};
  json::array messages = found.history();
  if (!messages.empty()) task["history"] = std::move(messages);
}

ry::task<json::object> tasks::get(caller c, std::string id, std::optional<std::int64_t> history_length) const {
  json::object run = co_await run_of(c, id);
  co_await complete_requests(c, run);
  const std::string context = co_await contexts_.name_of(c.account, module_json::text_of(run, "thread_id"));
  const task_ids ids{module_json::text_of(run, "id"), context};
  json::object task = task_of(run, ids);
  const auto history = static_cast<std::size_t>(std::min(history_length.value_or(max_history), max_history));
  const bool ended = is_terminal(state_of(run));
  if (ended || history > 0) co_await add_messages(c, ids, history, ended, task);
  co_return task;
}

ry::task<json::object> tasks::cancel(caller c, std::string id) const {
  const json::object run = co_await run_of(c, id);
  const std::string_view state = state_of(run);
  if (is_terminal(state)) throw task_not_cancelable(id, state);
  const std::string text = co_await runs_.stop(c.account, *ry::uuid::parse(id));
  const json::object stopped = parse_object(text);
  const std::string_view now = state_of(module_json::text_at(stopped, "status"), false);
  if (now != task_state::canceled) throw task_not_cancelable(id, now);
  co_return co_await get(c, id, 0);
}

ry::task<void> tasks::mark_waiting(caller c, json::array& runs) const {
  const bool any_running = std::any_of(runs.begin(), runs.end(), [](const json::value& run) {
    return run.is_object() && module_json::text_at(run.get_object(), "status") == "running";
  });
  if (!any_running) co_return;
  ry::runs::fields query{{"status", "pending"}, {"limit", "100"}};
  const std::string text = co_await runs_.approvals(c.account, std::move(query));
  const json::object page = parse_object(text);
  const json::array* pending = module_json::array_at(page, "approvals");
  if (pending == nullptr) co_return;
  for (json::value& run : runs) {
    if (!run.is_object() || !requests_of(run.get_object()).empty()) continue;
    json::array requests;
    for (const json::value& v : *pending) {
      json::object approval = v.as_object();
      if (module_json::text_at(approval, "agent_run_id") != module_json::text_at(run.get_object(), "id")) continue;
      approval["type"] = "approval";
      requests.push_back(std::move(approval));
    }
    if (!requests.empty()) run.get_object()["waiting_for"] = std::move(requests);
  }
}

ry::task<tasks::page> tasks::read_page(caller c, const list_params& params, std::string cursor,
                                       std::int64_t limit) const {
  page out;
  ry::runs::fields query = {{"limit", std::to_string(limit)}};
  const auto status = run_status_of(params.status);
  if (!status) co_return out;
  if (!params.context_id.empty())
    query.emplace_back("thread_id", thread_of(c.account, params.context_id).to_string());
  else if (!status->empty())
    query.emplace_back("status", *status);
  if (!cursor.empty()) query.emplace_back("cursor", std::move(cursor));
  std::string text;
  try {
    text = co_await runs_.list(c.account, std::move(query));
  } catch (const ry::error& e) {
    if (e.http_status() == 400) throw invalid_params("pageToken", "is not valid for this list");
    if (e.http_status() != 404) throw;
    co_return out;  // no such context
  }
  json::object read = parse_object(text);
  out.next = module_json::text_of(read, "next_cursor");
  json::array runs;
  if (const json::array* list = module_json::array_at(read, "agent_runs")) runs = *list;
  co_await mark_waiting(c, runs);
  for (const json::value& run : runs)
    if (run.is_object() && is_listed(params, c.agent, run.get_object())) out.runs.push_back(run);
  co_return out;
}

ry::task<std::int64_t> tasks::count(caller c, const list_params& params) const {
  std::int64_t out = 0;
  std::string cursor;
  for (int i = 0; i < max_count_pages; ++i) {
    const page read = co_await read_page(c, params, cursor, count_page);
    out += static_cast<std::int64_t>(read.runs.size());
    cursor = read.next;
    if (cursor.empty()) break;
  }
  co_return out;
}

ry::task<json::array> tasks::listed_tasks(caller c, const list_params& params, json::array runs) const {
  std::vector<std::string> threads;
  for (const json::value& run : runs) threads.push_back(module_json::text_of(run.get_object(), "thread_id"));
  auto names = co_await contexts_.names_of(c.account, threads);
  const auto history = static_cast<std::size_t>(std::min(params.history_length, max_history));
  json::array out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const json::object& run = runs[i].get_object();
    const task_ids ids{module_json::text_of(run, "id"), names[threads[i]]};
    json::object task = task_of(run, ids);
    if (params.include_artifacts) task["artifacts"] = json::array{};
    const bool answered = params.include_artifacts && is_terminal(state_of(run));
    if (answered || history > 0) co_await add_messages(c, ids, history, answered, task);
    out.push_back(std::move(task));
  }
  co_return out;
}

ry::task<json::object> tasks::list(caller c, list_params params) const {
  json::array runs;
  std::string cursor = params.page_token;
  for (int i = 0; i < max_list_pages; ++i) {
    const std::int64_t wanted = params.page_size - static_cast<std::int64_t>(runs.size());
    page read = co_await read_page(c, params, cursor, wanted);
    for (json::value& run : read.runs) runs.push_back(std::move(run));
    cursor = read.next;
    if (cursor.empty() || static_cast<std::int64_t>(runs.size()) == params.page_size) break;
  }
  std::int64_t total = static_cast<std::int64_t>(runs.size());
  if (!params.page_token.empty() || !cursor.empty()) {
    const std::int64_t counted = co_await count(c, params);
    total = std::max(total, counted);
  }
  json::array listed = co_await listed_tasks(c, params, std::move(runs));
  json::object out;
  out["tasks"] = std::move(listed);
  out["nextPageToken"] = cursor;
  out["pageSize"] = params.page_size;
  out["totalSize"] = total;
  co_return out;
}

}  // namespace a2a
