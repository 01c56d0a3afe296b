#include "routes.hpp"

#include <ry/cpp/page.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "body.hpp"
#include "errors.hpp"
#include "mcp_list.hpp"

namespace agents {
namespace {

namespace json = boost::json;

constexpr std::int64_t default_page = 50;
constexpr std::int64_t max_page = 100;
// Attempts of a change without an expected version, which is retried after a concurrent change of the agent.
constexpr int max_attempts = 5;

ry::uuid agent_in_path(const ry::request& r) {
  return ry::require_uuid(r.param("id"));
}

json::object version_json(const agent& a) {
  json::object o;
  o["agent_id"] = a.id_text;
  o["version"] = a.version;
  o["name"] = a.name;
  o["description"] = a.description;
  o["system_prompt"] = a.system_prompt;
  o["model_name"] = a.model_name.empty() ? json::value(nullptr) : json::value(a.model_name);
  o["custom_mcps"] = masked_mcp_list(a.custom_mcps_json);
  o["tool_policy"] = json::parse(a.tool_policy_json);
  return o;
}

json::object agent_json(const agent& a) {
  auto o = version_json(a);
  o["is_default"] = a.is_default;
  o["updated_at"] = a.created_at;
  return o;
}

std::string page_json(const char* name, json::array items, const std::optional<std::string>& next) {
  json::object o;
  o[name] = std::move(items);
  o["next_cursor"] = next ? json::value(*next) : json::value(nullptr);
  return json::serialize(o);
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/agents", 0, this, &routes::list);
  reg.route("POST", "/agents", 0, this, &routes::create);
  reg.route("GET", "/agents/{id}", 0, this, &routes::show);
  reg.route("PUT", "/agents/{id}", 0, this, &routes::change);
  reg.route("DELETE", "/agents/{id}", 0, this, &routes::remove);
  reg.route("GET", "/agents/{id}/versions", 0, this, &routes::versions);
}

ry::task<owner> routes::caller(ry::request r) {
  auto got = co_await ry::call<owner, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) {
        return owner{v->account_id, {ry::text(v->tier->name), v->tier->custom_mcps}};
      });
  co_return std::move(got).value();
}

ry::task<agent_ptr> routes::own_agent(ry::uuid account, ry::uuid id, std::int32_t version) {
  auto found = co_await repo_.get(account, id, version);
  if (!found) throw unknown_agent();
  co_return found;
}

std::string routes::seal(const ry::uuid& agent, std::string_view plain) const {
  return ry::secrets(ctx_).seal(mcp_secret_context(agent.to_string()), plain).value();
}

ry::task<ry::response> routes::list(ry::request r) {
  const auto account = co_await caller(r);
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto before = ry::query_uuid_cursor(r, "agents");
  const auto got = co_await repo_.list(account.account_id, before, limit);
  json::array items;
  for (const auto& a : got.agents) items.push_back(agent_json(*a));
  std::optional<std::string> next;
  if (got.more) next = ry::make_cursor("agents", got.agents.back()->id_text);
  co_return ry::response::json(page_json("agents", std::move(items), next));
}

ry::task<ry::response> routes::create(ry::request r) {
  const auto account = co_await caller(r);
  auto body = read_agent_body(r.body());
  if (!body.change.name) throw invalid("name", "is required");
  const auto id = ctx_.new_uuid();
  if (body.mcps) {
    body.change.custom_mcps_json =
        read_mcp_list(*body.mcps, "[]", [&](std::string_view plain) { return seal(id, plain); });
    co_await checks_.check(account.account_id.to_string(),
                           unchecked_mcp_list(*body.mcps, *body.change.custom_mcps_json, "[]"));
  }
  co_await repo_.create(account.account_id, id, std::move(body.change), account.allowed);
  const auto created = co_await own_agent(account.account_id, id);
  co_return ry::response::json(201, json::serialize(agent_json(*created)));
}

ry::task<ry::response> routes::show(ry::request r) {
  const auto account = co_await caller(r);
  const auto found = co_await own_agent(account.account_id, agent_in_path(r));
  co_return ry::response::json(json::serialize(agent_json(*found)));
}

ry::task<ry::response> routes::change(ry::request r) {
  const auto account = co_await caller(r);
  const auto id = agent_in_path(r);
  const auto body = read_agent_body(r.body());
  for (int attempt = 1;; ++attempt) {
    const auto current = co_await own_agent(account.account_id, id);
    auto next = body.change;
    if (body.mcps) {
      next.custom_mcps_json =
          read_mcp_list(*body.mcps, current->custom_mcps_json, [&](std::string_view plain) { return seal(id, plain); });
      // Masks refer to values of the version that was read.
      if (next.expected_version == 0) next.expected_version = current->version;
      co_await checks_.check(account.account_id.to_string(),
                             unchecked_mcp_list(*body.mcps, *next.custom_mcps_json, current->custom_mcps_json));
    }
    try {
      const auto version = co_await repo_.revise(account.account_id, id, std::move(next), account.allowed);
      const auto changed = co_await own_agent(account.account_id, id, version);
      co_return ry::response::json(json::serialize(agent_json(*changed)));
    } catch (const ry::error& e) {
      if (!e.is("db.RY409") || body.change.expected_version != 0 || attempt == max_attempts) throw;
    }
  }
}

ry::task<ry::response> routes::remove(ry::request r) {
  const auto account = co_await caller(r);
  co_await repo_.remove(account.account_id, agent_in_path(r));
  co_return ry::response::empty();
}

ry::task<ry::response> routes::versions(ry::request r) {
  const auto account = co_await caller(r);
  const auto id = agent_in_path(r);
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto list = "versions:" + id.to_string();
  const std::int64_t before = ry::query_number_cursor(r, list).value_or(0);
  const auto got = co_await repo_.versions(account.account_id, id, before, limit);
  if (got.agents.empty()) co_await own_agent(account.account_id, id);
  json::array items;
  for (const auto& a : got.agents) {
    auto o = version_json(*a);
    o["is_current"] = a->version == a->current_version;
    o["created_at"] = a->created_at;
    items.push_back(std::move(o));
  }
  std::optional<std::string> next;
  if (got.more) next = ry::make_cursor(list, std::to_string(got.agents.back()->version));
  co_return ry::response::json(page_json("versions", std::move(items), next));
}

}  // namespace agents
