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

// How long a stop waits for the run's worker before it force-finishes the run.
constexpr std::int64_t patience_us = 500'000;
constexpr std::uint64_t look_ms = 20;

std::optional<std::string> status_filter(const ry::request& request) {
  std::optional<std::string> status = request.query("status");
  if (!status || status->empty()) return std::nullopt;
  status = ry::lower_ascii(*status);
  for (const char* known : {"running", "completed", "failed", "stopped"})
    if (*status == known) return status;
  throw refusal(422, "status must be running, completed, failed or stopped");
}

}  // namespace

std::int64_t page_limit(const ry::request& request, std::int64_t otherwise) {
  const auto text = request.query("limit");
  if (!text) return otherwise;
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

// The run after which a page of runs begins.
std::optional<std::string> run_cursor(const ry::request& request, std::string_view list) {
  const std::optional<cursor> at = page_cursor(request, list);
  if (!at) return std::nullopt;
  std::optional<std::string> before = normal_uuid(at->first);
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
  const caller who = co_await caller_of(context_.accounts, request);
  // A client that disconnects does not withdraw the stop.
  const std::string status = co_await ry::shield(stop_run(who.id, id));
  co_return ry::response::json(200, "{\"status\":" + json_string(status) + "}");
}

ry::task<std::string> run_routes::stop_run(std::string account, std::string id) {
  const std::int64_t until = context_.ctx.mono_us() + patience_us;
  const ry::uuid uuid = *ry::uuid::parse(id);
  const std::vector<std::string> webhooks = context_.config.webhooks_for("stopped");
  ry::result<std::optional<stop_answer>> noted = co_await context_.repo.request_stop(account, id, webhooks);
  if (!noted.value()) throw refusal(404, "Run not found");
  std::string status = (*noted)->status;
  if ((*noted)->ended) context_.metrics.ended.add("user_stop");
  const char* how = (*noted)->ended ? "forced" : status != "running" ? "over" : "worker";
  const std::shared_ptr<live_run> here = context_.live.find(uuid);
  if (here) {
    co_await context_.ctx.switch_to(here->exec);
    // The run has ended without this worker, which must write nothing more.
    here->stop.interrupt(status == "running" ? RY_REASON_USER : RY_REASON_LEASE_LOST);
    while (status == "running" && !here->events.ended() && context_.ctx.mono_us() < until)
      co_await wait_for(
          context_.ctx, here->events.over,
          static_cast<std::uint64_t>(std::max<std::int64_t>(until - context_.ctx.mono_us(), 1000)) / 1000);
    if (here->progress.final_status != "running") {
      context_.metrics.stops.add(how);
      co_return here->progress.final_status;
    }
  }
  while (status == "running" && context_.ctx.mono_us() < until) {
    ry::result<std::string> now = co_await context_.repo.status_of(id);
    status = now.value();
    if (status == "running") (void)co_await context_.ctx.sleep(look_ms);
  }
  if (status == "running") {
    how = "forced";
    ry::result<std::string> forced = co_await context_.repo.force_stop(id, webhooks);
    status = std::move(forced).value();
    if (here) here->stop.interrupt(RY_REASON_LEASE_LOST);
    if (status == "stopped") context_.metrics.ended.add("user_stop");
  }
  if (status.empty()) throw refusal(404, "Run not found");  // its thread was deleted meanwhile
  context_.metrics.stops.add(how);
  // The stop may have created webhook jobs, and the job of a run that waited for this end.
  if (status == "stopped") {
    context_.ctx.jobs().wake("webhooks");
    context_.ctx.jobs().wake("runs");
  }
  // Also on this node: readers here may follow a run of another node.
  (void)context_.ctx.events().live_publish(topic_of(uuid), 0, {}, 0);
  co_return status;
}

ry::task<ry::response> run_routes::get(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller who = co_await caller_of(context_.accounts, request);
  ry::result<std::optional<std::string>> json = co_await context_.repo.run_json(who.id, id);
  if (!json.value()) throw refusal(404, "Run not found");
  co_return ry::response::json(200, std::move(**json));
}

ry::task<ry::response> run_routes::list(ry::request request) {
  const std::int64_t limit = page_limit(request, 50);
  const std::optional<std::string> status = status_filter(request);
  const std::string list = "runs" + (status ? ":" + *status : "");
  const std::optional<std::string> before = run_cursor(request, list);
  const caller who = co_await caller_of(context_.accounts, request);
  ry::result<repository::page> page = co_await context_.repo.runs_page(who.id, status, before, limit);
  co_return ry::response::json(200, page_json("agent_runs", list, page.value()));
}

ry::task<ry::response> run_routes::active(ry::request request) {
  const caller who = co_await caller_of(context_.accounts, request);
  ry::result<repository::page> page =
      co_await context_.repo.runs_page(who.id, std::string("running"), std::nullopt, 1000);
  co_return ry::response::json(200, "{\"active_runs\":" + page.value().items + "}");
}

ry::task<ry::response> run_routes::of_thread(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const std::int64_t limit = page_limit(request, 50);
  const std::string list = "runs:" + id;
  const std::optional<std::string> before = run_cursor(request, list);
  const caller who = co_await caller_of(context_.accounts, request);
  ry::result<std::optional<repository::page>> page = co_await context_.repo.thread_runs(who.id, id, before, limit);
  if (!page.value()) throw refusal(404, "Thread not found");
  co_return ry::response::json(200, page_json("agent_runs", list, **page));
}

}  // namespace runs
