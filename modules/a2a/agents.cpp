#include "agents.hpp"

#include <optional>
#include <vector>

#include "errors.hpp"

namespace a2a {
namespace {

constexpr std::uint32_t page_size = 100;
constexpr int max_pages = 100;

struct page {
  std::vector<agent_summary> agents;
  bool more = false;
};

agent_summary summary_of(const ry_agent_view& v) {
  return {ry::text(v.agent_id), ry::text(v.name), ry::text(v.description), v.version, v.is_default != 0};
}

page read_page(const ry_agent_view* agents, std::size_t n, std::size_t stride, std::int32_t more) {
  page out;
  const auto* at = reinterpret_cast<const char*>(agents);
  for (std::size_t i = 0; i < n; ++i, at += stride)
    out.agents.push_back(summary_of(*reinterpret_cast<const ry_agent_view*>(at)));
  out.more = more != 0;
  return out;
}

}  // namespace

ry::task<ry::uuid> agents::account_of(ry::request r) const {
  auto got = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(got).value();
}

ry::task<agent_summary> agents::get(ry::uuid account, std::string id) const {
  const auto parsed = ry::uuid::parse(id);
  if (!parsed) throw agent_not_found();
  const std::string account_id = account.to_string(), agent_id = parsed->to_string();
  auto got = co_await ry::call<agent_summary, const ry_agent_view*>(
      [this, &account_id, &agent_id](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return service_->get(service_.self(), ry::str(account_id), ry::str(agent_id), 0, exec, fn, ctx);
      },
      [](const ry_agent_view* v) { return summary_of(*v); });
  if (got.status() == RY_NOT_FOUND) throw agent_not_found();
  co_return std::move(got).value();
}

ry::task<agent_summary> agents::get_default(ry::uuid account) const {
  std::optional<ry::uuid> before;
  for (int i = 0; i < max_pages; ++i) {
    auto got = co_await ry::call<page, const ry_agent_view*, std::size_t, std::size_t, std::int32_t>(
        [this, &account, &before](ry_exec* exec, ry_agent_list_fn fn, void* ctx) {
          return service_->list(service_.self(), &account, before ? &*before : nullptr, page_size, exec, fn, ctx);
        },
        [](const ry_agent_view* agents, std::size_t n, std::size_t stride, std::int32_t more) {
          return read_page(agents, n, stride, more);
        });
    const page read = std::move(got).value();
    for (const agent_summary& agent : read.agents)
      if (agent.is_default) co_return agent;
    if (!read.more || read.agents.empty()) break;
    before = ry::uuid::parse(read.agents.back().id);
  }
  throw agent_not_found();
}

}  // namespace a2a
