#include "store/repository.hpp"

#include <algorithm>

#include "store/sql_call.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::int64_t log_page_rows = 1000;
constexpr std::int64_t log_page_bytes = 200 * 1024;  // well below the limit of a stream's queue
// Upper bound of the bytes that an event's wire form has in addition to the text that its row stores.
constexpr std::int64_t max_event_overhead = 90;

// Limit of the bytes of a page of messages before its last message.
constexpr std::int64_t messages_page_bytes = 4 * 1024 * 1024;

std::string text_or_empty(const ry::row& row, std::string_view column) {
  return std::string(row.opt_text(column).value_or(""));
}

using texts = std::vector<std::optional<std::string_view>>;

std::optional<std::string> text_of(const std::optional<std::int64_t>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

// The steps as column arrays for the statement. Holds references into the steps.
struct step_columns {
  std::vector<std::optional<std::string>> accounts, queue_waits, first_tokens, covers_to;
  std::vector<std::string> runs, ids;
  std::vector<std::int64_t> jobs, fences, checkpoints, reserved, steps, inputs, outputs, cached, cache_writes, charges,
      row_of, seqs, lasts, message_of, webhook_of, joined;
  texts refs, notes, statuses, reasons, errors, error_codes, events, log_texts, roles, bodies, reasonings, webhooks,
      results;

  explicit step_columns(std::span<const checkpoint_step* const> all) {
    for (const checkpoint_step* s : all) add(*s);
  }
  void add(const checkpoint_step& s) {
    const step_record& r = *s.record;
    accounts.push_back(s.locks_account() ? std::optional(s.account.to_string()) : std::nullopt);
    runs.push_back(s.run.to_string());
    jobs.push_back(s.job);
    fences.push_back(s.fence);
    checkpoints.push_back(r.events.lasts.back());
    reserved.push_back(r.reserve_to);
    steps.push_back(r.step);
    inputs.push_back(r.usage.input);
    outputs.push_back(r.usage.output);
    cached.push_back(r.usage.cached);
    cache_writes.push_back(r.usage.cache_write);
    charges.push_back(r.charge_micro);
    joined.push_back(r.joined);
    refs.push_back(r.charge_ref);
    notes.push_back(r.charge_note);
    statuses.push_back(r.status);
    reasons.push_back(r.reason);
    errors.push_back(r.error);
    error_codes.push_back(r.error_code);
    results.push_back(r.output);
    events.push_back(r.event_json);
    queue_waits.push_back(text_of(r.queue_wait_ms));
    first_tokens.push_back(text_of(r.first_token_ms));
    const auto index = static_cast<std::int64_t>(runs.size());
    for (std::size_t i = 0; i < r.events.size(); ++i) {
      row_of.push_back(index);
      seqs.push_back(r.events.firsts[i]);
      lasts.push_back(r.events.lasts[i]);
      log_texts.push_back(r.events.texts[i]);
    }
    for (const stored_message& m : r.messages) {
      message_of.push_back(index);
      ids.push_back(m.id.to_string());
      roles.push_back(m.role);
      bodies.push_back(m.body);
      covers_to.push_back(m.role == "summary" ? text_of(r.covers_to) : std::nullopt);
      reasonings.push_back(std::nullopt);
      if (m.role == "assistant") reasonings.back() = r.reasoning;
    }
    for (const std::string& name : r.webhooks) {
      webhook_of.push_back(index);
      webhooks.push_back(name);
    }
  }
};

}  // namespace

ry::task<ry::result<void>> repository::add_messages(ry::tx& in, const std::string& thread,
                                                    std::optional<std::string> run,
                                                    const std::vector<added_message>& messages) const {
  std::vector<std::string> roles, bodies;
  for (const added_message& m : messages) {
    roles.push_back(m.role);
    bodies.push_back(m.body);
  }
  ry::result<ry::rows> rows = co_await in.query("select runs.add_messages($1::uuid, $2::uuid, $3::text[], $4::text[])",
                                                thread, run, roles, bodies);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<ry::rows>> repository::last_answer(ry::tx& in, const std::string& thread) const {
  co_return co_await in.query(
      "select m.role, m.body from runs.messages m where m.thread_id = $1::uuid and m.role <> 'summary' and m.position >= "
      "(select max(a.position) from runs.messages a where a.thread_id = $1::uuid and a.role = 'assistant') "
      "order by m.position",
      thread);
}

ry::task<ry::result<void>> repository::attach_message(ry::tx& in, const start_result& run, ry::uuid message,
                                                      std::string body, std::vector<upload_record> files) const {
  std::vector<std::string> names, types;
  std::vector<std::int64_t> sizes;
  for (upload_record& file : files) {
    names.push_back(std::move(file.name));
    types.push_back(std::move(file.media_type));
    sizes.push_back(file.size);
  }
  ry::result<ry::rows> rows = co_await in.query(
      "select runs.attach_uploads($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::text, $6::text[], "
      "$7::bigint[], $8::text[])",
      run.run_id, run.thread_id, run.project_id, message, body, names, sizes, types);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<std::vector<step_result>>> repository::persist(std::span<const checkpoint_step* const> steps,
                                                                   on_lock how) const {
  const step_columns c(steps);
  const bool wait = how == on_lock::wait;
  constexpr std::string_view uuids = "text[]::uuid[]", numbers = "text[]::bigint[]";
  const sql_call call("outcome, balance_micro, jobs_ready, pending_prompts", "runs.commit_steps", arg("p_wait", wait),
                      arg("p_accounts", c.accounts, uuids), arg("p_runs", c.runs, uuids), arg("p_jobs", c.jobs),
                      arg("p_fences", c.fences), arg("p_borders", c.checkpoints), arg("p_reserved", c.reserved),
                      arg("p_steps", c.steps), arg("p_inputs", c.inputs), arg("p_outputs", c.outputs),
                      arg("p_cached", c.cached), arg("p_charges", c.charges), arg("p_refs", c.refs),
                      arg("p_notes", c.notes), arg("p_statuses", c.statuses), arg("p_reasons", c.reasons),
                      arg("p_errors", c.errors), arg("p_error_codes", c.error_codes), arg("p_events", c.events),
                      arg("p_queue_waits", c.queue_waits, numbers), arg("p_first_tokens", c.first_tokens, numbers),
                      arg("p_row_of", c.row_of), arg("p_seqs", c.seqs), arg("p_lasts", c.lasts),
                      arg("p_wires", c.log_texts), arg("p_message_of", c.message_of), arg("p_ids", c.ids, uuids),
                      arg("p_roles", c.roles), arg("p_bodies", c.bodies), arg("p_covers_to", c.covers_to, numbers),
                      arg("p_reasonings", c.reasonings), arg("p_webhook_of", c.webhook_of),
                      arg("p_webhooks", c.webhooks), arg("p_cache_writes", c.cache_writes), arg("p_results", c.results),
                      arg("p_joined", c.joined));
  ry::result<ry::rows> rows = co_await call.run_on(db_);
  if (!rows) co_return rows.error();
  std::vector<step_result> out;
  for (const ry::row row : *rows) {
    const std::string_view outcome = row.text(0);
    step_result& one = out.emplace_back();
    if (outcome == "ok") one.how = step_result::outcome::ok;
    if (outcome == "alone") one.how = step_result::outcome::alone;
    if (outcome == "prompts") one.how = step_result::outcome::prompts;
    one.balance_micro = row.opt_int64(1);
    one.jobs_ready = row.boolean(2);
    one.pending_prompts = row.opt_int64(3).value_or(0);
  }
  if (out.size() != steps.size()) co_return ry::error(RY_UNKNOWN, "runs.persist", "an outcome is missing");
  co_return out;
}

ry::task<ry::result<std::vector<std::string>>> repository::append(const append_batch& b, attempt which) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select * from runs.append_events($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], "
      "$6::bigint[], $7::bigint[], $8::boolean)",
      b.runs, b.events.firsts, b.events.lasts, b.events.texts, b.reserve_runs, b.reserve_fences, b.reserve_to,
      which == attempt::again);
  if (!rows) co_return rows.error();
  std::vector<std::string> refused_runs;
  for (const ry::row row : *rows) refused_runs.emplace_back(row.text(0));
  co_return refused_runs;
}

ry::task<ry::result<waiting_uploads>> repository::waiting(ry::uuid run) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select u.name, u.size, u.media_type, case when row_number() over (order by u.name) = 1 then "
      "(select m.body from runs.runs r join runs.messages m on m.thread_id = r.thread_id and m.run_id = r.id "
      "where r.id = $1::uuid and m.role = 'user' order by m.position limit 1) end as body "
      "from runs.uploads u where u.run_id = $1::uuid and u.found is null order by u.name",
      run);
  if (!rows) co_return rows.error();
  waiting_uploads out;
  for (const ry::row r : *rows) {
    out.files.push_back({std::string(r.text(0)), std::string(r.text(2)), r.int64(1)});
    if (!r.is_null(3)) out.body = r.text(3);
  }
  co_return out;
}

ry::task<ry::result<bool>> repository::note_uploads(ry::uuid run, std::int64_t job, std::int64_t fence,
                                                    std::string body,
                                                    const std::vector<extraction_result>& findings) const {
  std::vector<std::string> names, found, details;
  for (const extraction_result& f : findings) {
    names.push_back(f.name);
    found.push_back(f.found);
    details.push_back(f.detail);
  }
  ry::result<ry::rows> rows = co_await db_.query(
      "select runs.note_uploads($1::uuid, $2::bigint, $3::bigint, $4::text, $5::text[], $6::text[], "
      "$7::text[])",
      run, job, fence, body, names, found, details);
  if (!rows) co_return rows.error();
  co_return rows->front().boolean(0);
}

ry::task<ry::result<std::optional<claimed_run>>> repository::claim(ry::uuid run, std::int64_t job, std::int64_t fence,
                                                                   std::int64_t reserve) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select * from runs.claim_run($1::uuid, $2::bigint, $3::bigint, $4::bigint)", run, job, fence, reserve);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<claimed_run>();
  const ry::row r = rows->front();
  claimed_run out;
  out.account_id = r.text("account_id");
  out.project_id = r.text("project_id");
  out.thread_id = r.text("thread_id");
  out.agent_id = r.text("agent_id");
  out.agent_version = static_cast<std::int32_t>(r.int64("agent_version"));
  out.model = r.text("model");
  out.status = r.text("status");
  out.step = static_cast<std::int32_t>(r.int64("step"));
  out.border_seq = r.int64("border_seq");
  out.last_seq = r.int64("last_seq");
  out.attempts = r.int64("attempts");
  out.charged_micro = r.int64("charged_micro");
  out.usage = {r.int64("input_tokens"), r.int64("output_tokens"), r.int64("cached_tokens"),
               r.int64("cache_write_tokens")};
  const std::string parameters = text_or_empty(r, "parameters");
  if (!parameters.empty()) {
    out.parameters = read_parameters(parameters);
    out.options = read_options(parameters);
  }
  out.started_ago_us = r.int64("started_ago_us");
  out.timeout_seconds = r.int64("timeout_seconds");
  out.stop_requested = r.boolean("stop_requested");
  out.title = text_or_empty(r, "title");
  out.begun_ago_us = r.int64("begun_ago_us");
  out.queue_wait_ms = r.opt_int64("queue_wait_ms");
  out.first_token_ms = r.opt_int64("first_token_ms");
  out.text_shown = r.boolean("text_shown");
  // Earlier releases stored any text.
  out.mode = run_mode_of(text_or_empty(r, "mode")).value_or(run_mode::agent);
  out.memory = r.boolean("memory_enabled");
  out.spending.micro = r.opt_int64("budget_micro").value_or(0);
  out.spending.policy = budget_policy_of(text_or_empty(r, "budget_policy")).value_or(budget_policy::hard);
  out.balance_micro = r.opt_int64("balance_micro");
  out.uploads_waiting = r.boolean("uploads_waiting");
  co_return std::optional<claimed_run>(std::move(out));
}

ry::task<ry::result<void>> repository::release(ry::uuid run, std::int64_t fence, std::int64_t last) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select runs.release_run($1::uuid, $2::bigint, $3::bigint)", run, fence, last);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<ry::rows>> repository::conversation(ry::uuid thread) const {
  co_return co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select m.role, case when m.reasoning is null then m.body else left(m.body, -1) || ',\"reasoning\":' || "
      "m.reasoning || '}' end, m.run_id, m.position from runs.messages m where m.thread_id = $1::uuid and "
      "m.position > coalesce((select s.covers_to from runs.messages s where s.thread_id = $1::uuid and "
      "s.role = 'summary' order by s.position desc limit 1), 0) order by m.position",
      thread);
}

ry::task<ry::result<std::int64_t>> repository::mark_sandbox(ry::uuid project, ry::uuid sandbox) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "update runs.projects set sandbox_id = coalesce(sandbox_id, $2::uuid) where id = $1::uuid "
      "returning workspace_version",
      project, sandbox);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::int64_t{0};
  co_return rows->front().int64(0);
}

ry::task<ry::result<bool>> repository::is_shared(ry::uuid project) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0}, "select p.shared from runs.projects p where p.id = $1::uuid", project);
  if (!rows) co_return rows.error();
  co_return !rows->empty() && rows->front().boolean(0);
}

ry::task<ry::result<std::optional<run_head>>> repository::head(std::string run) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select r.account_id, r.status, case when r.completed_at is not null then r.border_seq else coalesce("
      "(select e.last_seq from runs.events e where e.run_id = $1::uuid order by e.seq desc limit 1), 0) end, "
      "r.seq_reserved from runs.runs r where r.id = $1::uuid",
      run);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<run_head>();
  const ry::row r = rows->front();
  co_return std::optional<run_head>(run_head{std::string(r.text(0)), std::string(r.text(1)),
                                             static_cast<std::uint64_t>(r.int64(2)),
                                             static_cast<std::uint64_t>(r.int64(3))});
}

ry::task<ry::result<log_page>> repository::log(std::string run, std::uint64_t from) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select coalesce(string_agg(wire, '' order by seq), ''), coalesce(min(seq), 0), coalesce(max(last_seq), 0), "
      "(select case when r.status = 'running' then 0 else r.border_seq end from runs.runs r where r.id = $1::uuid), "
      "exists (select from runs.parked p where p.run_id = $1::uuid) "
      "from (select seq, last_seq, wire, sum(octet_length(wire) + $5::bigint * (last_seq - seq + 1)) "
      "over (order by seq rows between unbounded preceding and 1 preceding) as before "
      "from (select seq, last_seq, wire from runs.events where run_id = $1::uuid and last_seq >= $2::bigint and "
      "seq >= coalesce((select seq from runs.events where run_id = $1::uuid and seq <= $2::bigint order by seq "
      "desc limit 1), 0) order by seq limit $3::bigint) p) e where coalesce(before, 0) < $4::bigint",
      run, static_cast<std::int64_t>(from), log_page_rows, log_page_bytes, max_event_overhead);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  const auto number = [&](int column) { return static_cast<std::uint64_t>(r.opt_int64(column).value_or(0)); };
  unfolded events = unfold(r.text(0));
  log_page out{std::move(events.wire),     number(1),   number(2), events.count, number(3),
               r.opt_int64(3).has_value(), r.boolean(4)};
  if (out.count != 0 && out.first < from) {  // `from` is in the middle of a row
    out.wire.erase(0, out.wire.size() - text_from(out.wire, from).size());
    out.count -= std::min(out.count, from - out.first);
    out.first = from;
  }
  if (out.count == 0 && from <= out.ended_at) {
    // The log was trimmed; the run's row still contains the end.
    rows = co_await db_.query_with({RY_DB_READ_ONLY, 0}, "select * from runs.terminal_wire($1::uuid)", run);
    if (!rows) co_return rows.error();
    if (rows->empty()) co_return out;
    out.wire = rows->front().text(0);
    out.first = out.last = out.ended_at;
    out.count = 1;
  }
  co_return out;
}

ry::task<ry::result<std::optional<stop_answer>>> repository::request_stop(std::string account, std::string run,
                                                                          std::vector<std::string> webhooks) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select status, ended from runs.request_stop($1::uuid, $2::uuid, $3::text[])", account, run, webhooks);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<stop_answer>();
  co_return std::optional<stop_answer>(stop_answer{std::string(rows->front().text(0)), rows->front().boolean(1)});
}

ry::task<ry::result<std::vector<std::string>>> repository::runs_before(std::string thread, std::string run) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select id from runs.runs where thread_id = $1::uuid and id <> $2::uuid and status = 'running' and "
      "(not waiting or id < $2::uuid) and exists (select 1 from runs.runs w where w.id = $2::uuid and w.waiting) "
      "order by waiting desc, id desc",
      thread, run);
  if (!rows) co_return rows.error();
  std::vector<std::string> out;
  for (const ry::row row : *rows) out.emplace_back(row.text(0));
  co_return out;
}

ry::task<ry::result<std::optional<start_webhook>>> repository::webhook_of(std::string run) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select account_id::text, webhook_url, webhook_secret from runs.runs where id = $1::uuid and webhook_url is not null",
      run);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<start_webhook>();
  const ry::row r = rows->front();
  co_return std::optional<start_webhook>(
      start_webhook{std::string(r.text(0)), std::string(r.text(1)), std::string(r.text(2))});
}

ry::task<ry::result<std::string>> repository::force_stop(std::string run, std::vector<std::string> webhooks) const {
  ry::result<ry::rows> rows = co_await db_.query("select runs.force_stop($1::uuid, $2::text[])", run, webhooks);
  if (!rows) co_return rows.error();
  co_return std::string(rows->front().opt_text(0).value_or(""));
}

ry::task<ry::result<void>> repository::put_causes(ry::uuid run, std::string causes) const {
  ry::result<ry::rows> done = co_await db_.query(
      "insert into runs.run_causes (run_id, causes)"
      " select $1, coalesce(jsonb_agg(jsonb_build_object('at', core.iso(to_timestamp((c->>'at_us')::bigint / 1000000.0)), 'step', c->'step',"
      "   'text', c->'text')), '[]') from jsonb_array_elements($2::jsonb) c"
      " on conflict (run_id) do update set causes = excluded.causes",
      run, causes);
  if (!done) co_return done.error();
  co_return ry::result<void>();
}

ry::task<ry::result<std::string>> repository::status_of(std::string run) const {
  ry::result<ry::rows> rows =
      co_await db_.query_with({RY_DB_READ_ONLY, 0}, "select status from runs.runs where id = $1::uuid", run);
  if (!rows) co_return rows.error();
  co_return rows->empty() ? std::string() : std::string(rows->front().text(0));
}

ry::task<ry::result<std::vector<std::string>>> repository::unfinished_runs(std::string account,
                                                                           std::string thread) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select id from runs.runs where thread_id = $1::uuid and account_id = $2::uuid and status = 'running' order by id desc",
      thread, account);
  if (!rows) co_return rows.error();
  std::vector<std::string> out;
  for (const ry::row row : *rows) out.emplace_back(row.text(0));
  co_return out;
}

ry::task<ry::result<std::optional<std::string>>> repository::run_json(std::string account, std::string run) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select runs.run_json_with_waiting(r) || runs.output_json(r) from runs.runs r where r.id = $1::uuid and r.account_id = $2::uuid",
      run, account);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<std::string>();
  co_return std::optional<std::string>(rows->front().text(0));
}

ry::task<ry::result<repository::page>> repository::runs_page(std::string account, run_selection which,
                                                             std::optional<std::string> before,
                                                             std::int64_t limit) const {
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (which.metadata)
    rows = co_await db_.query_with(
        {RY_DB_READ_ONLY, 0},
        "select items, n, last from runs.page_of_metadata($1::uuid, $2::text, $3::uuid, $4::bigint, $5::jsonb)",
        account, which.status, before, limit, which.metadata);
  else
    rows = co_await db_.query_with({RY_DB_READ_ONLY, 0},
                                   "select items, n, last from runs.page_of($1::uuid, $4::text, $2::uuid, $3::bigint)",
                                   account, before, limit, which.status);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  page out{std::string(r.text(0)), {}, {}};
  if (r.int64(1) == limit) out.next_first = r.text(2);
  co_return out;
}

ry::task<ry::result<std::optional<repository::page>>> repository::thread_runs(std::string account, std::string thread,
                                                                              run_selection which,
                                                                              std::optional<std::string> before,
                                                                              std::int64_t limit) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select p.items, p.n, p.last from runs.threads t, lateral (select "
      "coalesce(jsonb_agg(runs.run_json_with_waiting(r) order by r.id desc), '[]') as items, count(*) as n, "
      "min(r.id::text) as last from (select * from runs.runs x where x.thread_id = t.id and "
      "($5::text is null or x.status = $5::text) and ($6::jsonb is null or x.metadata @> $6::jsonb) and "
      "x.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by x.id desc limit $4::bigint) r) p "
      "where t.id = $1::uuid and t.account_id = $2::uuid",
      thread, account, before, limit, which.status, which.metadata);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<page>();
  const ry::row r = rows->front();
  page out{std::string(r.text(0)), {}, {}};
  if (r.int64(1) == limit) out.next_first = r.text(2);
  co_return std::optional<page>(std::move(out));
}

ry::task<ry::result<repository::page>> repository::threads_page(std::string account,
                                                                std::optional<std::int64_t> before_us,
                                                                std::optional<std::string> before_id,
                                                                std::int64_t limit) const {
  constexpr std::string_view first_page =
      "select coalesce(jsonb_agg(runs.thread_json(t) order by t.created_at desc, t.id desc), '[]'), "
      "count(*), (extract(epoch from min(t.created_at)) * 1000000)::bigint, "
      "(array_agg(t.id order by t.created_at, t.id))[1] from (select * from runs.threads x where "
      "x.account_id = $1::uuid order by x.created_at desc, x.id desc limit $2::bigint) t";
  constexpr std::string_view later_page =
      "select coalesce(jsonb_agg(runs.thread_json(t) order by t.created_at desc, t.id desc), '[]'), "
      "count(*), (extract(epoch from min(t.created_at)) * 1000000)::bigint, "
      "(array_agg(t.id order by t.created_at, t.id))[1] from (select * from runs.threads x where "
      "x.account_id = $1::uuid and (x.created_at, x.id) < (timestamptz 'epoch' + $3::bigint * "
      "interval '1 microsecond', $4::uuid) order by x.created_at desc, x.id desc limit $2::bigint) t";
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (before_us && before_id)
    rows = co_await db_.query_with({RY_DB_READ_ONLY, 0}, later_page, account, limit, before_us, before_id);
  else
    rows = co_await db_.query_with({RY_DB_READ_ONLY, 0}, first_page, account, limit);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  page out{std::string(r.text(0)), {}, {}};
  if (r.int64(1) == limit) {
    out.next_first = r.text(2);
    out.next_second = r.text(3);
  }
  co_return out;
}

ry::task<ry::result<std::optional<std::string>>> repository::thread_json(std::string account,
                                                                         std::string thread) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select runs.thread_json(t) from runs.threads t where t.id = $1::uuid and t.account_id = $2::uuid", thread,
      account);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<std::string>();
  co_return std::optional<std::string>(rows->front().text(0));
}

ry::task<ry::result<std::optional<repository::page>>> repository::messages_page(std::string account, std::string thread,
                                                                                std::optional<std::string> run,
                                                                                order how,
                                                                                std::optional<std::int64_t> after,
                                                                                std::int64_t limit) const {
  const bool ascending = how == order::oldest_first;
  const std::string order_by = ascending ? "position" : "position desc";
  const std::string sql =
      "select m.items, m.more, m.last from runs.threads t, lateral (select '[' || coalesce(string_agg("
      "'{\"message_id\":\"' || x.id || '\",\"thread_id\":\"' || x.thread_id || '\",\"agent_run_id\":' || "
      // The messages of a history with which a thread began belong to no run.
      "coalesce('\"' || nullif(x.run_id, '00000000-0000-0000-0000-000000000000') || '\"', 'null') || "
      "',\"created_at\":\"' || runs.iso(x.created_at) || '\",' || substr(x.body, 2), ',' order by x." +
      order_by +
      ") filter (where x.fits), '') || ']' as items, count(*) filter (where x.fits) < count(*) or count(*) = "
      "$4::bigint as more, " +
      (ascending ? "max" : "min") +
      "(x.position) filter (where x.fits) as last from (select "
      "*, coalesce(sum(octet_length(y.body)) over (order by y." +
      order_by +
      " rows between unbounded preceding and 1 "
      "preceding), 0) < $5::bigint as fits from (select * from runs.messages z where z.thread_id = t.id and z.position " +
      (ascending ? "> coalesce($3::bigint, 0)" : "< coalesce($3::bigint, 9223372036854775807)") +
      " and z.role not in ('summary', 'repair') and ($6::uuid is null or z.run_id = $6::uuid) order by z." + order_by +
      " limit $4::bigint) y) x) m where t.id = $1::uuid and t.account_id = $2::uuid";
  ry::result<ry::rows> rows =
      co_await db_.query_with({RY_DB_READ_ONLY, 0}, sql, thread, account, after, limit, messages_page_bytes, run);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<page>();
  const ry::row r = rows->front();
  page out{std::string(r.text(0)), {}, {}};
  if (r.boolean(1)) out.next_first = r.text(2);
  co_return std::optional<page>(std::move(out));
}

ry::task<ry::result<repository::deletion>> repository::delete_thread(std::string account, std::string thread) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select outcome, project_id from runs.erase_thread($1::uuid, $2::uuid)", account, thread);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  co_return deletion{std::string(r.text(0)), std::string(r.opt_text(1).value_or(""))};
}

ry::task<ry::result<std::optional<std::int64_t>>> repository::project_version(std::string account,
                                                                              std::string project) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0}, "select workspace_version from runs.projects where id = $1::uuid and account_id = $2::uuid",
      project, account);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<std::int64_t>();
  co_return std::optional<std::int64_t>(rows->front().int64(0));
}

ry::task<ry::result<std::int64_t>> repository::make_log_partition(std::int64_t keep_seconds) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select extract(epoch from core.partitions_make('runs.events', "
      "core.partition_width(make_interval(secs => $1::bigint)), 1))::bigint",
      keep_seconds);
  if (!rows) co_return rows.error();
  co_return rows->front().opt_int64(0).value_or(0);
}

ry::task<ry::result<log_trim>> repository::trim_log(std::int64_t keep_seconds) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select runs.trim_log(now() - make_interval(secs => $1::bigint), 1000)", keep_seconds);
  if (!rows) co_return rows.error();
  const std::string_view outcome = rows->front().text(0);
  co_return outcome == "none" ? log_trim::done : outcome == "locked" ? log_trim::locked : log_trim::more;
}

ry::task<ry::result<std::vector<std::string>>> repository::accounts_waiting() const {
  ry::result<ry::rows> rows = co_await db_.query_with({RY_DB_READ_ONLY, 0}, "select * from runs.accounts_waiting()");
  if (!rows) co_return rows.error();
  std::vector<std::string> out;
  for (const ry::row row : *rows) out.emplace_back(row.text(0));
  co_return out;
}

ry::task<ry::result<queue_state>> repository::look_at_queue(std::string_view node, std::int64_t max_count) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0}, "select core.jobs_waiting('runs.execute', $2::int), core.node_draining($1::uuid)", node,
      max_count);
  if (!rows) co_return rows.error();
  co_return queue_state{rows->front().int64(0), rows->front().boolean(1)};
}

ry::task<ry::result<std::optional<std::string>>> repository::admit_by_plan(std::string account, std::string tier,
                                                                           std::int64_t slots) const {
  ry::result<ry::rows> rows =
      co_await db_.query("select runs.admit_by_plan($1::uuid, $2::text, $3::bigint)", account, tier, slots);
  if (!rows) co_return rows.error();
  const auto current_tier = rows->front().opt_text(0);
  if (!current_tier) co_return std::optional<std::string>();
  co_return std::optional<std::string>(*current_tier);
}

ry::task<ry::result<std::string>> repository::first_place(std::string run) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select substring(wire from '\"type\": \"queued\", \"sequence\": 2, \"position\": ([0-9]+)') from runs.events "
      "where run_id = $1::uuid and seq = 1",
      run);
  if (!rows) co_return rows.error();
  co_return rows->empty() ? std::string() : std::string(rows->front().opt_text(0).value_or(""));
}

ry::task<ry::result<bool>> repository::has_key(std::string_view account, std::string_view key) const {
  ry::result<ry::rows> rows =
      co_await db_.query_with({RY_DB_READ_ONLY, 0},
                              "select 1 from runs.idempotency where account_id = $1::uuid and key = $2::text "
                              "and created_at > now() - interval '24 hours'",
                              account, key);
  if (!rows) co_return rows.error();
  co_return !rows->empty();
}

ry::task<ry::result<void>> repository::prune_keys() const {
  ry::result<ry::rows> rows =
      co_await db_.query("delete from runs.idempotency where created_at < now() - interval '24 hours'");
  if (!rows) co_return rows.error();
  rows = co_await db_.query("delete from runs.watcher where until < now()");
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<void>> repository::watch(ry::uuid stream, std::string run) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "insert into runs.watcher (id, thread_id, until)"
      " select $1, r.thread_id, clock_timestamp() + interval '1 minute' from runs.runs r where r.id = $2::uuid"
      " on conflict (id) do update set until = excluded.until",
      stream, run);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<void>> repository::unwatch(ry::uuid stream) const {
  ry::result<ry::rows> rows = co_await db_.query("delete from runs.watcher where id = $1", stream);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

}  // namespace runs
