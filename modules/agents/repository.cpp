#include "repository.hpp"

#include <ry/cpp/limits.hpp>

namespace agents {
namespace {

#define AGENT_FIELDS                                                                           \
  "select a.id, a.account_id, a.is_default, a.version as current_version, v.version, v.name,"  \
  " v.description, v.system_prompt, v.model_name, v.custom_mcps::text as mcps, v.tool_policy," \
  " to_char(v.created_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') as created_at"
#define AGENT_TABLES " from agents.agent a join agents.agent_version v on v.agent_id = a.id"

agent_ptr read_agent(const ry::row& r) {
  auto a = std::make_shared<agent>();
  a->id = r.uuid("id");
  a->account_id = r.uuid("account_id");
  a->id_text = a->id.to_string();
  a->account_id_text = a->account_id.to_string();
  a->version = static_cast<std::int32_t>(r.int64("version"));
  a->current_version = static_cast<std::int32_t>(r.int64("current_version"));
  a->is_default = r.boolean("is_default");
  a->name = r.text("name");
  a->description = r.text("description");
  a->system_prompt = r.text("system_prompt");
  a->model_name = r.opt_text("model_name").value_or("");
  a->custom_mcps_json = r.text("mcps");
  a->tool_policy_json = r.text("tool_policy");
  a->created_at = r.text("created_at");
  return a;
}

// Counts a change that a limit of the account rejected.
void count_limit_rejection(const ry::context& ctx, const ry::error& failure) {
  if (!failure.is("db.RY402")) return;
  const auto detail = failure.detail_json();
  if (detail.find("\"AGENT_LIMIT_EXCEEDED\"") != detail.npos) ry::account_limit(ctx, "agents").add();
  if (detail.find("\"CUSTOM_WORKER_LIMIT_EXCEEDED\"") != detail.npos) ry::account_limit(ctx, "custom_mcps").add();
}

// Size limit of a page, in addition to the number of entries: an agent can have a megabyte. A page has at least one
// entry.
constexpr std::int64_t page_bytes = 1024 * 1024;

// The statement of a page. `where`: the condition, in which $1 is the limit of entries and $2 is page_bytes. `key`: the
// column by which the page is sorted, "agent" or "nr". Reads the texts of only the versions on the page.
std::string page_sql(const std::string& where, const std::string& key) {
  return "with one as (select a.id as agent, v.version as nr, "
         " coalesce(v.bytes, octet_length(v.description) + octet_length(v.system_prompt) +"
         " octet_length(v.custom_mcps::text)) as bytes" AGENT_TABLES +
         where + " order by " + key + " desc limit $1::bigint + 1)," +
         " sized as (select one.*, count(*) over () as found, row_number() over w as nth,"
         " coalesce(sum(bytes) over (w rows between unbounded preceding and 1 preceding), 0) < $2::bigint as fits"
         " from one window w as (order by " +
         key + " desc)) " AGENT_FIELDS ", s.found" AGENT_TABLES +
         " join sized s on s.agent = a.id and s.nr = v.version where s.fits and s.nth <= $1::bigint order by s.nth";
}

page read_page(const ry::rows& rows) {
  page out;
  for (const auto r : rows) out.agents.push_back(read_agent(r));
  out.more = !rows.empty() && static_cast<std::size_t>(rows.front().int64("found")) > out.agents.size();
  return out;
}

}  // namespace

ry::task<void> repository::delete_all(ry::uuid account) const {
  (co_await ctx_.db().query("delete from agents.agent where account_id = $1", account)).value();
}

ry::task<void> repository::ensure_default(ry::uuid account) const {
  (co_await ctx_.db().query("select agents.ensure_default($1)", account)).value();
}

ry::task<agent_ptr> repository::get(ry::uuid account, ry::uuid id, std::int32_t version) const {
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                     AGENT_FIELDS AGENT_TABLES
                                     " and v.version = case when $3::int = 0 then a.version else"
                                     // A run whose version was deleted continues with the oldest stored version.
                                     " (select min(k.version) from agents.agent_version k"
                                     "   where k.agent_id = a.id and k.version >= $3::int) end"
                                     " where a.id = $2 and a.account_id = $1",
                                     account, id, version))
          .value();
  co_return rows.empty() ? nullptr : read_agent(rows.front());
}

ry::task<page> repository::list(ry::uuid account, std::optional<ry::uuid> before, std::int64_t limit) const {
  ry::batch b;
  b.add("select agents.ensure_default($1)", account);
  const std::string from_account = " and v.version = a.version where a.account_id = $3";
  const std::string sql = page_sql(before ? from_account + " and a.id < $4" : from_account, "agent");
  if (before) {
    b.add(sql, limit, page_bytes, account, *before);
  } else {
    b.add(sql, limit, page_bytes, account);
  }
  const auto done = (co_await ctx_.db().run(b)).value();
  co_return read_page(done.at(1));
}

ry::task<page> repository::versions(ry::uuid account, ry::uuid id, std::int64_t before, std::int64_t limit) const {
  const std::string sql =
      page_sql(" and ($5::bigint = 0 or v.version < $5::bigint) where a.id = $4 and a.account_id = $3", "nr");
  const auto rows =
      (co_await ctx_.db().query_with({RY_DB_READ_ONLY}, sql, limit, page_bytes, account, id, before)).value();
  co_return read_page(rows);
}

ry::task<void> repository::create(ry::uuid account, ry::uuid id, revision first, plan allowed) const {
  auto done = co_await ctx_.db().query(
      "select agents.create_agent($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12)", account, id, first.name,
      first.description.value_or(""), first.system_prompt.value_or(""), first.model_name.value_or(""),
      first.custom_mcps_json.value_or("[]"), first.is_default.value_or(false), first.tool_policy_json.value_or("[]"),
      allowed.custom_mcps, allowed.tier_name, limits_.max_agents(allowed.tier_name));
  if (!done) count_limit_rejection(ctx_, done.error());
  std::move(done).value();
}

ry::task<std::int32_t> repository::revise(ry::uuid account, ry::uuid id, revision change, plan allowed) const {
  auto done = co_await ctx_.db().query(
      "select agents.change_agent($1, $2, $3::int, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12, $13, $14)", account,
      id, change.expected_version, change.name, change.description, change.system_prompt, change.model_name,
      change.custom_mcps_json, change.is_default, change.tool_policy_json, allowed.custom_mcps, allowed.tier_name,
      limits_.versions_kept, limits_.versions_kept_mb * 1024 * 1024);
  if (!done) count_limit_rejection(ctx_, done.error());
  const auto rows = std::move(done).value();
  co_return static_cast<std::int32_t>(rows.front().int64(0));
}

ry::task<void> repository::remove(ry::uuid account, ry::uuid id) const {
  (co_await ctx_.db().query("select agents.remove($1, $2)", account, id)).value();
}

}  // namespace agents
