// All SQL statements of this module. Every function throws ry::error if the database reports an error.
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
  repository(const ry::context& ctx, agent_limits limits) : ctx_(ctx), limits_(std::move(limits)) {}

  ry::task<void> ensure_default(ry::uuid account) const;
  // Deletes all agents of a deleted account.
  ry::task<void> delete_all(ry::uuid account) const;
  // version 0: the current one. Returns nullptr if the agent is unknown or belongs to another account.
  ry::task<agent_ptr> get(ry::uuid account, ry::uuid id, std::int32_t version) const;
  // Newest first, agents created before `before`. Creates the default agent if there is none.
  ry::task<page> list(ry::uuid account, std::optional<ry::uuid> before, std::int64_t limit) const;
  // Newest first, versions below `before` (0: all).
  ry::task<page> versions(ry::uuid account, ry::uuid id, std::int64_t before, std::int64_t limit) const;
  // Throws "db.RY402", with the message of the contract, if the plan allows no more agents or MCP servers.
  ry::task<void> create(ry::uuid account, ry::uuid id, revision first, plan allowed) const;
  // Returns the new version. Throws "db.RY404", "db.RY409", "db.RY402" and "db.RY422".
  ry::task<std::int32_t> revise(ry::uuid account, ry::uuid id, revision change, plan allowed) const;
  ry::task<void> remove(ry::uuid account, ry::uuid id) const;

 private:
  const ry::context& ctx_;
  const agent_limits limits_;
};

}  // namespace agents
