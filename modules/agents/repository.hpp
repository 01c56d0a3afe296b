// All SQL of this module. Every function throws ry::error when the database says no.
#pragma once

#include <ry/cpp/db.hpp>

#include <vector>

#include "limits.hpp"
#include "types.hpp"

namespace agents {

struct page {
  std::vector<agent_ptr> agents;
  bool more = false;
};

class repository {
 public:
  repository(const ry::context& ctx, agent_limits most) : ctx_(ctx), most_(std::move(most)) {}

  ry::task<void> ensure_default(ry::uuid account) const;
  // Deletes all agents of a deleted account.
  ry::task<void> forget(ry::uuid account) const;
  // version 0 = the current one. nullptr: unknown or foreign.
  ry::task<agent_ptr> get(ry::uuid account, ry::uuid id, std::int32_t version) const;
  // Newest first, those made before `before`; makes the default agent when there is none.
  ry::task<page> list(ry::uuid account, std::optional<ry::uuid> before, std::int64_t limit) const;
  // Newest first, those below `before` (0 = all).
  ry::task<page> versions(ry::uuid account, ry::uuid id, std::int64_t before,
                          std::int64_t limit) const;
  // Throws "db.RY402", as the contract words it, when there are more agents or MCP servers than the plan allows.
  ry::task<void> create(ry::uuid account, ry::uuid id, revision first, plan allowed) const;
  // The version it has afterwards. Throws "db.RY404", "db.RY409", "db.RY402" and "db.RY422".
  ry::task<std::int32_t> revise(ry::uuid account, ry::uuid id, revision change, plan allowed) const;
  ry::task<void> remove(ry::uuid account, ry::uuid id) const;

 private:
  const ry::context& ctx_;
  const agent_limits most_;
};

}  // namespace agents
