#include "api/caller.hpp"
#include "api/run_routes.hpp"
#include "error_response.hpp"

#include <ry/cpp/text.hpp>

namespace runs {
namespace {
constexpr std::int64_t last_us = 253'402'300'800'000'000;  // the end of the year 9999
constexpr int max_stops = 3;

// Parses ?name=true or ?name=false; false if it is absent.
bool flag(const ry::request& request, const char* name) {
  const auto text = request.query(name);
  const std::string value = ry::lower_ascii(text.value_or("false"));
  if (value == "true") return true;
  if (value == "false") return false;
  throw refusal(422, std::string(name) + " must be true or false");
}
}  // namespace

ry::task<ry::response> thread_routes::list(ry::request request) {
  const query_values query = query_of(request);
  const std::int64_t limit = page_limit(query, 50);
  const std::optional<cursor> at = page_cursor(query, "threads");
  std::optional<std::int64_t> before_us;
  std::optional<std::string> before_id;
  if (at) {
    before_us = parse_int(at->first);
    before_id = canonical_uuid(at->second);
    if (!before_us || *before_us < 0 || *before_us > last_us || !before_id)
      throw refusal(400, "cursor is not valid for this list");
  }
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<repository::page> page = co_await repo_.threads_page(requester.id, before_us, before_id, limit);
  co_return ry::response::json(200, page_json("threads", "threads", page.value()));
}

ry::task<ry::response> thread_routes::get(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<std::optional<std::string>> json = co_await repo_.thread_json(requester.id, id);
  if (!json.value()) throw refusal(404, "Thread not found");
  co_return ry::response::json(200, std::move(**json));
}

ry::task<std::string> thread_routes::messages_json(std::string account, std::string id, query_values query) const {
  const std::int64_t limit = page_limit(query, 100);
  const std::string direction = ry::lower_ascii(value_of(query, "order").value_or("asc"));
  if (direction != "asc" && direction != "desc") throw refusal(422, "order must be asc or desc");
  std::optional<std::string> run = value_of(query, "run_id");
  if (run) run = canonical_uuid(*run);
  if (!run && value_of(query, "run_id")) throw refusal(422, "run_id must be a UUID");
  const std::string list = "messages:" + id + ":" + direction + (run ? ":" + *run : "");
  const std::optional<cursor> at = page_cursor(query, list);
  std::optional<std::int64_t> after;
  if (at) {
    after = parse_int(at->first);
    if (!after) throw refusal(400, "cursor is not valid for this list");
  }
  const auto order = direction == "asc" ? repository::order::oldest_first : repository::order::newest_first;
  ry::result<std::optional<repository::page>> page =
      co_await repo_.messages_page(account, id, run, order, after, limit);
  if (!page.value()) throw refusal(404, "Thread not found");
  co_return page_json("messages", list, **page);
}

ry::task<ry::response> thread_routes::messages(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await messages_json(requester.id, id, query_of(request)));
}

ry::task<ry::result<repository::deletion>> thread_routes::delete_once(std::string account, std::string id) {
  const account_locks::pass lock(locks_, ry::uuid::parse(account).value_or(ry::uuid()));
  co_return co_await repo_.delete_thread(account, id);
}

ry::task<void> thread_routes::stop_runs(std::string account, std::string id) {
  ry::result<std::vector<std::string>> runs = co_await repo_.unfinished_runs(account, id);
  for (const std::string& run : runs.value()) {
    try {
      (void)co_await stopper_.stop_run(account, run);
    } catch (const ry::error& e) {
      // Another request has deleted the thread meanwhile.
      if (e.http_status() != 404) throw;
    }
  }
}

ry::task<ry::result<repository::deletion>> thread_routes::stop_and_delete(std::string account, std::string id) {
  ry::result<repository::deletion> done = co_await delete_once(account, id);
  // Another start may arrive between the stop and the deletion.
  for (int round = 0; round < max_stops && done.value().outcome == "busy"; ++round) {
    co_await ry::shield(stop_runs(account, id));
    done = co_await delete_once(account, id);
  }
  co_return done;
}

ry::task<thread_routes::erasure> thread_routes::erase(std::string account, std::string id) {
  ry::result<repository::deletion> done = co_await stop_and_delete(account, id);
  if (done.value().outcome == "busy") co_return erasure::busy;
  if (!done->orphaned_project.empty()) co_await copies_.remove(done->orphaned_project);
  co_return done->outcome == "not_found" ? erasure::not_found : erasure::done;
}

ry::task<ry::response> thread_routes::remove(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const bool forced = flag(request, "force");
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<repository::deletion> done = co_await delete_once(requester.id, id);
  if (forced && done.value().outcome == "busy") done = co_await stop_and_delete(requester.id, id);
  if (done.value().outcome == "not_found") throw refusal(404, "Thread not found");
  if (done->outcome == "busy") throw refusal(409, "The thread has a run in progress");
  if (!done->orphaned_project.empty()) co_await copies_.remove(done->orphaned_project);
  co_return ry::response::empty(204);
}

}  // namespace runs
