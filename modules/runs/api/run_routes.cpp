#include "api/run_routes.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>

#include "agent/waiting.hpp"
#include "api/caller.hpp"
#include "api/error_response.hpp"
#include "module_context.hpp"
#include "text.hpp"

namespace runs {
namespace {

// Time that a stop waits for the run's worker before it force-finishes the run.
constexpr std::int64_t stop_wait_us = 500'000;
constexpr std::uint64_t status_poll_ms = 20;

std::optional<std::string> status_filter(const ry::request& request) {
  std::optional<std::string> status = request.query("status");
  if (!status || status->empty()) return std::nullopt;
  status = ry::lower_ascii(*status);
  for (const char* known : {"running", "completed", "failed", "stopped"})
    if (*status == known) return status;
  throw refusal(422, "status must be running, completed, failed or stopped");
}

}  // namespace

std::int64_t page_limit(const ry::request& request, std::int64_t default_limit) {
  const auto text = request.query("limit");
  if (!text) return default_limit;
  const auto value = parse_int(*text);
  if (!value || *value < 1 || *value > 100) throw refusal(422, "limit must be a number from 1 to 100");
  return *value;
}

std::optional<cursor> page_cursor(const ry::request& request, std::string_view list) {
  const auto text = request.query("cursor");
  if (!text || text->empty()) return std::nullopt;
  auto decoded = decode_cursor(list, *text);
  if (!decoded) throw refusal(400, "cursor is not valid for this list");
  return decoded;
}

// The id of the run after which a page of runs begins.
std::optional<std::string> run_cursor(const ry::request& request, std::string_view list) {
  const std::optional<cursor> at = page_cursor(request, list);
  if (!at) return std::nullopt;
  std::optional<std::string> before = canonical_uuid(at->first);
  if (!before) throw refusal(400, "cursor is not valid for this list");
  return before;
}

std::string page_json(const char* name, const std::string& list, const repository::page& page) {
  const std::string next =
      page.next_first.empty() ? "null" : json_string(encode_cursor(list, page.next_first, page.next_second));
  return "{\"" + std::string(name) + "\":" + page.items + ",\"next_cursor\":" + next + "}";
}

ry::task<ry::response> run_routes::stop(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(context_.accounts, request);
  // Shielded: the stop continues even if the client disconnects.
  const std::string status = co_await ry::shield(stop_run(requester.id, id));
  co_return ry::response::json(200, "{\"status\":" + json_string(status) + "}");
}

ry::task<std::string> run_routes::stop_run(std::string account, std::string id) {
  const std::int64_t deadline_us = context_.ctx.mono_us() + stop_wait_us;
  const ry::uuid uuid = *ry::uuid::parse(id);
  const std::vector<std::string> webhooks = context_.config.webhooks_for("stopped");
  ry::result<std::optional<stop_answer>> answer = co_await context_.repo.request_stop(account, id, webhooks);
  if (!answer.value()) throw refusal(404, "Run not found");
  std::string status = (*answer)->status;
  if ((*answer)->ended) context_.metrics.ended.add("user_stop");
  const char* label = (*answer)->ended ? "forced" : status != "running" ? "over" : "worker";
  const std::shared_ptr<live_run> live = context_.live.find(uuid);
  if (live) {
    co_await context_.ctx.switch_to(live->exec);
    // If the run has ended without this worker, the worker must not write anything more.
    live->stop.interrupt(status == "running" ? RY_REASON_USER : RY_REASON_LEASE_LOST);
    while (status == "running" && !live->events.ended() && context_.ctx.mono_us() < deadline_us)
      co_await wait_for(
          context_.ctx, live->events.over,
          static_cast<std::uint64_t>(std::max<std::int64_t>(deadline_us - context_.ctx.mono_us(), 1000)) / 1000);
    if (live->progress.final_status != "running") {
      context_.metrics.stops.add(label);
      co_return live->progress.final_status;
    }
  }
  while (status == "running" && context_.ctx.mono_us() < deadline_us) {
    ry::result<std::string> now = co_await context_.repo.status_of(id);
    status = now.value();
    if (status == "running") (void)co_await context_.ctx.sleep(status_poll_ms);
  }
  if (status == "running") {
    label = "forced";
    ry::result<std::string> forced = co_await context_.repo.force_stop(id, webhooks);
    status = std::move(forced).value();
    if (live) live->stop.interrupt(RY_REASON_LEASE_LOST);
    if (status == "stopped") context_.metrics.ended.add("user_stop");
  }
  if (status.empty()) throw refusal(404, "Run not found");  // the thread was deleted meanwhile
  context_.metrics.stops.add(label);
  // The stop may have created webhook jobs, and the job of a run that waited for this one.
  if (status == "stopped") {
    context_.ctx.jobs().wake("webhooks");
    context_.ctx.jobs().wake("runs");
  }
  // Includes this node, because readers here may follow a run of another node.
  (void)context_.ctx.events().live_publish(topic_of(uuid), 0, {}, 0);
  co_return status;
}

ry::task<ry::response> run_routes::get(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(context_.accounts, request);
  ry::result<std::optional<std::string>> json = co_await context_.repo.run_json(requester.id, id);
  if (!json.value()) throw refusal(404, "Run not found");
  co_return ry::response::json(200, std::move(**json));
}

ry::task<ry::response> run_routes::list(ry::request request) {
  const std::int64_t limit = page_limit(request, 50);
  const std::optional<std::string> status = status_filter(request);
  const std::string list = "runs" + (status ? ":" + *status : "");
  const std::optional<std::string> before = run_cursor(request, list);
  const caller requester = co_await caller_of(context_.accounts, request);
  ry::result<repository::page> page = co_await context_.repo.runs_page(requester.id, status, before, limit);
  co_return ry::response::json(200, page_json("agent_runs", list, page.value()));
}

ry::task<ry::response> run_routes::active(ry::request request) {
  const caller requester = co_await caller_of(context_.accounts, request);
  ry::result<repository::page> page =
      co_await context_.repo.runs_page(requester.id, std::string("running"), std::nullopt, 1000);
  co_return ry::response::json(200, "{\"active_runs\":" + page.value().items + "}");
}

ry::task<ry::response> run_routes::of_thread(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const std::int64_t limit = page_limit(request, 50);
  const std::string list = "runs:" + id;
  const std::optional<std::string> before = run_cursor(request, list);
  const caller requester = co_await caller_of(context_.accounts, request);
  ry::result<std::optional<repository::page>> page =
      co_await context_.repo.thread_runs(requester.id, id, before, limit);
  if (!page.value()) throw refusal(404, "Thread not found");
  co_return ry::response::json(200, page_json("agent_runs", list, **page));
}

}  // namespace runs
