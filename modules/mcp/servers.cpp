#include "servers.hpp"

#include <sodium.h>

#include <common/header_field.hpp>

#include <algorithm>
#include <ry/cpp/base64.hpp>

#include "text.hpp"

namespace mcp {
namespace {

std::string key_of(std::string_view driver, std::string_view config, std::string_view account, std::uint32_t flags) {
  crypto_generichash_state state;
  unsigned char digest[24];
  crypto_generichash_init(&state, nullptr, 0, sizeof digest);
  for (std::string_view part : {driver, config, account}) {
    const std::uint64_t n = part.size();
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(&n), sizeof n);
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), n);
  }
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(&flags), sizeof flags);
  crypto_generichash_final(&state, digest, sizeof digest);
  char hex[2 * sizeof digest + 1];
  sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
  return hex;
}

// The result of a driver's resolve() or authorize(). It may arrive after the caller has stopped waiting.
struct driver_result {
  transport driver;
  std::string type, config_json;
  ry::error error{RY_OK};
  ry::signal done;
  bool completed = false;

  // call(fn, ctx) calls the driver.
  template <class Call>
  static std::shared_ptr<driver_result> start(transport driver, Call&& call) {
    auto n = std::make_shared<driver_result>();
    n->driver = std::move(driver);
    auto handle = std::make_unique<std::shared_ptr<driver_result>>(n);
    const ry_status st = call(&on_result, handle.get());
    if (st == RY_OK) {
      handle.release();
    } else {
      n->error = ry::error(st);
      n->completed = true;
    }
    return n;
  }
  static void on_result(void* ctx, ry_status st, ry_str type, ry_str config_json, const ry_error_view* err) noexcept {
    const std::unique_ptr<std::shared_ptr<driver_result>> handle(static_cast<std::shared_ptr<driver_result>*>(ctx));
    auto& n = **handle;
    const auto copied = ry::guard([&] {
      n.type = ry::text(type);
      n.config_json = ry::text(config_json);
    });
    n.error = st != RY_OK ? ry::error::from(st, err) : ry::error(copied);
    n.completed = true;
    n.done.set();
  }
};

ry::task<void> wait_for_completion(std::shared_ptr<driver_result> n) {
  while (!n->completed) {
    const auto woken = co_await n->done.wait();
    if (!woken.ok() && !n->completed) throw woken.error();
  }
}

// Masks the values of headers and variables, and the words in them: a server that rejects a token quotes it without the
// "Bearer" prefix.
std::shared_ptr<const std::vector<ry::masked_text>> mask_credentials(const ry::context& ctx,
                                                                     const json::object& config) {
  constexpr std::size_t min_length = 8;
  auto out = std::make_shared<std::vector<ry::masked_text>>();
  for (const char* part : {"headers", "env"}) {
    const auto* values = object_at(config, part);
    if (values == nullptr) continue;
    for (const auto& member : *values) {
      if (!member.value().is_string()) continue;
      const auto value = sv(member.value().get_string());
      out->emplace_back(ctx, std::string(value));
      for (auto rest = value; !rest.empty();) {
        const auto end = std::min(rest.find_first_of(" \t,;:="), rest.size());
        if (end >= min_length && end < value.size()) out->emplace_back(ctx, std::string(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  return out;
}

ry_mcp_target target_of(const server& s) {
  ry_mcp_target t{};
  t.struct_size = sizeof t;
  t.flags = s.flags;
  t.server = ry::str(s.name);
  t.config_json = ry::str(s.config_json);
  t.account_id = ry::str(s.account_id);
  t.identity = ry::str(s.identity);
  return t;
}

bool all_strings(const json::array& values) {
  return std::all_of(values.begin(), values.end(), [](const json::value& v) { return v.is_string(); });
}

}  // namespace

std::string header_problem(const json::object& headers, std::string_view at) {
  for (const auto& member : headers) {
    const auto* value = member.value().if_string();
    const auto problem = header_field::problem(sv(member.key()), value != nullptr ? sv(*value) : std::string_view());
    if (!problem.empty()) return std::string(at) + "." + valid_utf8(sv(member.key()), 100) + " " + std::string(problem);
  }
  return {};
}

std::string setting_problem(std::string_view type, std::string_view config_json) {
  const auto v = parse(config_json);
  const auto* o = v.if_object();
  if (o == nullptr) return {};
  for (const auto& member : *o) {
    // For a local program, an ignored unknown member could change what is run.
    if (type != "json") break;
    const auto key = sv(member.key());
    bool is_known = false;
    for (const char* each : {"command", "args", "env", "reuse", "session", "revision", "tasks", "timeout_seconds",
                             "instructions", "resources", "on_tool_change"}) {
      is_known |= key == each;
    }
    if (!is_known) return "config." + valid_utf8(key, 100) + " is not known";
  }
  // A value of another type would be ignored silently; requests would lack credentials, or programs their variables.
  for (const char* key : {"url", "command", "profile_id"}) {
    const auto* value = o->if_contains(key);
    if (value != nullptr && !value->is_string()) return std::string("config.") + key + " must be a string";
  }
  const auto* args = o->if_contains("args");
  if (args != nullptr && !args->is_null() && !(args->is_array() && all_strings(args->get_array()))) {
    return "config.args must be a list of strings";
  }
  for (const char* key : {"headers", "env"}) {
    const auto* values = o->if_contains(key);
    if (values == nullptr || values->is_null()) continue;
    const auto* members = values->if_object();
    if (members == nullptr) return std::string("config.") + key + " must be an object";
    for (const auto& member : *members) {
      if (!member.value().is_string())
        return std::string("config.") + key + "." + valid_utf8(sv(member.key()), 100) + " must be a string";
    }
    if (key != std::string_view("headers")) continue;
    if (const auto problem = header_problem(*members, "config.headers"); !problem.empty()) return problem;
  }
  const auto* reuse = o->if_contains("reuse");
  if (reuse != nullptr && !reuse->is_null() && !reuse->is_bool()) return "config.reuse must be true or false";
  const auto* revision = o->if_contains("revision");
  if (revision != nullptr && !(revision->is_string() && is_revision_setting(sv(revision->get_string())))) {
    return "config.revision must be one of " + revision_settings();
  }
  const auto* session = o->if_contains("session");
  if (session != nullptr &&
      !(session->is_string() &&
        (session->get_string() == "call" || session->get_string() == "run" || session->get_string() == "thread"))) {
    return "config.session must be \"call\", \"run\" or \"thread\"";
  }
  for (const char* key : {"instructions", "resources"}) {
    const auto* on = o->if_contains(key);
    if (on != nullptr && !on->is_bool()) return std::string("config.") + key + " must be true or false";
  }
  const auto* reaction = o->if_contains("on_tool_change");
  if (reaction != nullptr &&
      !(reaction->is_string() &&
        (reaction->get_string() == "log" || reaction->get_string() == "ask" || reaction->get_string() == "block"))) {
    return "config.on_tool_change must be \"log\", \"ask\" or \"block\"";
  }
  const auto* tasks = o->if_contains("tasks");
  if (tasks != nullptr && !tasks->is_bool()) return "config.tasks must be true or false";
  const auto* seconds = o->if_contains("timeout_seconds");
  if (seconds != nullptr &&
      !(seconds->is_int64() && seconds->get_int64() >= 1 && seconds->get_int64() <= max_call_seconds)) {
    return "config.timeout_seconds must be a whole number from 1 to " + std::to_string(max_call_seconds);
  }
  return {};
}

std::string canonical_type(std::string_view type) {
  return type == "composio" ? "prebuilt" : std::string(type);
}

std::vector<configured> read_configured(std::string_view custom_mcps_json) {
  std::vector<configured> out;
  const auto v = parse(custom_mcps_json.empty() ? "[]" : custom_mcps_json);
  if (!v.is_array()) return out;
  for (const auto& each : v.get_array()) {
    const auto* o = each.if_object();
    if (o == nullptr) continue;
    configured c;
    c.name = text_of(*o, "name");
    c.type = text_of(*o, "type");
    c.custom_type = text_of(*o, "customType");
    if (const auto* config = object_at(*o, "config")) c.config = *config;
    if (const auto* tools = array_at(*o, "enabledTools")) {
      for (const auto& t : *tools) {
        if (t.is_string()) c.enabled.emplace_back(sv(t.get_string()));
      }
    }
    if (const auto* on = c.config.if_contains("instructions"); on != nullptr && on->is_bool())
      c.instructions = on->get_bool();
    if (const auto* on = c.config.if_contains("resources"); on != nullptr && on->is_bool())
      c.resources = on->get_bool();
    const auto reaction = text_of(c.config, "on_tool_change");
    if (reaction == "ask") c.on_tool_change = configured::tool_change::ask;
    if (reaction == "block") c.on_tool_change = configured::tool_change::block;
    out.push_back(std::move(c));
  }
  return out;
}

json::array masked(std::string_view custom_mcps_json) {
  auto v = parse(custom_mcps_json.empty() ? "[]" : custom_mcps_json);
  if (!v.is_array()) return {};
  for (auto& each : v.get_array()) {
    auto* o = each.if_object();
    auto* config = o != nullptr ? o->if_contains("config") : nullptr;
    if (config == nullptr || !config->is_object()) continue;
    for (const char* part : {"headers", "env"}) {
      auto* values = config->get_object().if_contains(part);
      if (values == nullptr || !values->is_object()) continue;
      for (auto& member : values->get_object()) member.value() = jv(mask);
    }
  }
  return std::move(v.get_array());
}

std::string address_of(const configured& c) {
  const auto type = canonical_type(c.type);
  if (type == "prebuilt") return text_of(c.config, "profile_id");
  if (type == "json") return c.name;
  return text_of(c.config, "url");
}

std::string_view without_name(std::string_view message) {
  const auto at = message.find("\": ");
  return at == std::string_view::npos ? message : message.substr(at + 3);
}

std::string name_of_address(std::string_view address) {
  if (const auto at = address.find("://"); at != std::string_view::npos) address.remove_prefix(at + 3);
  address = address.substr(0, address.find_first_of("/?#"));
  if (const auto at = address.rfind('@'); at != std::string_view::npos) address.remove_prefix(at + 1);
  auto name = valid_utf8(address, 150);
  return name.empty() ? "mcp" : name;
}

server_ptr server_factory::ad_hoc(std::string name, std::string_view type, std::string_view custom_type,
                                  const json::object& config, std::string_view account_id, std::uint32_t flags) const {
  auto s = std::make_shared<server>();
  s->name = std::move(name);
  s->type = canonical_type(type);
  s->driver = s->type;
  // The operator, not the account, decides to which server a profile leads.
  const bool customizable = s->type != "prebuilt" && !custom_type.empty();
  if (customizable && context_.transports.find(custom_type)) s->driver = custom_type;
  s->config_json = json::serialize(config);
  s->account_id = account_id;
  s->flags = flags;
  const auto* reuse = config.if_contains("reuse");
  s->reuse = reuse != nullptr && reuse->is_bool() && reuse->get_bool();
  s->revision = text_of(config, "revision");
  const auto session = text_of(config, "session");
  // Connections that any call may reuse do not belong to a run.
  if (session == "call" || s->reuse) s->scope = server::session_scope::call;
  if (session == "run") s->scope = server::session_scope::run;
  if (session == "thread") s->scope = server::session_scope::thread;
  const auto* tasks = config.if_contains("tasks");
  s->tasks = tasks == nullptr || !tasks->is_bool() || tasks->get_bool();
  const auto* seconds = config.if_contains("timeout_seconds");
  if (seconds != nullptr && seconds->is_int64() && seconds->get_int64() > 0) {
    s->call_ms = static_cast<std::uint64_t>(std::min(seconds->get_int64(), max_call_seconds)) * 1000;
  }
  s->key = s->identity = key_of(s->driver, s->config_json, s->account_id, flags);
  s->masked = mask_credentials(context_.ctx, config);
  return s;
}

server_ptr server_factory::for_agent(const configured& c, std::string_view account_id,
                                     std::string_view agent_id) const {
  auto config = c.config;
  const auto secret_context = "agents.mcp:" + std::string(agent_id);
  const auto secrets = context_.ctx.secrets();
  for (const char* part : {"headers", "env"}) {
    auto* values = config.if_contains(part);
    if (values == nullptr || !values->is_object()) continue;
    for (auto& member : values->get_object()) {
      auto* o = member.value().if_object();
      if (o == nullptr) continue;
      const auto sealed = ry::base64_decode(text_of(*o, "sealed"), ry::base64_alphabet::url, ry::base64_padding::none);
      const auto opened = sealed ? secrets.open(secret_context, *sealed) : ry::error(RY_DATA_LOSS);
      if (!opened) {
        context_.ctx.warn("the stored secrets of an MCP server cannot be read",
                          {{"server", c.name}, {"agent", agent_id}});
        throw ry::error(RY_DATA_LOSS, "mcp.internal",
                        "MCP server \"" + c.name + "\": its stored secrets cannot be read");
      }
      member.value() = jv(*opened);
    }
  }
  return ad_hoc(c.name, c.type, c.custom_type, config, account_id);
}

server_ptr server_factory::with_session(server_ptr s, std::string_view run_id, std::string_view thread_id,
                                        bool resumed) {
  const bool of_run = s->scope == server::session_scope::run || s->scope == server::session_scope::automatic;
  const auto id = of_run ? run_id : s->scope == server::session_scope::thread ? thread_id : std::string_view();
  if (id.empty()) return s;
  auto copy = std::make_shared<server>(*s);
  copy->session = id;
  copy->reuse = true;
  copy->resumed = resumed;
  return copy;
}

server_ptr server_factory::with_caller(server_ptr s, std::string_view kind, std::string_view id) {
  auto copy = std::make_shared<server>(*s);
  copy->caller_kind = kind;
  copy->caller_id = id;
  return copy;
}

server_ptr server_factory::with_elicitation(server_ptr s) {
  auto copy = std::make_shared<server>(*s);
  copy->elicitation = true;
  return copy;
}

server_ptr server_factory::without_session(server_ptr s) {
  auto copy = std::make_shared<server>(*s);
  copy->session.clear();
  copy->reuse = false;
  return copy;
}

void server_factory::check(const server& s) const {
  if (const auto problem = setting_problem(s.type, s.config_json); !problem.empty()) {
    throw ry::bad_request("mcp.refused", problem);
  }
  const auto driver = context_.transports.find(s.driver);
  if (!driver) {
    throw ry::bad_request("mcp.refused", "MCP servers of type " + s.type + " are not available on this server");
  }
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  const auto target = target_of(s);
  if (driver->table->check(driver->self, &target, &err) != RY_OK) {
    throw ry::bad_request("mcp.refused", err.len != 0 ? valid_utf8({text, err.len}, sizeof text)
                                                      : std::string("The MCP configuration is not valid"));
  }
}

ry::task<server_ptr> server_factory::resolve(server_ptr s) const {
  const auto driver = context_.transports.find(s->driver);
  if (!driver) {
    throw server_error(*s, RY_UNAVAILABLE, "mcp.connect_failed",
                       "there is no transport named \"" + s->driver + "\" here");
  }
  if ((driver->table->capabilities & RY_MCP_RESOLVES) == 0) co_return s;
  const auto target = target_of(*s);
  ry_exec* exec = co_await ry::this_exec();
  const auto n = driver_result::start(driver, [&](ry_mcp_resolved_fn fn, void* ctx) {
    return driver->table->resolve(driver->self, &target, exec, fn, ctx);
  });
  co_await wait_for_completion(n);
  if (n->error.status() != RY_OK) {
    const auto st = n->error.status();
    if (st == RY_CANCELLED) throw n->error;
    if (st == RY_NOT_FOUND || st == RY_FAILED_PRECONDITION) {
      throw server_error(*s, st, "mcp.refused", n->error.message());
    }
    if (st == RY_UNAUTHENTICATED) throw server_error(*s, st, "mcp.unauthorized", n->error.message());
    // Database errors are not shown to the caller.
    context_.ctx.log_error("an integration profile could not be read", n->error);
    throw server_error(*s, RY_UNAVAILABLE, "mcp.internal", "its profile could not be read");
  }
  co_return resolved_from(std::move(s), std::move(n->type), std::move(n->config_json));
}

server_ptr server_factory::resolved_from(server_ptr original, std::string type, std::string config_json) const {
  auto copy = std::make_shared<server>(*original);
  copy->driver = std::move(type);
  auto config = parse(config_json);
  copy->resolved_json = std::move(config_json);
  if (auto* o = config.if_object()) {
    const auto authorization = text_of(*o, "authorization");
    const auto* expired = o->if_contains("expired");
    copy->expired = expired != nullptr && expired->is_bool() && expired->get_bool();
    o->erase("authorization");
    o->erase("expired");
    copy->key = key_of(copy->driver, json::serialize(*o), copy->account_id, copy->flags);
    if (copy->call_ms != 0) (*o)["timeout_seconds"] = copy->call_ms / 1000;
    if (!authorization.empty()) {
      auto& headers = (*o)["headers"];
      if (!headers.is_object()) headers = json::object();
      headers.get_object()["Authorization"] = authorization;
    }
  }
  if (const auto* o = config.if_object()) copy->masked = mask_credentials(context_.ctx, *o);
  copy->config_json = json::serialize(config);
  copy->identity = key_of(copy->driver, copy->config_json, copy->account_id, copy->flags);
  copy->original = std::move(original);
  return copy;
}

ry::task<server_ptr> server_factory::authorize(server_ptr s, ry::error refused) const {
  const auto driver = s->original ? context_.transports.find(s->original->driver) : nullptr;
  const bool supports_renewal = driver && (driver->table->capabilities & RY_MCP_AUTHORIZES) != 0 &&
                                RY_HAS(driver->table, ry_mcp_transport_v1, authorize);
  if (!supports_renewal) throw refused;
  const auto detail = refused.detail_json();
  const auto refusal = detail.empty() ? json::value() : parse(detail);
  const auto* members = refusal.if_object();
  const auto* status = members != nullptr ? members->if_contains("status") : nullptr;
  const auto authenticate = members != nullptr ? text_of(*members, "authenticate") : std::string();
  ry_mcp_refusal r{};
  r.struct_size = sizeof r;
  r.http_status = status != nullptr && status->is_int64() ? static_cast<std::uint32_t>(status->get_int64()) : 0;
  r.config_json = ry::str(s->resolved_json);
  r.authenticate = ry::str(authenticate);
  const auto target = target_of(*s->original);
  ry_exec* exec = co_await ry::this_exec();
  const auto n = driver_result::start(driver, [&](ry_mcp_resolved_fn fn, void* ctx) {
    return driver->table->authorize(driver->self, &target, &r, exec, fn, ctx);
  });
  co_await wait_for_completion(n);
  const auto st = n->error.status();
  if (st == RY_OK) co_return resolved_from(s->original, std::move(n->type), std::move(n->config_json));
  if (st == RY_CANCELLED) throw n->error;
  log_cause(context_.ctx, *s, n->error);
  if (!n->error.reason().starts_with("mcp.")) {
    context_.ctx.log_error("the credentials of an MCP server could not be renewed", n->error);
    throw server_error(*s, RY_UNAVAILABLE, "mcp.internal", "its credentials could not be renewed");
  }
  const char* reason = "mcp.connect_failed";
  if (st == RY_UNAUTHENTICATED) reason = "mcp.unauthorized";
  if (st == RY_DEADLINE_EXCEEDED) reason = "mcp.timeout";
  if (st == RY_NOT_FOUND || st == RY_FAILED_PRECONDITION) reason = "mcp.refused";
  throw server_error(*s, st, reason, n->error.message());
}

}  // namespace mcp
