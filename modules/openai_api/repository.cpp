#include "repository.hpp"

#include <utility>

namespace openai_api {

ry::task<void> repository::add(response_row row, ry::tx& in) const {
  ry::result<ry::rows> done = co_await in.query(
      "insert into openai_api.response (run_id, account_id, thread_id, base, system) values ($1, $2, $3, $4, $5) "
      "on conflict do nothing",
      row.run, row.account, row.thread, row.base, row.system);
  done.value();
}

ry::task<std::optional<response_row>> repository::find(ry::uuid account, ry::uuid run) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select thread_id, base, system from openai_api.response where run_id = $1 and account_id = $2 and not "
      "deleted",
      run, account);
  if (found.value().empty()) co_return std::nullopt;
  const ry::row r = found->front();
  response_row out;
  out.run = run;
  out.account = account;
  out.thread = r.uuid("thread_id");
  out.base = std::string(r.text("base"));
  out.system = std::string(r.text("system"));
  co_return out;
}

ry::task<bool> repository::is_deleted(ry::uuid account, ry::uuid run) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select 1 from openai_api.response where run_id = $1 and account_id = $2 and deleted", run, account);
  co_return !found.value().empty();
}

ry::task<void> repository::mark_deleted(ry::uuid account, ry::uuid run) const {
  ry::result<ry::rows> done = co_await ctx_.db().query(
      "update openai_api.response set deleted = true, base = '{}', system = '' where run_id = $1 and account_id = $2",
      run, account);
  done.value();
}

ry::task<bool> repository::has_responses(ry::uuid account, ry::uuid thread) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select 1 as one from openai_api.response where thread_id = $1 and account_id = $2 and not deleted limit 1",
      thread, account);
  co_return !found.value().empty();
}

ry::task<std::int64_t> repository::count_deleted(ry::uuid account, ry::uuid thread) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select count(*)::bigint as n from openai_api.response where thread_id = $1 and account_id = $2 and deleted",
      thread, account);
  co_return found.value().front().int64("n");
}

ry::task<void> repository::delete_thread(ry::uuid account, ry::uuid thread) const {
  ry::result<ry::rows> done = co_await ctx_.db().query(
      "delete from openai_api.response where thread_id = $1 and account_id = $2", thread, account);
  done.value();
}

ry::task<void> repository::delete_account(ry::uuid account) const {
  ry::result<ry::rows> done =
      co_await ctx_.db().query("delete from openai_api.response where account_id = $1", account);
  done.value();
}

ry::task<void> repository::prune() const {
  ry::result<ry::rows> done =
      co_await ctx_.db().query("delete from openai_api.response where created_at < now() - interval '30 days'");
  done.value();
}

}  // namespace openai_api
