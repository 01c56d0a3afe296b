#include "services.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <algorithm>
#include <boost/json/array.hpp>

#include "elicitation.hpp"

namespace mcp_server {
namespace {

constexpr std::uint32_t max_agents = 100;
constexpr int max_pages = 20;

// Adds a page of messages. True: no other page is needed.
bool add_page(final_answer& answer, std::string_view text, std::string& cursor) {
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(text, max_service_json_depth, failed);
  if (failed || !v.is_object()) throw ry::internal("mcp_server.messages", "runs/1 returned an invalid page");
  if (const json::array* messages = module_json::array_at(v.get_object(), "messages")) {
    for (const json::value& each : *messages) {
      if (each.is_object() && answer.add(each.get_object())) return true;
    }
  }
  cursor = module_json::text_of(v.get_object(), "next_cursor");
  return cursor.empty();
}

}  // namespace

void services::acquire() {
  accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
  agents_ = ctx_.acquire<ry_agents_v1>(RY_SVC_AGENTS_1);
  runs_ = ry::runs::client(ctx_);
}

ry::task<ry::uuid> services::account_of(ry::request r) const {
  auto got = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(got).value();
}

ry::task<std::vector<agent_tool>> services::agent_tools(ry::uuid account) const {
  auto got = co_await ry::call<std::vector<agent_info>, const ry_agent_view*, std::size_t, std::size_t, std::int32_t>(
      [this, &account](ry_exec* exec, ry_agent_list_fn fn, void* ctx) {
        return agents_->list(agents_.self(), &account, nullptr, max_agents, exec, fn, ctx);
      },
      [](const ry_agent_view* first, std::size_t n, std::size_t stride, std::int32_t) {
        std::vector<agent_info> all;
        const auto* at = reinterpret_cast<const char*>(first);
        for (std::size_t i = 0; i < n; ++i) {
          const auto* a = reinterpret_cast<const ry_agent_view*>(at + i * stride);
          all.push_back({ry::text(a->agent_id), ry::text(a->name), ry::text(a->description)});
        }
        std::reverse(all.begin(), all.end());
        return all;
      });
  co_return name_tools(std::move(got).value());
}

ry::task<run_info> services::run(ry::uuid account, std::string id) const {
  const std::string text = co_await runs_.get(account, ry::require_uuid(id));
  co_return read_run(text);
}

ry::task<std::optional<run_info>> services::find_run(ry::uuid account, std::string id) const {
  try {
    co_return co_await run(account, std::move(id));
  } catch (const ry::error& e) {
    if (e.status() != RY_NOT_FOUND) throw;
  }
  co_return std::nullopt;
}

ry::task<run_state> services::run_with_answer(ry::uuid account, std::string id) const {
  run_state out;
  out.run = co_await run(account, std::move(id));
  if (out.run.ended()) out.text = co_await answer(account, out.run);
  co_return out;
}

ry::task<std::string> services::answer(ry::uuid account, run_info run) const {
  final_answer out(run.id);
  std::string cursor;
  for (int page = 0; page < max_pages; ++page) {
    // The answer is almost always the newest message.
    ry::runs::fields query{{"order", "desc"}, {"limit", page == 0 ? "5" : "100"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const std::string text = co_await runs_.messages(account, ry::require_uuid(run.thread_id), std::move(query));
    if (add_page(out, text, cursor)) break;
  }
  co_return out.text();
}

ry::task<json::array> services::pending_approvals(ry::uuid account, std::string run) const {
  ry::runs::fields query{{"run_id", std::move(run)}, {"status", "pending"}, {"limit", "100"}};
  const std::string page = co_await runs_.approvals(account, std::move(query));
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(page, max_service_json_depth, failed);
  if (failed || !v.is_object()) throw ry::internal("mcp_server.approvals", "runs/1 returned an invalid page");
  const json::array* list = module_json::array_at(v.get_object(), "approvals");
  json::array out;
  if (list != nullptr)
    for (const json::value& v : *list)
      if (v.is_object() && is_call_approval(v.get_object())) out.push_back(v);
  std::reverse(out.begin(), out.end());
  co_return out;
}

ry::task<void> services::decide(ry::uuid account, ry::uuid approval, std::string decision) const {
  try {
    (void)co_await runs_.decide(account, approval, std::move(decision));
  } catch (const ry::error& e) {
    // The decision that was made before applies.
    if (e.http_status() != 409 && e.http_status() != 404 && e.status() != RY_NOT_FOUND) throw;
  }
}

ry::task<void> services::stop(ry::uuid account, std::string id) const {
  (void)co_await runs_.stop(account, ry::require_uuid(id));
}

}  // namespace mcp_server
