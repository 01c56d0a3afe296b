// Starts: builds the arguments of runs.start_runs, start_plain and start_plain_all, and reads their results.
#include <algorithm>
#include <iterator>
#include <utility>

#include "store/repository.hpp"
#include "store/sql_call.hpp"
#include "text.hpp"

namespace runs {
namespace {

using texts = std::vector<std::optional<std::string_view>>;

// Casts of columns, which are passed as arrays of text.
constexpr std::string_view uuids = "text[]::uuid[]", booleans = "text[]::boolean[]", numbers = "text[]::bigint[]";

std::string_view boolean_text(bool value) {
  return value ? "t" : "f";
}

std::optional<std::string_view> mode_text(std::optional<run_mode> mode) {
  return mode ? std::optional(name_of(*mode)) : std::nullopt;
}

// p_extras of runs.start_runs: a JSON object.
std::optional<std::string> extras_of(const start_arguments& a) {
  std::string out;
  const auto add = [&out](std::string_view name, std::string_view json) {
    out.append(out.empty() ? "{\"" : ",\"").append(name).append("\":").append(json);
  };
  if (!a.form.metadata.empty()) add("metadata", a.form.metadata);
  if (!a.form.webhook_url.empty()) {
    add("webhook_url", json_string(a.form.webhook_url));
    add("webhook_secret", json_string(a.sealed_webhook_secret));
  }
  return out.empty() ? std::nullopt : std::optional(out + "}");
}

// The starts as column arrays for the statement. Holds references into the starts.
struct start_columns {
  texts accounts, tiers, threads, projects, optimistic, agents, models, default_models, denied, bodies, titles, modes,
      memory, sandboxes, keys, hashes, prompted, policies, queue, behind;
  std::vector<std::optional<std::string>> budgets, parameters, extras;
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
    prompted.push_back(boolean_text(!f.prompt.empty() || !f.history.empty()));
    queue.push_back(boolean_text(f.queue));
    behind.push_back(boolean_text(f.on_busy != busy_policy::reject));
    const std::string stored = stored_parameters(f.parameters, f.options);
    parameters.push_back(stored.empty() ? std::nullopt : std::optional(stored));
    extras.push_back(extras_of(a));
    if (f.budget.set()) {
      budgets.push_back(std::to_string(f.budget.micro));
      policies.push_back(name_of(f.budget.policy));
    } else {
      budgets.push_back(std::nullopt);
      policies.push_back(std::nullopt);
    }
  }
};

// The results in the order of the starts. Empty if an outcome is missing or unknown.
std::vector<start_result> read_starts(const ry::rows& rows, std::size_t n) {
  if (rows.size() != n) return {};
  std::vector<start_result> all(n);
  for (const ry::row r : rows) {
    start_result& out = all.at(static_cast<std::size_t>(r.int64(12)) - 1);
    const std::optional<start_outcome> outcome = start_outcome_of(r.text(0));
    if (!outcome) return {};
    out.outcome = *outcome;
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

// The result of a start of a new thread on this node; agent, model and job are in the row from column `first` on.
start_result plain_result(const start_arguments& a, const ry::row& r, std::size_t first) {
  start_result out;
  out.outcome = start_outcome::ok;
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

// Empty: nothing was written, and the caller uses start_runs() instead.
ry::task<ry::result<std::optional<start_result>>> repository::start_plain(const start_arguments& a) const {
  const start_request& f = a.form;
  std::optional<std::int64_t> budget;
  std::optional<std::string_view> policy;
  if (f.budget.set()) {
    budget = f.budget.micro;
    policy = name_of(f.budget.policy);
  }
  const std::optional<std::string_view> mode = mode_text(f.mode);
  const sql_call call("agent_id, agent_version, model, job_id", "runs.start_plain", arg("p_account", a.account),
                      arg("p_tier", a.tier), arg("p_max_runs", a.max_runs), arg("p_max_threads", a.max_threads),
                      arg("p_thread", a.new_thread), arg("p_project", a.new_project), arg("p_run", a.run),
                      arg("p_message", a.message), arg("p_agent", f.agent_id), arg("p_model", a.model),
                      arg("p_default_model", a.default_model), arg("p_body", *a.body), arg("p_title", a.title),
                      arg("p_mode", mode), arg("p_memory", f.memory_enabled), arg("p_budget", budget),
                      arg("p_policy", policy), arg("p_node", *a.node), arg("p_timeout", a.timeout_seconds),
                      arg("p_first_event", a.first_event), arg("p_reserve", a.reserve));
  ry::result<ry::rows> rows = co_await call.run_on(db_);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  if (r.is_null(3)) co_return std::optional<start_result>();
  co_return std::optional<start_result>(plain_result(a, r, 0));
}

ry::task<ry::result<std::vector<start_result>>> repository::start_together(
    std::span<const start_arguments* const> starts, on_lock how) const {
  const start_columns c(starts);
  const start_arguments& any = *starts.front();
  const bool wait = how == on_lock::wait;
  const sql_call call(
      "n, agent_id, agent_version, model, job_id", "runs.start_plain_all", arg("p_accounts", c.accounts, uuids),
      arg("p_tiers", c.tiers), arg("p_max_runs", c.max_runs), arg("p_max_threads", c.max_threads),
      arg("p_threads", c.new_threads, uuids), arg("p_projects", c.new_projects, uuids), arg("p_runs", c.runs, uuids),
      arg("p_messages", c.messages, uuids), arg("p_agents", c.agents, uuids), arg("p_models", c.models),
      arg("p_default_models", c.default_models), arg("p_bodies", c.bodies), arg("p_titles", c.titles),
      arg("p_modes", c.modes), arg("p_memory", c.memory, booleans), arg("p_budgets", c.budgets, numbers),
      arg("p_policies", c.policies), arg("p_wait", wait), arg("p_node", *any.node),
      arg("p_timeout", any.timeout_seconds), arg("p_first_event", any.first_event), arg("p_reserve", any.reserve));
  ry::result<ry::rows> rows = co_await call.run_on(db_);
  if (!rows) co_return rows.error();
  start_result apart;
  apart.outcome = start_outcome::apart;
  std::vector<start_result> all(starts.size(), apart);
  for (const ry::row r : *rows) {
    const auto n = static_cast<std::size_t>(r.int64(0)) - 1;
    if (r.is_null(4))
      all.at(n).outcome = start_outcome::alone;
    else
      all.at(n) = plain_result(*starts[n], r, 1);
  }
  co_return all;
}

ry::task<ry::result<std::vector<start_result>>> repository::start(std::span<const start_arguments* const> starts,
                                                                  on_lock how, ry::tx* in) const {
  if (starts.size() == 1 && how == on_lock::skip && in == nullptr && starts.front()->is_plain()) {
    ry::result<std::optional<start_result>> made = co_await start_plain(*starts.front());
    if (!made) co_return made.error();
    if (*made) {
      std::vector<start_result> one;
      one.push_back(std::move(**made));
      co_return one;
    }
  }
  const start_columns c(starts);
  const start_arguments& any = *starts.front();
  const bool wait = how == on_lock::wait;
  const sql_call call(
      "outcome, detail, thread_id, project_id, sandbox_id, run_id, agent_id, agent_version, model, job_id, fence, "
      "fresh_thread, n",
      "runs.start_runs", arg("p_accounts", c.accounts, uuids), arg("p_tiers", c.tiers), arg("p_max_runs", c.max_runs),
      arg("p_max_threads", c.max_threads), arg("p_threads", c.threads, uuids), arg("p_projects", c.projects, uuids),
      arg("p_optimistic", c.optimistic, booleans), arg("p_new_threads", c.new_threads, uuids),
      arg("p_new_projects", c.new_projects, uuids), arg("p_runs", c.runs, uuids), arg("p_messages", c.messages, uuids),
      arg("p_agents", c.agents, uuids), arg("p_models", c.models), arg("p_default_models", c.default_models),
      arg("p_denied", c.denied, booleans), arg("p_bodies", c.bodies), arg("p_titles", c.titles),
      arg("p_modes", c.modes), arg("p_memory", c.memory, booleans), arg("p_sandboxes", c.sandboxes, uuids),
      arg("p_keys", c.keys), arg("p_hashes", c.hashes), arg("p_prompted", c.prompted, booleans),
      arg("p_budgets", c.budgets, numbers), arg("p_policies", c.policies), arg("p_queue", c.queue, booleans),
      arg("p_behind", c.behind, booleans), arg("p_max_waiting", any.max_waiting), arg("p_plain", c.plain),
      arg("p_wait", wait), arg("p_node", any.node, "uuid"), arg("p_timeout", any.timeout_seconds, "int"),
      arg("p_first_event", any.first_event), arg("p_reserve", any.reserve), arg("p_parameters", c.parameters),
      arg("p_extras", c.extras));
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (in != nullptr)
    rows = co_await call.run_on(*in);
  else
    rows = co_await call.run_on(db_);
  if (!rows) co_return rows.error();
  std::vector<start_result> all = read_starts(*rows, starts.size());
  if (all.empty()) co_return ry::error(RY_UNKNOWN, "runs.start", "an outcome is missing");
  co_return all;
}

ry::task<ry::result<join_result>> repository::join(const start_arguments& a, std::int64_t max_prompts,
                                                   std::int64_t max_bytes, ry::tx* in) const {
  const sql_call call("outcome, run_id, thread_id, project_id, sandbox_id, message_id", "runs.join_run",
                      arg("p_account", a.account), arg("p_thread", a.form.thread_id),
                      arg("p_project", a.form.project_id), arg("p_message", a.message), arg("p_body", *a.body),
                      arg("p_key", a.key), arg("p_hash", a.hash), arg("p_max_prompts", max_prompts),
                      arg("p_max_bytes", max_bytes));
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (in != nullptr)
    rows = co_await call.run_on(*in);
  else
    rows = co_await call.run_on(db_);
  if (!rows) co_return rows.error();
  constexpr std::pair<std::string_view, join_result::outcome> outcomes[] = {
      {"joined", join_result::outcome::joined}, {"none", join_result::outcome::none},
      {"busy", join_result::outcome::busy},     {"full", join_result::outcome::full},
      {"replay", join_result::outcome::replay}, {"key_reused", join_result::outcome::key_reused}};
  const ry::row r = rows->front();
  const auto* const found = std::find_if(std::begin(outcomes), std::end(outcomes),
                                         [&](const auto& known) { return known.first == r.text(0); });
  if (found == std::end(outcomes)) co_return ry::error(RY_UNKNOWN, "runs.join", "the outcome is unknown");
  join_result out;
  out.how = found->second;
  out.run_id = r.opt_text(1).value_or("");
  out.thread_id = r.opt_text(2).value_or("");
  out.project_id = r.opt_text(3).value_or("");
  out.sandbox_id = r.opt_text(4).value_or("");
  out.message_id = r.opt_text(5).value_or("");
  co_return out;
}

ry::task<ry::result<std::string>> repository::joined_message(std::string account, std::string key, ry::tx* in) const {
  constexpr const char* sql = "select message_id from runs.idempotency where account_id = $1::uuid and key = $2";
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (in != nullptr)
    rows = co_await in->query(sql, account, key);
  else
    rows = co_await db_.query(sql, account, key);
  if (!rows) co_return rows.error();
  co_return rows->empty() ? std::string() : std::string(rows->front().opt_text(0).value_or(""));
}

ry::task<ry::result<std::vector<stored_message>>> repository::pending_prompts(ry::uuid run) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "select message_id, body from runs.joined_prompts where run_id = $1::uuid order by position", run);
  if (!rows) co_return rows.error();
  std::vector<stored_message> out;
  for (const ry::row r : *rows) out.push_back({r.uuid(0), "user", std::string(r.text(1))});
  co_return out;
}

}  // namespace runs
