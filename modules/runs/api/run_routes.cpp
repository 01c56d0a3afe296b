#include "api/run_routes.hpp"

#include <algorithm>
#include <ry/cpp/input.hpp>
#include <ry/cpp/text.hpp>

#include "api/caller.hpp"
#include "error_response.hpp"
#include "text.hpp"
#include "types/run_metadata.hpp"

namespace runs {
namespace {

std::optional<std::string> status_filter(const query_values& query) {
  std::optional<std::string> status = value_of(query, "status");
  if (!status || status->empty()) return std::nullopt;
  status = ry::lower_ascii(*status);
  for (const char* known : {"running", "completed", "failed", "stopped"})
    if (*status == known) return status;
  throw refusal(422, "status must be running, completed, failed or stopped");
}

// Throws a 422 if a filter by metadata is invalid.
std::optional<std::string> metadata_of(const query_values& query) {
  metadata_filter filter = read_metadata_filter(query);
  if (!filter.error.empty()) throw refusal(422, std::move(filter.error));
  return std::move(filter.json);
}

// The filters of a list, and their text for its cursors.
struct run_list_filter {
  repository::run_selection which;
  std::string text;
};
run_list_filter run_filters(const query_values& query) {
  run_list_filter out;
  out.which = {status_filter(query), metadata_of(query)};
  if (out.which.status) out.text += ":" + *out.which.status;
  // A mark of constant size, because the filter may be long.
  if (out.which.metadata) out.text += ":" + ry::make_cursor(*out.which.metadata, "metadata");
  return out;
}

}  // namespace

query_values query_of(const ry::request& request) {
  query_values out;
  for (const char* name : {"limit", "cursor", "status", "order", "run_id"})
    if (auto value = request.query(name)) out.emplace_back(name, std::move(*value));
  // Other parameters are ignored, even with invalid escapes.
  if (ry::view(request.view_of().query).find("metadata") == std::string_view::npos) return out;
  for (auto& parameter : request.query_list())
    if (metadata_filter_key(parameter.first)) out.push_back(std::move(parameter));
  return out;
}

std::optional<std::string> value_of(const query_values& query, std::string_view name) {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return std::nullopt;
}

std::int64_t page_limit(const query_values& query, std::int64_t default_limit) {
  const auto text = value_of(query, "limit");
  if (!text) return default_limit;
  const auto value = parse_int(*text);
  if (!value || *value < 1 || *value > 100) throw refusal(422, "limit must be a number from 1 to 100");
  return *value;
}

std::optional<cursor> page_cursor(const query_values& query, std::string_view list) {
  const auto text = value_of(query, "cursor");
  if (!text || text->empty()) return std::nullopt;
  auto decoded = decode_cursor(list, *text);
  if (!decoded) throw refusal(400, "cursor is not valid for this list");
  return decoded;
}

// The id of the run after which a page of runs begins.
std::optional<std::string> run_cursor(const query_values& query, std::string_view list) {
  const std::optional<cursor> at = page_cursor(query, list);
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
  const caller requester = co_await caller_of(accounts_, request);
  // Shielded: the stop continues even if the client disconnects.
  const std::string status = co_await ry::shield(stopper_.stop_run(requester.id, id));
  co_return ry::response::json(200, "{\"status\":" + json_string(status) + "}");
}

ry::task<std::string> run_routes::get_json(std::string account, std::string id) const {
  ry::result<std::optional<std::string>> json = co_await repo_.run_json(account, id);
  if (!json.value()) throw refusal(404, "Run not found");
  co_return std::move(**json);
}

ry::task<ry::response> run_routes::get(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await get_json(requester.id, id));
}

ry::task<std::string> run_routes::list_json(std::string account, query_values query) const {
  const std::int64_t limit = page_limit(query, 50);
  const run_list_filter filter = run_filters(query);
  const std::string list = "runs" + filter.text;
  const std::optional<std::string> before = run_cursor(query, list);
  ry::result<repository::page> page = co_await repo_.runs_page(account, filter.which, before, limit);
  co_return page_json("agent_runs", list, page.value());
}

ry::task<ry::response> run_routes::list(ry::request request) {
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await list_json(requester.id, query_of(request)));
}

ry::task<ry::response> run_routes::active(ry::request request) {
  const caller requester = co_await caller_of(accounts_, request);
  const repository::run_selection which{"running", metadata_of(query_of(request))};
  ry::result<repository::page> page = co_await repo_.runs_page(requester.id, which, std::nullopt, 1000);
  co_return ry::response::json(200, "{\"active_runs\":" + page.value().items + "}");
}

ry::task<std::string> run_routes::thread_list_json(std::string account, std::string thread, query_values query) const {
  const std::int64_t limit = page_limit(query, 50);
  const run_list_filter filter = run_filters(query);
  const std::string list = "runs:" + thread + filter.text;
  const std::optional<std::string> before = run_cursor(query, list);
  ry::result<std::optional<repository::page>> page =
      co_await repo_.thread_runs(account, thread, filter.which, before, limit);
  if (!page.value()) throw refusal(404, "Thread not found");
  co_return page_json("agent_runs", list, **page);
}

ry::task<ry::response> run_routes::of_thread(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await thread_list_json(requester.id, id, query_of(request)));
}

}  // namespace runs
