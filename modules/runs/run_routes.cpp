#include "run_routes.hpp"

#include <algorithm>

#include "text.hpp"

namespace runs {
namespace {

// How long a stop waits for a worker on another node before it ends the run over its head.
constexpr std::int64_t remote_stop_us = 700'000;
constexpr std::uint64_t remote_look_ms = 20;

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

// The run that a page of runs goes on after.
std::optional<std::string> run_cursor(const ry::request& request, std::string_view list) {
  const std::optional<cursor> at = page_cursor(request, list);
  if (!at) return std::nullopt;
  std::optional<std::string> before = normal_uuid(at->first);
  if (!before) throw refusal(400, "cursor is not valid for this list");
  return before;
}

std::string page_json(const char* name, const std::string& list, const repository::page& page) {
  const std::string next = page.next_first.empty() ? "null" : json_string(encode_cursor(list, page.next_first, page.next_second));
  return "{\"" + std::string(name) + "\":" + page.items + ",\"next_cursor\":" + next + "}";
}

ry::task<ry::response> run_routes::stop(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller who = co_await caller_of(parts_, request);
  // A client that hangs up does not take its wish back.
  const std::string status = co_await ry::shield(stop_run(who.id, id));
  co_return ry::response::json(200, "{\"status\":" + json_string(status) + "}");
}

ry::task<std::string> run_routes::stop_run(std::string account, std::string id) {
  ry::result<std::optional<repository::stop_answer>> noted =
      co_await parts_.repo.request_stop(account, id);
  if (!noted.value()) throw refusal(404, "Run not found");
  if ((*noted)->status != "running") co_return (*noted)->status;

  const ry::uuid uuid = *ry::uuid::parse(id);
  if (std::shared_ptr<live_run> run = parts_.live.find(uuid)) {
    co_await parts_.ctx.switch_to(run->exec);
    run->interrupt(RY_WHY_USER);
    // `over` lets all waiters go at once; whoever comes later finds ended() set.
    while (!run->ended()) (void)co_await run->over.wait();
    if (run->final_status() != "running") co_return std::string(run->final_status());
  } else {
    // Its failure changes nothing: the run is ended below then.
    (void)co_await parts_.ctx.jobs().cancel((*noted)->job);
  }
  for (const std::int64_t until = parts_.ctx.mono_us() + remote_stop_us; parts_.ctx.mono_us() < until;) {
    ry::result<std::string> status = co_await parts_.repo.status_of(id);
    if (status.value() != "running") co_return *status;
    (void)co_await parts_.ctx.sleep(remote_look_ms);
  }
  ry::result<std::string> forced = 
      co_await parts_.repo.force_stop(id, parts_.config.webhooks_for("stopped"));
  parts_.ctx.jobs().poke("webhooks");
  (void)parts_.ctx.events().live_publish(topic_of(uuid), 0, {}, RY_LIVE_HINT);
  co_return std::move(forced).value();
}

ry::task<ry::response> run_routes::get(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller who = co_await caller_of(parts_, request);
  ry::result<std::optional<std::string>> json = co_await parts_.repo.run_json(who.id, id);
  if (!json.value()) throw refusal(404, "Run not found");
  co_return ry::response::json(200, std::move(**json));
}

ry::task<ry::response> run_routes::list(ry::request request) {
  const std::int64_t limit = page_limit(request, 50);
  std::optional<std::string> status = request.query("status");
  if (status && status->empty()) status.reset();
  if (status && *status != "running" && *status != "completed" && *status != "failed" &&
      *status != "stopped")
    throw refusal(422, "status must be running, completed, failed or stopped");
  const std::string list = "runs" + (status ? ":" + *status : "");
  const std::optional<std::string> before = run_cursor(request, list);
  const caller who = co_await caller_of(parts_, request);
  ry::result<repository::page> page = co_await parts_.repo.runs_page(who.id, status, before, limit);
  co_return ry::response::json(200, page_json("agent_runs", list, page.value()));
}

ry::task<ry::response> run_routes::active(ry::request request) {
  const caller who = co_await caller_of(parts_, request);
  ry::result<repository::page> page =
      co_await parts_.repo.runs_page(who.id, std::string("running"), std::nullopt, 1000);
  co_return ry::response::json(200, "{\"active_runs\":" + page.value().items + "}");
}

ry::task<ry::response> run_routes::of_thread(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const std::int64_t limit = page_limit(request, 50);
  const std::string list = "runs:" + id;
  const std::optional<std::string> before = run_cursor(request, list);
  const caller who = co_await caller_of(parts_, request);
  ry::result<std::optional<repository::page>> page =
      co_await parts_.repo.thread_runs(who.id, id, before, limit);
  if (!page.value()) throw refusal(404, "Thread not found");
  co_return ry::response::json(200, page_json("agent_runs", list, **page));
}

}  // namespace runs
