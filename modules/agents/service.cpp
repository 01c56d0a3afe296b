#include "service.hpp"

#include <boost/json/parse.hpp>

#include "mcp_list.hpp"

namespace agents {
namespace {

constexpr std::size_t max_cached = 4096;
constexpr std::uint32_t max_listed = 100;

std::string key_of(const std::string& agent, std::int32_t version) {
  return agent + "/" + std::to_string(version);
}

// Points into the agent.
ry_agent_view view_of(const agent& a) {
  ry_agent_view view{};
  view.struct_size = sizeof view;
  view.version = a.version;
  view.agent_id = ry::str(a.id_text);
  view.account_id = ry::str(a.account_id_text);
  view.name = ry::str(a.name);
  view.system_prompt = ry::str(a.system_prompt);
  view.model_name = ry::str(a.model_name);
  view.custom_mcps_json = ry::str(a.custom_mcps_json);
  view.is_default = a.is_default ? 1 : 0;
  view.description = ry::str(a.description);
  view.tool_policy_json = ry::str(a.tool_policy_json);
  return view;
}

}  // namespace

agent_ptr service::cached(const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto it = versions_.find(key);
  return it == versions_.end() ? nullptr : it->second;
}

void service::cache(const agent_ptr& a) {
  std::lock_guard lock(mutex_);
  if (versions_.size() >= max_cached) versions_.clear();
  versions_.insert_or_assign(key_of(a->id_text, a->version), a);
}

ry_status service::get(ry_str account, ry_str agent, std::int32_t version, caller c) {
  const auto account_id = ry::uuid::parse(ry::view(account));
  const auto agent_id = ry::uuid::parse(ry::view(agent));
  if (!account_id || !agent_id || version < 0) {
    respond(c, nullptr, unknown_agent());
    return RY_OK;
  }
  if (version != 0) {
    auto hit = cached(key_of(agent_id->to_string(), version));
    if (hit) {
      const bool owned = hit->account_id == *account_id;
      respond(c, owned ? std::move(hit) : nullptr, unknown_agent());
      return RY_OK;
    }
  }
  return ctx_.spawn(find_version(*account_id, *agent_id, version, c), c.exec) ? RY_OK : RY_UNAVAILABLE;
}

ry::task<void> service::find_version(ry::uuid account, ry::uuid agent, std::int32_t version, caller c) {
  agent_ptr found;
  ry::error failure = unknown_agent();
  try {
    found = co_await repo_.get(account, agent, version);
    if (found) cache(found);
  } catch (...) {
    failure = ry::current_error();
  }
  respond(c, std::move(found), failure);
}

ry_status service::set_mcps(ry_str account, ry_str agent, std::int32_t expected, ry_str mcps, caller c) {
  const auto account_id = ry::uuid::parse(ry::view(account));
  const auto agent_id = ry::uuid::parse(ry::view(agent));
  if (!account_id || !agent_id) {
    respond(c, nullptr, unknown_agent());
    return RY_OK;
  }
  revision change;
  change.expected_version = expected;
  change.custom_mcps_json = ry::text(mcps);
  return ctx_.spawn(revise(*account_id, *agent_id, std::move(change), c), c.exec) ? RY_OK : RY_UNAVAILABLE;
}

ry_status service::put_mcps(ry_str account, ry_str agent, std::int32_t expected, ry_str mcps, caller c) {
  const auto account_id = ry::uuid::parse(ry::view(account));
  const auto agent_id = ry::uuid::parse(ry::view(agent));
  if (!account_id || !agent_id) {
    respond(c, nullptr, unknown_agent());
    return RY_OK;
  }
  return ctx_.spawn(replace_mcps(*account_id, *agent_id, expected, ry::text(mcps), c), c.exec) ? RY_OK : RY_UNAVAILABLE;
}

ry::task<void> service::replace_mcps(ry::uuid account, ry::uuid agent, std::int32_t expected, std::string mcps,
                                     caller c) {
  std::optional<revision> change;
  ry::error failure = unknown_agent();
  try {
    const auto current = co_await repo_.get(account, agent, 0);
    if (current) {
      boost::json::error_code bad;
      const auto list = boost::json::parse(mcps, bad);
      if (bad) throw ry::bad_request("agents.invalid_value", "custom_mcps is not valid JSON");
      revision next;
      next.custom_mcps_json = read_mcp_list(list, current->custom_mcps_json, [&](std::string_view plain) {
        return ry::secrets(ctx_).seal(mcp_secret_context(agent.to_string()), plain).value();
      });
      // Masks refer to values of the version that was read.
      next.expected_version = expected != 0 ? expected : current->version;
      co_await checks_.check(account.to_string(),
                             unchecked_mcp_list(list, *next.custom_mcps_json, current->custom_mcps_json));
      change = std::move(next);
    }
  } catch (...) {
    failure = ry::current_error();
  }
  if (change) {
    co_await revise(account, agent, std::move(*change), c);
  } else {
    respond(c, nullptr, failure);
  }
}

ry::task<plan> service::plan_of(ry::uuid account) {
  auto got = co_await ry::call<plan, const ry_account_view*>(
      [this, &account](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->find(accounts_.self(), &account, exec, fn, ctx);
      },
      [](const ry_account_view* v) {
        return plan{ry::text(v->tier->name), v->tier->custom_mcps};
      });
  co_return std::move(got).value();
}

ry::task<void> service::revise(ry::uuid account, ry::uuid agent, revision change, caller c) {
  agent_ptr found;
  ry::error failure = unknown_agent();
  try {
    auto allowed = co_await plan_of(account);
    const auto version = co_await repo_.revise(account, agent, std::move(change), std::move(allowed));
    found = co_await repo_.get(account, agent, version);
    if (found) cache(found);
  } catch (...) {
    failure = ry::current_error();
    if (failure.is("db.RY409")) {
      failure = ry::error(RY_ABORTED, "agents.version_conflict", std::string(failure.message())).with_http(409);
    }
  }
  respond(c, std::move(found), failure);
}

ry::task<void> service::list(ry::uuid account, std::optional<ry::uuid> before, std::int64_t limit, ry_exec* exec,
                             ry_agent_list_fn fn, void* ctx) {
  std::optional<page> found;
  ry::error failure;
  try {
    found = co_await repo_.list(account, before, limit);
  } catch (...) {
    failure = ry::current_error();
  }
  co_await ctx_.switch_to(exec);
  if (!found) {
    const ry_error_view v = failure.view();
    fn(ctx, failure.status(), nullptr, 0, sizeof(ry_agent_view), 0, &v);
    co_return;
  }
  std::vector<ry_agent_view> views;
  for (const agent_ptr& a : found->agents) views.push_back(view_of(*a));
  fn(ctx, RY_OK, views.data(), views.size(), sizeof(ry_agent_view), found->more ? 1 : 0, nullptr);
}

void service::respond(caller c, agent_ptr found, ry::error failure) const noexcept {
  try {
    ctx_.post(c.exec, [c, found = std::move(found), failure] {
      if (!found) {
        const auto v = failure.view();
        c.fn(c.ctx, failure.status(), nullptr, &v);
        return;
      }
      const ry_agent_view view = view_of(*found);
      c.fn(c.ctx, RY_OK, &view, nullptr);
    });
  } catch (...) {
    ctx_.log_error("the result of an agent lookup could not be delivered", ry::current_error());
  }
}

const ry_agents_v1* service::table() noexcept {
  static constexpr ry_agents_v1 t{
      sizeof(ry_agents_v1),
      0,
      [](void* self, ry_str account, ry_str agent, std::int32_t version, ry_exec* exec, ry_agent_fn fn,
         void* ctx) noexcept {
        return ry::guard([&] { return static_cast<service*>(self)->get(account, agent, version, {exec, fn, ctx}); });
      },
      [](void* self, ry_str account, ry_str agent, std::int32_t expected, ry_str mcps, ry_exec* exec, ry_agent_fn fn,
         void* ctx) noexcept {
        return ry::guard([&] {
          return static_cast<service*>(self)->set_mcps(account, agent, expected, mcps, {exec, fn, ctx});
        });
      },
      [](void* self, ry_str account, ry_str agent, std::int32_t expected, ry_str mcps, ry_exec* exec, ry_agent_fn fn,
         void* ctx) noexcept {
        return ry::guard([&] {
          return static_cast<service*>(self)->put_mcps(account, agent, expected, mcps, {exec, fn, ctx});
        });
      },
      [](void* self, const ry_uuid* account, const ry_uuid* before, std::uint32_t limit, ry_exec* exec,
         ry_agent_list_fn fn, void* ctx) noexcept {
        return ry::guard([&] {
          if (limit < 1 || limit > max_listed) throw ry::bad_request("agents.limit", "limit must be from 1 to 100");
          auto* s = static_cast<service*>(self);
          const ry::uuid of(*account);
          const auto from = before != nullptr ? std::optional(ry::uuid(*before)) : std::nullopt;
          s->ctx_.post(exec, [s, of, from, limit, exec, fn, ctx] {
            if (!s->ctx_.spawn(s->list(of, from, limit, exec, fn, ctx), exec))
              fn(ctx, RY_CANCELLED, nullptr, 0, sizeof(ry_agent_view), 0, nullptr);
          });
        });
      }};
  return &t;
}

}  // namespace agents
