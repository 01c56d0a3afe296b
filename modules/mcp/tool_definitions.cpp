#include "tool_definitions.hpp"

#include <algorithm>

#include "fingerprint.hpp"

namespace mcp {
namespace {

// Per account; beyond this, the oldest definitions are deleted.
constexpr std::int64_t max_definitions = 20'000, removed_per_batch = 1'000;

ry::uuid account_of(const std::string& account) {
  const auto id = ry::uuid::parse(account);
  if (!id) throw ry::bad_request("mcp.account", "the account has no id");
  return *id;
}

std::string comma_separated(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& each : parts) out += (out.empty() ? "" : ", ") + each;
  return out;
}

}  // namespace

std::string definition_key(const configured& c) {
  json::object o;
  o["type"] = canonical_type(c.type);
  if (!c.custom_type.empty()) o["customType"] = c.custom_type;
  for (const char* key : {"url", "profile_id", "command", "args"}) {
    if (const auto* v = c.config.if_contains(key)) o[key] = *v;
  }
  return canonical_hash(o);
}

ry::task<std::vector<changed_definition>> tool_definitions::changes(const configured& c, std::string account,
                                                                    tool_list_ptr list) const {
  const auto id = account_of(account);
  const auto key = definition_key(c);
  const auto rows =
      (co_await ctx_.db().query(
           "select tool, fingerprint from mcp.tool_definition where account_id = $1 and server = $2 and tool = any($3)",
           id, key, c.enabled))
          .value();
  std::map<std::string, std::string, std::less<>> accepted;
  for (const auto& row : rows) accepted.emplace(row.text("tool"), row.text("fingerprint"));
  std::vector<changed_definition> out;
  std::vector<std::string> tools, fingerprints;
  for (const auto& name : c.enabled) {
    const auto* t = list->find(name);
    if (t == nullptr) continue;
    const auto before = accepted.find(name);
    if (before == accepted.end()) {
      tools.push_back(name);
      fingerprints.push_back(t->fingerprint);
    } else if (before->second != t->fingerprint) {
      out.push_back({name, changed_parts(before->second, t->fingerprint)});
    }
  }
  if (tools.empty()) co_return out;
  ry::batch b;
  b.add(
      "delete from mcp.tool_definition where account_id = $1 and server <> $2"
      " and (select count(*) from mcp.tool_definition where account_id = $1) > $3"
      " and accepted_at <= (select accepted_at from mcp.tool_definition where account_id = $1"
      " order by accepted_at offset $4 limit 1)",
      id, key, max_definitions, removed_per_batch);
  // If another run accepts a definition at the same time, the next comparison uses that one.
  b.add(
      "insert into mcp.tool_definition (account_id, server, tool, fingerprint)"
      " select $1, $2, tool, fingerprint from unnest($3::text[], $4::text[]) as new (tool, fingerprint)"
      " on conflict do nothing",
      id, key, tools, fingerprints);
  (void)(co_await ctx_.db().run(b)).value();
  co_return out;
}

ry::task<void> tool_definitions::remove_all(ry::uuid account) const {
  (co_await ctx_.db().query("delete from mcp.tool_definition where account_id = $1", account)).value();
}

ry::task<void> tool_definitions::accept(const configured& c, std::string account, std::string tool,
                                        std::string fingerprint) const {
  const auto done = (co_await ctx_.db().query("update mcp.tool_definition set fingerprint = $4, accepted_at = now()"
                                              " where account_id = $1 and server = $2 and tool = $3 returning 1",
                                              account_of(account), definition_key(c), tool, fingerprint))
                        .value();
  if (done.empty()) throw ry::not_found("mcp.definition", "no definition of this tool was accepted before");
}

ry::task<void> tool_definitions::log_changes(configured c, server_ptr s, tool_list_ptr list) {
  if (mark_logged(s->key, list)) co_return;
  try {
    const auto all = co_await changes(c, s->account_id, list);
    for (const auto& each : all) {
      ctx_.warn("the definition of a tool of an MCP server has changed since it was last used",
                {{"server", s->name},
                 {"account", s->account_id},
                 {"tool", each.tool},
                 {"changed", comma_separated(each.parts)}});
      co_await accept(c, s->account_id, each.tool, list->find(each.tool)->fingerprint);
    }
  } catch (...) {
    ctx_.log_error("the definitions of the tools of an MCP server could not be compared", ry::current_error());
  }
}

// Returns true if changes of this list have been logged already.
bool tool_definitions::mark_logged(const std::string& key, const tool_list_ptr& list) {
  constexpr std::size_t max_entries = 10'000;
  std::lock_guard lock(mutex_);
  if (logged_.size() >= max_entries) logged_.clear();
  auto& logged = logged_[key];
  if (logged.lock() == list) return true;
  logged = list;
  return false;
}

}  // namespace mcp
