// Test fixture: the module's SQL together with the real schemas of the job queue, accounts and agents.
#pragma once
#include <string>

#include "../../../tests/support/schema.hpp"
#include "migrations.hpp"

namespace testing_runs {

inline const std::string ann = "11111111-1111-4111-8111-111111111111";
inline const std::string bob = "22222222-2222-4222-8222-222222222222";
inline const std::string node = "99999999-9999-4999-8999-999999999999";

inline const std::string first_event =
    R"(runs.event_wire(1, '{"type": "status", "sequence": 1, "status": "running"}'))";

inline std::string q(const std::string& text) {
  return text == "null" ? text : "'" + text + "'";
}

class runs_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    migrate_jobs();
    for (const char* module : {"accounts", "agents"}) migrate_module(module);
    migrate("runs", ry_migrations::all);
    sql("create function pg_temp.plan_of(p text) returns text language plpgsql as $$ declare v text; o text := ''; "
        "begin for v in execute p loop o := o || v || E'\\n'; end loop; return o; end $$");
    // Commits a single step, with named arguments.
    sql(R"(create function pg_temp.commit_step(
             run uuid, job bigint, fence bigint, seqs bigint[], lasts bigint[], wires text[], reserved bigint,
             ids text[], roles text[], bodies text[], step bigint, input bigint, output bigint, cached bigint,
             charge bigint, ref text, status text, reason text, error text, code text, event text, waited bigint,
             first_token bigint, note text default '{}', covers_to bigint default null, reasoning text default null,
             joined bigint default 0)
           returns table (outcome text, balance_micro bigint, jobs_ready boolean, pending_prompts bigint) language sql as $$
             select * from runs.commit_steps(
               true, array[case when status is not null or charge > 0 then (select r.account_id from runs.runs r where r.id = run) end],
               array[run], array[job], array[fence], array[lasts[cardinality(lasts)]], array[reserved], array[step],
               array[input], array[output], array[cached], array[charge], array[ref], array[note], array[status],
               array[reason], array[error], array[code], array[event], array[waited], array[first_token],
               array_fill(1::bigint, array[cardinality(seqs)]), seqs, lasts, wires,
               array_fill(1::bigint, array[cardinality(ids)]), ids::uuid[], roles, bodies,
               array(select case when x = 'summary' then covers_to end from unnest(roles) x),
               array(select case when x = 'assistant' then reasoning end from unnest(roles) x), '{}', '{}', '{}', '{}',
               array[joined])
           $$)");
    for (const std::string& id : {ann, bob})
      sql("select accounts.provision(" + q(id) + ", " + q(id) + ", '', '', true, '', 'free', 5000000)");
  }

  struct start_request {
    std::string account = ann, tier = "free", thread = "null", project = "null", agent = "null", model = "null",
                body = R"({"role":"user","content":"hi"})", key = "null", hash = "null", sandbox = "null", run = "null",
                budget = "null", policy = "null";
    int max_runs = 1, max_threads = 10;
    bool optimistic = false, denied = false, queue = false, behind = false;
    std::string extras = "null";
  };
  template <class F>
  static std::string column_of(const std::vector<start_request>& requests, const char* type, F of) {
    std::string out = "array[";
    for (const start_request& w : requests) out += (&w == &requests.front() ? "" : ",") + std::string(of(w));
    return out + "]::" + type + "[], ";
  }
  static std::string batch_sql(const std::vector<start_request>& requests, bool wait = false) {
    const auto column = [&](const char* type, auto of) { return column_of(requests, type, of); };
    const auto fresh = [](const start_request&) { return "gen_random_uuid()"; };
    const auto none = [](const start_request&) { return "null"; };
    const bool plain = std::all_of(requests.begin(), requests.end(), [](const start_request& w) {
      return w.thread == "null" && w.project == "null" && w.sandbox == "null" && w.key == "null";
    });
    return "select outcome || coalesce(' ' || detail, '') from runs.start_runs(" +
           column("uuid", [](const start_request& w) { return q(w.account); }) +
           column("text", [](const start_request& w) { return q(w.tier); }) +
           column("bigint", [](const start_request& w) { return std::to_string(w.max_runs); }) +
           column("bigint", [](const start_request& w) { return std::to_string(w.max_threads); }) +
           column("uuid", [](const start_request& w) { return q(w.thread); }) +
           column("uuid", [](const start_request& w) { return q(w.project); }) +
           column("boolean", [](const start_request& w) { return w.optimistic ? "true" : "false"; }) +
           column("uuid", fresh) + column("uuid", fresh) +
           column("uuid", [](const start_request& w) { return w.run == "null" ? "accounts.new_id()" : q(w.run); }) +
           column("uuid", fresh) + column("uuid", [](const start_request& w) { return q(w.agent); }) +
           column("text", [](const start_request& w) { return q(w.model); }) +
           column("text", [](const start_request&) { return "'runyard/basic'"; }) +
           column("boolean", [](const start_request& w) { return w.denied ? "true" : "false"; }) +
           column("text", [](const start_request& w) { return q(w.body); }) +
           column("text", [](const start_request&) { return "'title'"; }) + column("text", none) +
           column("boolean", none) + column("uuid", [](const start_request& w) { return q(w.sandbox); }) +
           column("text", [](const start_request& w) { return q(w.key); }) +
           column("text", [](const start_request& w) { return q(w.hash); }) +
           column("boolean", [](const start_request& w) { return w.body == "null" ? "false" : "true"; }) +
           column("bigint", [](const start_request& w) { return w.budget; }) +
           column("text", [](const start_request& w) { return q(w.policy); }) +
           column("boolean", [](const start_request& w) { return w.queue ? "true" : "false"; }) +
           column("boolean", [](const start_request& w) { return w.behind ? "true" : "false"; }) + "3, " +
           (plain ? "true, " : "false, ") + (wait ? "true, " : "false, ") + q(node) + ", 3000, " + first_event +
           ", 64" + extras_argument(requests) + ")";
  }
  static std::string extras_argument(const std::vector<start_request>& requests) {
    if (std::all_of(requests.begin(), requests.end(), [](const start_request& w) { return w.extras == "null"; }))
      return {};
    const std::string column = column_of(requests, "text", [](const start_request& w) { return q(w.extras); });
    return ", p_extras => " + column.substr(0, column.rfind(','));
  }
  static std::string start_sql(const start_request& w) { return batch_sql({w}, true); }
  static std::string plain_sql(const start_request& w) {
    return "select job_id is not null from runs.start_plain(" + q(w.account) + ", " + q(w.tier) + ", " +
           std::to_string(w.max_runs) + ", " + std::to_string(w.max_threads) +
           ", gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), " + q(w.agent) + ", " +
           q(w.model) + ", 'runyard/basic', " + q(w.body) + ", 'title', null, null, " + w.budget + ", " + q(w.policy) +
           ", " + q(node) + ", 3000, " + first_event + ", 64)";
  }
  // The outcome of each start, in order: made, locked, or apart.
  static std::string plain_all_sql(const std::vector<start_request>& requests, bool wait = false) {
    const auto column = [&](const char* type, auto of) { return column_of(requests, type, of); };
    const auto fresh = [](const start_request&) { return "gen_random_uuid()"; };
    const auto none = [](const start_request&) { return "null"; };
    return "select string_agg(case when s.job_id is not null then 'made' when s.n is not null then 'locked' else 'apart' end, "
           "' ' order by w.n) from generate_series(1, " +
           std::to_string(requests.size()) +
           ") w (n) "
           "left join runs.start_plain_all(" +
           column("uuid", [](const start_request& w) { return q(w.account); }) +
           column("text", [](const start_request& w) { return q(w.tier); }) +
           column("bigint", [](const start_request& w) { return std::to_string(w.max_runs); }) +
           column("bigint", [](const start_request& w) { return std::to_string(w.max_threads); }) +
           column("uuid", fresh) + column("uuid", fresh) + column("uuid", fresh) + column("uuid", fresh) +
           column("uuid", [](const start_request& w) { return q(w.agent); }) +
           column("text", [](const start_request& w) { return q(w.model); }) +
           column("text", [](const start_request&) { return "'runyard/basic'"; }) +
           column("text", [](const start_request& w) { return q(w.body); }) +
           column("text", [](const start_request&) { return "'title'"; }) + column("text", none) +
           column("boolean", none) + column("bigint", [](const start_request& w) { return w.budget; }) +
           column("text", [](const start_request& w) { return q(w.policy); }) + (wait ? "true, " : "false, ") +
           q(node) + ", 3000, " + first_event + ", 64) s on s.n = w.n";
  }
  // Number of table rows that `action` reads, including rows that it discards.
  template <class F>
  long rows_read(F action) const {
    const auto total = [&] {
      return std::stol(
          sql("select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables"));
    };
    sql("begin");
    const long before = total();
    action();
    const long read = total() - before;
    sql("commit");
    return read;
  }
  // Waits first, so that run ids, which contain the time in milliseconds, are ordered.
  std::string start(const start_request& w) const {
    sql("select pg_sleep(0.002)");
    return sql(start_sql(w));
  }
  std::string last_run() const { return sql("select id from runs.runs order by id desc limit 1"); }
  std::string counts() const {
    return sql(
        "select (select count(*) from runs.projects) || ' ' || (select count(*) from runs.threads) || ' ' "
        "|| (select count(*) from runs.messages) || ' ' || (select count(*) from runs.runs) || ' ' || "
        "(select count(*) from runs.event) || ' ' || (select count(*) from core.job)");
  }
  // Arguments for one row of the log.
  static std::string log_row(int from, int to, const std::string& payload) {
    return "array[" + std::to_string(from) + "], array[" + std::to_string(to) +
           "], array[(select string_agg(runs.event_wire(n, " + q(payload) + "), '' order by n) from generate_series(" +
           std::to_string(from) + ", " + std::to_string(to) + ") n)]";
  }
  static std::string append_sql(const std::string& run, const std::string& row, const std::string& reservation,
                                bool again = false) {
    return "select count(*) from runs.append_events(array[" + q(run) + "], " + row + ", " + reservation +
           (again ? ", true)" : ", false)");
  }
  std::string persist(const std::string& run, int from, int to, const std::string& rest, const std::string& fence = "",
                      const std::string& columns = "outcome || coalesce(' ' || balance_micro, '')") const {
    return sql("select " + columns + " from pg_temp.commit_step(" + q(run) +
               ", (select job_id from runs.runs where id = " + q(run) + "), " +
               (fence.empty() ? "(select fence from runs.runs where id = " + q(run) + ")" : fence) + ", " +
               log_row(from, to, "{}") + ", " + std::to_string(to + 64) + ", " + rest + ")");
  }
  // ids, roles, bodies, step, usage, charge, ref, status, reason, error, code, event
  static std::string plain_step() {
    return "'{}', '{}', '{}', 1, 10, 5, 0, 0, '', null, null, null, null, null, 3, null";
  }
  static std::string answer_step(const std::string& ref, int charge) {
    return "array[gen_random_uuid()::text], array['assistant'], array['{\"role\":\"assistant\"}'], 1, 10, "
           "5, 0, " +
           std::to_string(charge) + ", " + q(ref) + ", null, null, null, null, null, 4, 7";
  }
  static std::string end_step(const std::string& status) {
    return "'{}', '{}', '{}', 2, 0, 0, 0, 0, '', " + q(status) + ", 'ok', null, null, '{\"x\":1}', 5, 8";
  }
};

}  // namespace testing_runs
