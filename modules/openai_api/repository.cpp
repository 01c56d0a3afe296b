#include "repository.hpp"

#include <utility>

namespace openai_api {

namespace {

constexpr const char* insert_row =
    "insert into openai_api.response (run_id, account_id, thread_id, base, system, continued_run, answered, "
    "only_output) values ($1, $2, $3, $4, $5, nullif($6, $1), $7, $8) on conflict do nothing";
#define OPENAI_API_SELECT_ROW                                                                              \
  "select run_id, coalesce(continued_run, run_id) as run, account_id, thread_id, base, system, answered, " \
  "only_output from openai_api.response where account_id = $1 and not deleted and "

std::optional<response_row> first_row(const ry::rows& found) {
  if (found.empty()) return std::nullopt;
  const ry::row r = found.front();
  response_row out;
  out.id = r.uuid("run_id");
  out.run = r.uuid("run");
  out.account = r.uuid("account_id");
  out.thread = r.uuid("thread_id");
  out.base = std::string(r.text("base"));
  out.system = std::string(r.text("system"));
  out.answered = std::string(r.text("answered"));
  out.only_output = r.boolean("only_output");
  return out;
}

}  // namespace

ry::task<void> repository::add(response_row row, ry::tx& in) const {
  ry::result<ry::rows> done = co_await in.query(insert_row, row.id, row.account, row.thread, row.base, row.system,
                                                row.run, row.answered, row.only_output);
  done.value();
}

ry::task<void> repository::add(response_row row) const {
  ry::result<ry::rows> done = co_await ctx_.db().query(insert_row, row.id, row.account, row.thread, row.base,
                                                       row.system, row.run, row.answered, row.only_output);
  done.value();
}

ry::task<std::optional<response_row>> repository::find(ry::uuid account, ry::uuid id) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(OPENAI_API_SELECT_ROW "run_id = $2", account, id);
  co_return first_row(found.value());
}

ry::task<std::optional<response_row>> repository::find_newest(ry::uuid account, ry::uuid run) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      OPENAI_API_SELECT_ROW "(run_id = $2 or continued_run = $2) order by created_at desc, run_id desc limit 1",
      account, run);
  co_return first_row(found.value());
}

ry::task<std::optional<response_row>> repository::find_answered(ry::uuid account, ry::uuid run,
                                                                std::string answered) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      OPENAI_API_SELECT_ROW "continued_run = $2 and answered = $3 order by created_at, run_id limit 1", account, run,
      answered);
  co_return first_row(found.value());
}

ry::task<bool> repository::is_deleted(ry::uuid account, ry::uuid id) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select 1 from openai_api.response where run_id = $1 and account_id = $2 and deleted", id, account);
  co_return !found.value().empty();
}

ry::task<void> repository::mark_deleted(ry::uuid account, ry::uuid id) const {
  ry::result<ry::rows> done = co_await ctx_.db().query(
      "update openai_api.response set deleted = true, base = '{}', system = '' where run_id = $1 and account_id = $2",
      id, account);
  done.value();
}

ry::task<bool> repository::has_responses_of_run(ry::uuid account, ry::uuid run) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select 1 as one from openai_api.response where account_id = $1 and (run_id = $2 or continued_run = $2) "
      "and not deleted limit 1",
      account, run);
  co_return !found.value().empty();
}

ry::task<bool> repository::has_responses(ry::uuid account, ry::uuid thread) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select 1 as one from openai_api.response where thread_id = $1 and account_id = $2 and not deleted limit 1",
      thread, account);
  co_return !found.value().empty();
}

ry::task<std::int64_t> repository::count_deleted(ry::uuid account, ry::uuid thread) const {
  ry::result<ry::rows> found = co_await ctx_.db().query(
      "select count(*)::bigint as n from openai_api.response where thread_id = $1 and account_id = $2 and deleted "
      "and continued_run is null",
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
