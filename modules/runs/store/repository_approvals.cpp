// Approvals and parked runs: the functions of migrations/functions/approvals.sql.
#include "store/repository.hpp"
#include "store/sql_call.hpp"

namespace runs {
namespace {

park_outcome park_outcome_of(std::string_view name) {
  if (name == "parked") return park_outcome::parked;
  if (name == "resolved") return park_outcome::resolved;
  if (name == "stop") return park_outcome::stop;
  return park_outcome::gone;
}

}  // namespace

ry::task<ry::result<std::vector<approval>>> repository::request_approvals(ry::uuid run, std::int64_t fence,
                                                                          std::int64_t step,
                                                                          std::vector<approval_request> calls,
                                                                          std::string on_timeout,
                                                                          std::int64_t timeout_seconds) const {
  std::vector<std::string> ids, call_ids, tools, sources, arguments, kinds;
  for (const approval_request& c : calls) {
    ids.push_back(c.id.to_string());
    call_ids.push_back(c.tool_call_id);
    tools.push_back(c.tool);
    sources.push_back(c.source);
    arguments.push_back(c.arguments);
    kinds.push_back(c.of_client ? "client" : "approval");
  }
  ry::result<ry::rows> rows = co_await db_.query(
      "select id, tool_call_id, status, arguments, reason, begun, announced, resolved_event, expires_at, on_timeout, kind, result, "
      "result_is_error, is_changed from "
      "runs.request_approvals($1, $2::bigint, $3::bigint, $4::text[]::uuid[], $5::text[], $6::text[], $7::text[], "
      "$8::text[], $9::text[], $10::text, $11::bigint)",
      run, fence, step, ids, call_ids, tools, sources, arguments, kinds, on_timeout, timeout_seconds);
  if (!rows) co_return rows.error();
  std::vector<approval> out;
  for (const ry::row r : *rows) {
    approval& a = out.emplace_back();
    a.id = std::string(r.text(0));
    a.tool_call_id = std::string(r.text(1));
    a.status = std::string(r.text(2));
    a.arguments = std::string(r.text(3));
    a.reason = std::string(r.opt_text(4).value_or(""));
    a.begun = r.boolean(5);
    a.announced = r.boolean(6);
    a.resolved_event = r.boolean(7);
    a.expires_at = std::string(r.text(8));
    a.on_timeout = std::string(r.text(9));
    a.of_client = r.text(10) == "client";
    a.result = std::string(r.opt_text(11).value_or(""));
    a.result_is_error = r.boolean(12);
    a.is_changed = r.boolean(13);
  }
  co_return out;
}

ry::task<ry::result<std::vector<earlier_approval>>> repository::earlier_approvals(
    ry::uuid run, std::int64_t step, std::vector<std::string> calls) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select tool_call_id, requested, needed from runs.earlier_approvals($1, $2::bigint, $3::text[])", run, step,
      calls);
  if (!rows) co_return rows.error();
  std::vector<earlier_approval> out;
  for (const ry::row r : *rows) out.push_back({std::string(r.text(0)), r.boolean(1), r.boolean(2)});
  co_return out;
}

ry::task<ry::result<bool>> repository::begin_approved(ry::uuid run, std::int64_t fence,
                                                      std::vector<std::string> approvals) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select runs.begin_approved($1, $2::bigint, $3::text[]::uuid[])", run, fence, approvals);
  if (!rows) co_return rows.error();
  co_return rows->front().boolean(0);
}

ry::task<ry::result<bool>> repository::ask_questions(ry::uuid run, std::int64_t fence, std::int64_t step,
                                                     std::vector<question_request> questions, question_limits limits,
                                                     bool held) const {
  std::vector<std::string> ids, calls, rounds, requests, kinds, tools, sources, arguments, texts;
  std::vector<std::optional<std::string_view>> states, problems;
  const auto or_null = [](const std::string& s) {
    return s.empty() ? std::nullopt : std::optional<std::string_view>(s);
  };
  for (const question_request& q : questions) {
    ids.push_back(q.id.to_string());
    calls.push_back(q.tool_call_id);
    rounds.push_back(std::to_string(q.round));
    requests.push_back(q.request);
    kinds.push_back(q.kind);
    tools.push_back(q.tool);
    sources.push_back(q.source);
    arguments.push_back(q.arguments);
    texts.push_back(q.question);
    states.push_back(or_null(q.state));
    problems.push_back(or_null(q.problem));
  }
  ry::result<ry::rows> rows = co_await db_.query(
      "select runs.ask_questions($1, $2::bigint, $3::bigint, $4::text[]::uuid[], $5::text[], $6::text[]::int[], $7::text[], $8::text[], "
      "$9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint, $16::text, $17::bigint, $18::boolean)",
      run, fence, step, ids, calls, rounds, requests, kinds, tools, sources, arguments, texts, states, problems,
      limits.per_run, limits.on_timeout, limits.timeout_seconds, held);
  if (!rows) co_return rows.error();
  co_return rows->front().boolean(0);
}

ry::task<ry::result<std::vector<asked_question>>> repository::questions_of(ry::uuid run, std::int64_t fence,
                                                                           std::int64_t step,
                                                                           std::vector<std::string> calls) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select id, tool_call_id, round, request, kind, status, arguments, question, content, reason, state, begun, announced, "
      "resolved_event, on_timeout, expires_at from runs.questions_of($1, $2::bigint, $3::bigint, $4::text[])",
      run, fence, step, calls);
  if (!rows) co_return rows.error();
  std::vector<asked_question> out;
  for (const ry::row r : *rows) {
    asked_question& q = out.emplace_back();
    q.id = std::string(r.text(0));
    q.tool_call_id = std::string(r.text(1));
    q.round = static_cast<int>(r.int64(2));
    q.request = std::string(r.text(3));
    q.kind = std::string(r.text(4));
    q.status = std::string(r.text(5));
    q.arguments = std::string(r.text(6));
    q.question = std::string(r.text(7));
    q.content = std::string(r.opt_text(8).value_or(""));
    q.reason = std::string(r.opt_text(9).value_or(""));
    q.state = std::string(r.opt_text(10).value_or(""));
    q.begun = r.boolean(11);
    q.announced = r.boolean(12);
    q.resolved_event = r.boolean(13);
    q.on_timeout = std::string(r.text(14));
    q.expires_at = std::string(r.text(15));
  }
  co_return out;
}

ry::task<ry::result<std::optional<repository::shown_question>>> repository::question_of(std::string account,
                                                                                        std::string id) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select kind, question from runs.question_of($1::uuid, $2::uuid)", account, id);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<shown_question>();
  const ry::row r = rows->front();
  co_return shown_question{std::string(r.text(0)), std::string(r.opt_text(1).value_or(""))};
}

ry::task<ry::result<park_outcome>> repository::park(ry::uuid run, std::int64_t job, std::int64_t fence,
                                                    std::int64_t last, std::int64_t slot_seconds) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select runs.park_run($1, $2::bigint, $3::bigint, $4::bigint, $5::bigint)", run, job, fence, last, slot_seconds);
  if (!rows && rows.error().is("jobs.fence_lost")) co_return park_outcome::gone;
  if (!rows) co_return rows.error();
  co_return park_outcome_of(rows->front().text(0));
}

ry::task<ry::result<approval_decision>> repository::decide_approval(std::optional<std::string> account, std::string id,
                                                                    std::string status,
                                                                    std::optional<std::string> arguments,
                                                                    std::optional<std::string> reason,
                                                                    std::string remember, std::int64_t remember_most,
                                                                    std::optional<std::string> content) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select outcome, approval, run_id from runs.decide_approval($1::uuid, $2::uuid, $3::text, $4::text, "
      "$5::text, $6::text, $7::bigint, $8::text)",
      account, id, status, arguments, reason, remember, remember_most, content);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  approval_decision out;
  out.outcome = std::string(r.text(0));
  out.approval = std::string(r.opt_text(1).value_or(""));
  out.run_id = std::string(r.opt_text(2).value_or(""));
  co_return out;
}

ry::task<ry::result<std::optional<approval_link>>> repository::find_approval_link(std::string token_hash) const {
  ry::result<ry::rows> rows =
      co_await db_.query_with({RY_DB_READ_ONLY, 0}, "select state, approval, agent, title from runs.approval_link($1)",
                              ry::bytes_view(token_hash));
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<approval_link>();
  const ry::row r = rows->front();
  co_return std::optional<approval_link>(approval_link{std::string(r.text(0)), std::string(r.text(1)),
                                                       std::string(r.opt_text(2).value_or("")),
                                                       std::string(r.opt_text(3).value_or(""))});
}

ry::task<ry::result<std::optional<link_decision>>> repository::decide_by_link(std::string token_hash,
                                                                              std::string status,
                                                                              std::optional<std::string> reason) const {
  ry::result<ry::rows> rows = co_await db_.query("select made, run_id from runs.decide_by_link($1, $2, $3::text)",
                                                 ry::bytes_view(token_hash), status, reason);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<link_decision>();
  const ry::row r = rows->front();
  co_return std::optional<link_decision>(link_decision{r.boolean(0), std::string(r.text(1))});
}

ry::task<ry::result<repository::results_outcome>> repository::put_tool_results(
    std::string account, std::string run, const std::vector<client_result>& results) const {
  std::vector<std::string> calls, contents;
  std::vector<std::optional<std::string_view>> errors;
  for (const client_result& r : results) {
    calls.push_back(r.tool_call_id);
    contents.push_back(r.content);
    errors.push_back(r.is_error ? "t" : "f");
  }
  ry::result<ry::rows> rows = co_await db_.query(
      "select outcome, at from runs.put_tool_results($1::uuid, $2::uuid, $3::text[], $4::text[], "
      "$5::text[]::boolean[])",
      account, run, calls, contents, errors);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  co_return results_outcome{std::string(r.text(0)), r.opt_int64(1).value_or(0)};
}

ry::task<ry::result<std::vector<due_approval>>> repository::due_approvals(std::int64_t limit) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select id, account_id, run_id, on_timeout from runs.due_approvals($1::bigint)", limit);
  if (!rows) co_return rows.error();
  std::vector<due_approval> out;
  for (const ry::row r : *rows)
    out.push_back({std::string(r.text(0)), std::string(r.text(1)), std::string(r.text(2)), std::string(r.text(3))});
  co_return out;
}

ry::task<ry::result<repository::page>> repository::approvals_page(std::string account, std::optional<std::string> run,
                                                                  std::optional<std::string> status,
                                                                  std::optional<std::string> before,
                                                                  std::int64_t limit) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select items, n, last from runs.approvals_page($1::uuid, $2::uuid, $3::text, $4::uuid, $5::bigint)", account,
      run, status, before, limit);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  page out{std::string(r.text(0)), {}, {}};
  out.next_first = std::string(r.opt_text(2).value_or(""));
  co_return out;
}

ry::task<ry::result<repository::page>> repository::remembered_approvals(std::string account,
                                                                        std::optional<std::string> agent,
                                                                        std::optional<std::string> before,
                                                                        std::int64_t limit) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0}, "select items, n, last from runs.remembered_page($1::uuid, $2::uuid, $3::uuid, $4::bigint)",
      account, agent, before, limit);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  page out{std::string(r.text(0)), {}, {}};
  if (r.int64(1) == limit) out.next_first = std::string(r.text(2));
  co_return out;
}

ry::task<ry::result<bool>> repository::revoke_remembered_approval(std::string account, std::string id) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "delete from runs.remembered_approvals m where m.account_id = $1::uuid and m.id = $2::uuid returning 1", account,
      id);
  if (!rows) co_return rows.error();
  co_return !rows->empty();
}

ry::task<ry::result<void>> repository::drop_approvals(ry::uuid run) const {
  ry::result<ry::rows> rows = co_await db_.query("select runs.drop_approvals($1)", run);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

}  // namespace runs
