// Prebuilt integrations: an account keeps credentials as a profile, and a configuration that names the
// profile stands for the integration's address with these credentials in its headers.
#include <ry/svc/accounts.h>
#include <ry/svc/mcp.h>

#include <migrations.hpp>
#include <ry/cpp/mcp.hpp>
#include <algorithm>
#include <ry/ry.hpp>

#include "integrations.hpp"

namespace mcp_prebuilt {
namespace {

namespace json = boost::json;

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "integrations": {"type": "object", "default": {}, "description": "What accounts may make profiles for",
      "additionalProperties": {"type": "object", "required": ["url"], "properties": {
        "url": {"type": "string", "minLength": 8, "description": "Address of the MCP server"},
        "type": {"type": "string", "enum": ["http", "sse"], "default": "http", "description": "Transport"},
        "headers": {"type": "object", "default": {}, "additionalProperties": {"type": "string"}, "description": "Sent with every request; {field} is filled in from the profile's credentials"}}}},
    "max_profiles": {"type": "integer", "minimum": 1, "default": 100, "description": "Profiles of one account"}
  }
})json";

std::string place(std::string_view id) {
  return "mcp.profile:" + std::string(id);
}

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_MCP_RESOLVES;

  driver(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), offered_(read(ctx)) {
    static constexpr auto table = ry::mcp::transport_table<driver>();
    reg.migrations(ry_migrations::all);
    reg.contribute(RY_MCP_TRANSPORT_1, "prebuilt", &table, this);
    reg.route("GET", "/mcp/profiles", 0, this, &driver::list);
    reg.route("POST", "/mcp/profiles", 0, this, &driver::create);
    reg.route("DELETE", "/mcp/profiles/{id}", 0, this, &driver::remove);
    const auto v = json::parse(ctx.settings().empty() ? "{}" : std::string(ctx.settings()));
    if (const auto* most = v.as_object().if_contains("max_profiles")) most_ = most->as_int64();
  }
  void start() {
    accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    mcp_ = ctx_.acquire<ry_mcp_v1>(RY_SVC_MCP_1);
  }

  const ry::context& host() const { return ctx_; }
  void check(const ry::mcp::target& t) const {
    if (!profile_of(t)) throw ry::bad_request("mcp.config", "There is no such integration profile");
  }
  ry::task<ry::mcp::resolved> resolve(ry::mcp::target t) {
    const auto id = profile_of(t);
    const auto account = ry::uuid::parse(t.account_id);
    if (!id || !account) throw unknown();
    const auto rows = (co_await ctx_.db().query(
        "select integration, credentials from mcp_prebuilt.profile where id = $1 and account_id = $2",
        *id, *account)).value();
    if (rows.empty()) throw unknown();
    const auto at = offered_.find(rows.front().text("integration"));
    if (at == offered_.end()) {
      throw ry::precondition("mcp.integration", "the profile's integration is not offered any more");
    }
    auto opened = ctx_.secrets().open(place(id->to_string()), rows.front().text("credentials"));
    if (!opened) throw ry::error(RY_DATA_LOSS, "mcp.profile", "the profile's credentials cannot be read");
    const auto credentials = json::parse(*opened);
    co_return ry::mcp::resolved{at->second.type, filled_config(at->second, credentials.as_object())};
  }

 private:
  static integrations read(const ry::context& ctx) {
    try {
      return read_integrations(ctx.settings());
    } catch (const std::exception& e) {
      throw ry::bad_request("mcp_prebuilt.settings", e.what());
    }
  }
  static ry::error unknown() {
    return ry::not_found("mcp.profile", "There is no such integration profile");
  }
  static std::optional<ry::uuid> profile_of(const ry::mcp::target& t) {
    json::error_code ec;
    const auto v = json::parse(t.config_json, ec);
    const auto* o = v.if_object();
    const auto* id = o != nullptr ? o->if_contains("profile_id") : nullptr;
    if (ec || id == nullptr || !id->is_string()) return std::nullopt;
    return ry::uuid::parse({id->get_string().data(), id->get_string().size()});
  }
  static json::object shown(std::string_view id, std::string_view integration, std::string_view name) {
    const auto text = [](std::string_view s) { return json::string_view(s.data(), s.size()); };
    return {{"profile_id", text(id)}, {"integration", text(integration)}, {"display_name", text(name)}};
  }
  ry::task<ry::uuid> caller(ry::request r) {
    if (mcp_->enabled(mcp_.self()) == 0) {
      throw ry::forbidden("mcp.disabled", "MCP integrations are not enabled");
    }
    ry::result<ry::uuid> got = co_await ry::call<ry::uuid, const ry_account_view*>(
        [&](ry_exec* exec, ry_account_fn fn, void* ctx) {
          return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
        },
        [](const ry_account_view* v) { return ry::uuid(v->account_id); });
    co_return std::move(got).value();
  }

  ry::task<ry::response> list(ry::request r) {
    const auto account = co_await caller(r);
    const auto rows = (co_await ctx_.db().query(
        "select id::text as id, integration, display_name from mcp_prebuilt.profile"
        " where account_id = $1 order by id desc limit 1000",
        account)).value();
    json::array profiles;
    for (const auto& row : rows) {
      profiles.push_back(shown(row.text("id"), row.text("integration"), row.text("display_name")));
    }
    json::array names;
    for (const auto& [name, each] : offered_) names.emplace_back(name);
    json::object out;
    out["profiles"] = std::move(profiles);
    out["integrations"] = std::move(names);
    co_return ry::response::json(json::serialize(out));
  }

  ry::task<ry::response> create(ry::request r) {
    const auto account = co_await caller(r);
    json::error_code ec;
    const auto body = json::parse(std::string(r.body()), ec);
    const auto* o = body.if_object();
    if (ec || o == nullptr) throw ry::bad_request("mcp.profile", "The body must be a JSON object");
    const auto field = [&](const char* name) {
      const auto* v = o->if_contains(name);
      return v != nullptr && v->is_string() ? std::string(v->get_string().data(), v->get_string().size())
                                            : std::string();
    };
    const auto integration = field("integration");
    const auto at = offered_.find(integration);
    if (at == offered_.end()) throw ry::bad_request("mcp.profile", "integration is not one that is offered");
    auto name = field("display_name");
    if (name.empty()) name = integration;
    if (name.size() > 200) throw ry::bad_request("mcp.profile", "display_name is too long");
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      throw ry::bad_request("mcp.profile", "display_name holds control characters");
    }
    const auto credentials = read_credentials(at->second, o->if_contains("credentials"));
    const auto id = ctx_.new_uuid();
    const auto sealed =
        ctx_.secrets().seal(place(id.to_string()), json::serialize(credentials)).value();
    ry::batch b;
    // Only under the lock is the count one that holds: profiles may be made at the same time.
    b.add("select pg_advisory_xact_lock(hashtextextended('mcp_prebuilt:' || $1::uuid::text, 0))", account);
    b.add(
        "insert into mcp_prebuilt.profile (id, account_id, integration, display_name, credentials)"
        " select $1, $2, $3, $4, $5 where (select count(*) from mcp_prebuilt.profile"
        " where account_id = $2) < $6 returning 1",
        id, account, integration, name, ry::bytes_view(sealed), most_);
    const auto done = (co_await ctx_.db().run(b)).value();
    if (done.at(1).empty()) {
      throw ry::http_error(409, RY_FAILED_PRECONDITION, "mcp.profile", "There are too many profiles");
    }
    co_return ry::response::json(201, json::serialize(shown(id.to_string(), integration, name)));
  }

  ry::task<ry::response> remove(ry::request r) {
    const auto account = co_await caller(r);
    const auto id = ry::uuid::parse(r.param("id"));
    if (!id) throw unknown();
    const auto gone = (co_await ctx_.db().query(
        "delete from mcp_prebuilt.profile where id = $1 and account_id = $2 returning 1", *id,
        account)).value();
    if (gone.empty()) throw unknown();
    co_return ry::response::empty();
  }

  ry::context& ctx_;
  const integrations offered_;
  std::int64_t most_ = 100;
  ry::service<ry_accounts_v1> accounts_;
  ry::service<ry_mcp_v1> mcp_;
};

}  // namespace
}  // namespace mcp_prebuilt

RY_MODULE(mcp_prebuilt::driver, "mcp_prebuilt", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_SECRETS_1, RY_SERVICES_1, RY_SVC_ACCOUNTS_1,
                 RY_MCP_TRANSPORT_1, RY_SVC_MCP_1)
              .settings(mcp_prebuilt::schema));
