// Starts: builds the arguments of the statements in 0002_functions.sql and reads their outcomes.
#include "store/repository.hpp"

namespace runs {
namespace {

constexpr std::string_view start_sql =
    "select outcome, detail, thread_id, project_id, sandbox_id, run_id, agent_id, agent_version, model, "
    "job_id, fence, fresh_thread, n from runs.start_runs($1::text[]::uuid[], $2::text[], $3::bigint[], "
    "$4::bigint[], $5::text[]::uuid[], $6::text[]::uuid[], $7::text[]::boolean[], $8::text[]::uuid[], "
    "$9::text[]::uuid[], $10::text[]::uuid[], $11::text[]::uuid[], $12::text[]::uuid[], $13::text[], "
    "$14::text[], $15::text[]::boolean[], $16::text[], $17::text[], $18::text[], $19::text[]::boolean[], "
    "$20::text[]::uuid[], $21::text[], $22::text[], $23::text[]::boolean[], $24::text[]::bigint[], "
    "$25::text[], $26::text[]::boolean[], $27::text[]::boolean[], $28::bigint, $29::boolean, $30::boolean, "
    "$31::uuid, $32::int, $33::text, $34::bigint, $35::text[])";

// The server infers the type of each parameter.
constexpr std::string_view start_plain_sql =
    "select agent_id, agent_version, model, job_id from runs.start_plain($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, "
    "$12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";

constexpr std::string_view start_together_sql =
    "select n, agent_id, agent_version, model, job_id from runs.start_plain_all($1::text[]::uuid[], $2::text[], "
    "$3::bigint[], $4::bigint[], $5::text[]::uuid[], $6::text[]::uuid[], $7::text[]::uuid[], $8::text[]::uuid[], "
    "$9::text[]::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[]::boolean[], "
    "$16::text[]::bigint[], $17::text[], $18, $19, $20, $21, $22)";

using texts = std::vector<std::optional<std::string_view>>;

std::string_view boolean_text(bool value) {
  return value ? "t" : "f";
}

std::optional<std::string_view> mode_text(std::optional<run_mode> mode) {
  return mode ? std::optional(name_of(*mode)) : std::nullopt;
}

// The starts as column arrays for the statement. Refers to the starts.
struct start_columns {
  texts accounts, tiers, threads, projects, optimistic, agents, models, default_models, denied, bodies, titles, modes,
      memory, sandboxes, keys, hashes, prompted, policies, queue, behind;
  std::vector<std::optional<std::string>> budgets, parameters;
  std::vector<std::string> new_threads, new_projects, runs, messages;
  std::vector<std::int64_t> max_runs, max_threads;
  bool plain = true;

  explicit start_columns(std::span<const start_arguments* const> starts) {
    for (const start_arguments* a : starts) add(*a);
  }
  void add(const start_arguments& a) {
    const start_request& f = a.form;
    plain = plain && a.names_nothing();
    accounts.push_back(a.account);
    tiers.push_back(a.tier);
    max_runs.push_back(a.max_runs);
    max_threads.push_back(a.max_threads);
    threads.push_back(f.thread_id);
    projects.push_back(f.project_id);
    optimistic.push_back(boolean_text(f.optimistic));
    new_threads.push_back(a.new_thread.to_string());
    new_projects.push_back(a.new_project.to_string());
    runs.push_back(a.run.to_string());
    messages.push_back(a.message.to_string());
    agents.push_back(f.agent_id);
    models.push_back(a.model);
    default_models.push_back(a.default_model);
    denied.push_back(boolean_text(a.model_denied));
    bodies.push_back(a.body);
    titles.push_back(a.title);
    modes.push_back(mode_text(f.mode));
    if (f.memory_enabled)
      memory.push_back(boolean_text(*f.memory_enabled));
    else
      memory.push_back(std::nullopt);
    sandboxes.push_back(a.sandbox);
    keys.push_back(a.key);
    hashes.push_back(a.hash);
    prompted.push_back(boolean_text(!f.prompt.empty()));
    queue.push_back(boolean_text(f.queue));
    behind.push_back(boolean_text(f.on_busy != busy_policy::reject));
    parameters.push_back(std::nullopt);
    if (!f.parameters.empty()) parameters.back() = "{" + members_of(f.parameters) + "}";
    if (f.budget.set()) {
      budgets.push_back(std::to_string(f.budget.micro));
      policies.push_back(name_of(f.budget.policy));
    } else {
      budgets.push_back(std::nullopt);
      policies.push_back(std::nullopt);
    }
  }
};

// In the order of the starts. Empty if an outcome is missing.
std::vector<start_outcome> read_starts(const ry::rows& rows, std::size_t n) {
  if (rows.size() != n) return {};
  std::vector<start_outcome> all(n);
  for (const ry::row r : rows) {
    start_outcome& out = all.at(static_cast<std::size_t>(r.int64(12)) - 1);
    out.outcome = r.text(0);
    out.detail = r.opt_text(1).value_or("");
    out.thread_id = r.opt_text(2).value_or("");
    out.project_id = r.opt_text(3).value_or("");
    out.sandbox_id = r.opt_text(4).value_or("");
    out.run_id = r.opt_text(5).value_or("");
    out.agent_id = r.opt_text(6).value_or("");
    out.agent_version = static_cast<std::int32_t>(r.opt_int64(7).value_or(0));
    out.model = r.opt_text(8).value_or("");
    out.job = r.opt_int64(9).value_or(0);
    out.fence = r.opt_int64(10).value_or(0);
    out.fresh_thread = r.opt_boolean(11).value_or(false);
  }
  return all;
}

}  // namespace

namespace {

// The outcome of a start of a new thread on this node; job, agent and model are in the row from `first` on.
start_outcome made_plain(const start_arguments& a, const ry::row& r, std::size_t first) {
  start_outcome out;
  out.outcome = "ok";
  out.thread_id = a.new_thread.to_string();
  out.project_id = a.new_project.to_string();
  out.run_id = a.run.to_string();
  out.agent_id = r.text(first);
  out.agent_version = static_cast<std::int32_t>(r.int64(first + 1));
  out.model = r.text(first + 2);
  out.job = r.int64(first + 3);
  out.fence = 1;
  out.fresh_thread = true;
  return out;
}

}  // namespace

// Empty: nothing was written; call start_runs() instead.
ry::task<ry::result<std::optional<start_outcome>>> repository::start_plain(const start_arguments& a) const {
  const start_request& f = a.form;
  std::optional<std::int64_t> budget;
  std::optional<std::string_view> policy;
  if (f.budget.set()) {
    budget = f.budget.micro;
    policy = name_of(f.budget.policy);
  }
  ry::result<ry::rows> rows =
      co_await db_.query(start_plain_sql, a.account, a.tier, a.max_runs, a.max_threads, a.new_thread, a.new_project,
                         a.run, a.message, f.agent_id, a.model, a.default_model, *a.body, a.title, mode_text(f.mode),
                         f.memory_enabled, budget, policy, *a.node, a.timeout_seconds, a.first_event, a.reserve);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  if (r.is_null(3)) co_return std::optional<start_outcome>();
  co_return std::optional<start_outcome>(made_plain(a, r, 0));
}

ry::task<ry::result<std::vector<start_outcome>>> repository::start_together(
    std::span<const start_arguments* const> starts, on_lock how) const {
  const start_columns c(starts);
  const start_arguments& any = *starts.front();
  ry::result<ry::rows> rows = co_await db_.query(
      start_together_sql, c.accounts, c.tiers, c.max_runs, c.max_threads, c.new_threads, c.new_projects, c.runs,
      c.messages, c.agents, c.models, c.default_models, c.bodies, c.titles, c.modes, c.memory, c.budgets, c.policies,
      how == on_lock::wait, *any.node, any.timeout_seconds, any.first_event, any.reserve);
  if (!rows) co_return rows.error();
  start_outcome apart;
  apart.outcome = "apart";
  std::vector<start_outcome> all(starts.size(), apart);
  for (const ry::row r : *rows) {
    const auto n = static_cast<std::size_t>(r.int64(0)) - 1;
    if (r.is_null(4))
      all.at(n).outcome = "alone";
    else
      all.at(n) = made_plain(*starts[n], r, 1);
  }
  co_return all;
}

ry::task<ry::result<std::vector<start_outcome>>> repository::start(std::span<const start_arguments* const> starts,
                                                                   on_lock how, ry::tx* in) const {
  if (starts.size() == 1 && how == on_lock::skip && in == nullptr && starts.front()->is_plain()) {
    ry::result<std::optional<start_outcome>> made = co_await start_plain(*starts.front());
    if (!made) co_return made.error();
    if (*made) {
      std::vector<start_outcome> one;
      one.push_back(std::move(**made));
      co_return one;
    }
  }
  const start_columns c(starts);
  const start_arguments& any = *starts.front();
  const auto run = [&](auto& target) {
    return target.query(start_sql, c.accounts, c.tiers, c.max_runs, c.max_threads, c.threads, c.projects, c.optimistic,
                        c.new_threads, c.new_projects, c.runs, c.messages, c.agents, c.models, c.default_models,
                        c.denied, c.bodies, c.titles, c.modes, c.memory, c.sandboxes, c.keys, c.hashes, c.prompted,
                        c.budgets, c.policies, c.queue, c.behind, any.max_waiting, c.plain, how == on_lock::wait,
                        any.node, any.timeout_seconds, any.first_event, any.reserve, c.parameters);
  };
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (in != nullptr)
    rows = co_await run(*in);
  else
    rows = co_await run(db_);
  if (!rows) co_return rows.error();
  std::vector<start_outcome> all = read_starts(*rows, starts.size());
  if (all.empty()) co_return ry::error(RY_UNKNOWN, "runs.start", "an outcome is missing");
  co_return all;
}

}  // namespace runs
