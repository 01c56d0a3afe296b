#include "context_store.hpp"

#include "context_ids.hpp"

namespace a2a {
namespace {

// Names of deleted threads stay in the table. The next message in a context stores its name again if it was removed.
constexpr std::int64_t max_names_per_account = 10'000;

}  // namespace

ry::task<void> context_store::put(ry::uuid account, ry::uuid thread, std::string context_id) const {
  (co_await ctx_.db().query(
       "with added as (insert into a2a.context (account_id, thread_id, context_id) values ($1, $2, $3)"
       " on conflict do nothing returning 1)"
       " delete from a2a.context c where c.account_id = $1 and exists (select from added) and c.created_at <="
       " (select o.created_at from a2a.context o where o.account_id = $1 order by o.created_at desc"
       "  offset $4::bigint limit 1)",
       account, thread, context_id, max_names_per_account))
      .value();
}

ry::task<std::map<std::string, std::string>> context_store::names_of(ry::uuid account,
                                                                     std::vector<std::string> threads) const {
  std::map<std::string, std::string> out;
  std::vector<std::string> unknown;
  for (const std::string& thread : threads) {
    if (!out.emplace(thread, thread).second) continue;
    const auto id = ry::uuid::parse(thread);
    if (id && may_have_name(*id)) unknown.push_back(thread);
  }
  if (unknown.empty()) co_return out;
  const ry::rows rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select thread_id::text, context_id from a2a.context where account_id = $1 and thread_id = any($2::uuid[])",
           account, unknown))
          .value();
  for (const ry::row r : rows) out[std::string(r.text(0))] = r.text(1);
  co_return out;
}

ry::task<std::string> context_store::name_of(ry::uuid account, std::string thread) const {
  std::vector<std::string> one;
  one.push_back(thread);
  auto names = co_await names_of(account, std::move(one));
  co_return names[thread];
}

ry::task<void> context_store::delete_account(ry::uuid account) const {
  (co_await ctx_.db().query("delete from a2a.context where account_id = $1", account)).value();
}

}  // namespace a2a
