#include "task_store.hpp"

#include <sodium.h>

#include <map>
#include <utility>

namespace mcp {
namespace {

std::string secret_context(const std::string& run) {
  return "mcp.task:" + run;
}

ry::uuid uuid_of(const std::string& run) {
  const auto id = ry::uuid::parse(run);
  if (!id) throw ry::error(RY_INVALID_ARGUMENT, "mcp.task", "the id of a run is not a UUID");
  return *id;
}

// Serialises with sorted member names, because the database stores members in another order.
void write_sorted(const json::value& v, std::string& out) {
  if (const auto* a = v.if_array()) {
    out += '[';
    for (const auto& each : *a) {
      write_sorted(each, out);
      out += ',';
    }
    out += ']';
  } else if (const auto* o = v.if_object()) {
    std::map<std::string_view, const json::value*> members;
    for (const auto& member : *o) members[sv(member.key())] = &member.value();
    out += '{';
    for (const auto& [key, value] : members) {
      out += json::serialize(jv(key)) + ':';
      write_sorted(*value, out);
      out += ',';
    }
    out += '}';
  } else {
    out += json::serialize(v);
  }
}

}  // namespace

std::string hash_of_call(std::string_view tool, const json::value& arguments) {
  std::string arguments_json;
  write_sorted(arguments, arguments_json);
  crypto_generichash_state state;
  unsigned char digest[32];
  crypto_generichash_init(&state, nullptr, 0, sizeof digest);
  for (std::string_view part : {tool, std::string_view(arguments_json)}) {
    const std::uint64_t n = part.size();
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(&n), sizeof n);
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), n);
  }
  crypto_generichash_final(&state, digest, sizeof digest);
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

ry::task<void> task_store::store(call_id id, std::string task_id, std::int64_t lifetime_ms) {
  const auto run = uuid_of(id.run);
  const auto sealed = ctx_.secrets().seal(secret_context(id.run), task_id).value();
  mark_stored(id.run);
  // Also deletes expired rows of runs that ended on other nodes.
  (co_await ctx_.db().query(
       "with old as (delete from mcp.task where (run_id, tool_call_id) in (select run_id, tool_call_id"
       " from mcp.task where expires_at < now() order by expires_at limit 50 for update skip locked))"
       " insert into mcp.task (run_id, tool_call_id, call_hash, task_id, expires_at)"
       " values ($1, $2, $3, $4, now() + $5::bigint * interval '1 millisecond')"
       " on conflict (run_id, tool_call_id) do update set call_hash = excluded.call_hash,"
       " task_id = excluded.task_id, expires_at = excluded.expires_at",
       run, id.call, ry::bytes_view(id.hash), ry::bytes_view(sealed), lifetime_ms))
      .value();
}

ry::task<std::optional<std::string>> task_store::find(call_id id) const {
  const auto run = uuid_of(id.run);
  const auto rows = (co_await ctx_.db().query(
                         "select task_id from mcp.task where run_id = $1 and tool_call_id = $2 and call_hash = $3", run,
                         id.call, ry::bytes_view(id.hash)))
                        .value();
  if (rows.empty()) co_return std::nullopt;
  auto opened = ctx_.secrets().open(secret_context(id.run), rows.front().text("task_id"));
  if (!opened) {
    ctx_.warn("the stored task of an MCP server cannot be read", {{"run", id.run}});
    co_return std::nullopt;
  }
  co_return std::move(*opened);
}

ry::task<void> task_store::remove(std::string run) const {
  const auto id = uuid_of(run);
  (co_await ctx_.db().query("delete from mcp.task where run_id = $1", id)).value();
}

void task_store::mark_stored(const std::string& run) {
  std::lock_guard lock(mutex_);
  runs_[run].stored = true;
}

void task_store::add_abandoned(const std::string& run, abandoned a) {
  std::lock_guard lock(mutex_);
  runs_[run].tasks.push_back(std::move(a));
}

task_store::run_tasks task_store::take(const std::string& run) {
  std::lock_guard lock(mutex_);
  const auto at = runs_.find(run);
  if (at == runs_.end()) return {};
  auto out = std::move(at->second);
  runs_.erase(at);
  return out;
}

}  // namespace mcp
