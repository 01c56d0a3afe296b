#include "routes.hpp"

#include <common/unicode.hpp>
#include <common/url.hpp>
#include <json/known_members.hpp>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <locale>
#include <ry/cpp/utf8.hpp>

#include "openapi.hpp"
#include "tool_source.hpp"

namespace mcp {
namespace {

constexpr int max_attempts = 5;
constexpr std::size_t max_server_headers = 100;

ry::error invalid(std::string message) {
  return ry::bad_request("mcp.invalid", std::move(message));
}

// For internal failures of the module, the API contract prescribes this message.
ry::error internal_failure() {
  return ry::http_error(500, RY_UNAVAILABLE, "mcp.internal", "Internal server error");
}

enum class audience { user, admin };
// Maps the failure of an MCP server to an HTTP error (never to an empty list). Only administrators see the server's own
// text.
ry::error as_http_error(const ry::error& e, audience shown_to = audience::user) {
  std::uint32_t status = 502;
  std::string code = "MCP_CONNECT_FAILED";
  // Here the server's name is the caller's own address, so the message omits it.
  if (e.is("mcp.refused")) return invalid(std::string(without_name(e.message())));
  if (e.is("mcp.internal")) return internal_failure();
  if (e.is("mcp.timeout")) {
    status = 504;
    code = "MCP_TIMEOUT";
  } else if (e.is("mcp.protocol_error") || e.is("mcp.rpc") || e.is("mcp.input_required") || e.is("mcp.malformed")) {
    code = "MCP_PROTOCOL_ERROR";
  } else if (!e.is("mcp.connect_failed") && !e.is("mcp.unauthorized") && !e.is("mcp.revision_changed")) {
    return e;
  }
  json::object detail;
  std::string text(e.message());
  if (shown_to == audience::admin && e.is("mcp.rpc") && !e.detail_json().empty()) {
    // For a call, the message already contains the server's error.
    const auto server_text = text_of_error(parse(e.detail_json()));
    if (text.find(server_text) == std::string::npos) text += ": " + server_text;
  }
  detail["message"] = jv(text);
  detail["error_code"] = code;
  return ry::http_error(status, RY_UNAVAILABLE, std::string(e.reason()), std::move(text), json::serialize(detail));
}

json::object body_of(const ry::request& r) {
  json::value v;
  try {
    v = parse_body(r.body());
  } catch (const ry::error&) {
    throw invalid("The body is not valid JSON");
  }
  if (!v.is_object()) throw invalid("The body must be a JSON object");
  return std::move(v.get_object());
}

const json::value* either(const json::object& o, const char* a, const char* b) {
  const auto* v = o.if_contains(a);
  return v != nullptr ? v : o.if_contains(b);
}

// `field`: the source of the headers, for the error message.
json::object checked_headers(json::value v, const char* field) {
  const auto* o = v.if_object();
  const bool good = o != nullptr && o->size() <= max_server_headers &&
                    std::all_of(o->begin(), o->end(), [](const auto& each) { return each.value().is_string(); });
  if (!good) throw invalid(std::string(field) + " must be a JSON object whose values are strings");
  if (auto problem = header_problem(*o, field); !problem.empty()) throw invalid(std::move(problem));
  return std::move(v.get_object());
}

json::object headers_of(std::string_view text) {
  if (text.empty()) return {};
  json::value v;
  try {
    v = parse(text);
  } catch (const ry::error&) {
    // Rejected below, because it is not an object.
  }
  return checked_headers(std::move(v), "X-MCP-Headers");
}

// The headers to store for calls of the server: those of the body, or else those used for discovery.
json::object headers_to_store(const ry::request& r, const json::object& body) {
  const auto* given = body.if_contains("headers");
  if (given == nullptr || given->is_null()) return headers_of(r.header("X-MCP-Headers"));
  return checked_headers(*given, "headers");
}

std::string type_of(std::string_view given) {
  const std::string type =
      given.empty() ? "sse" : boost::algorithm::to_lower_copy(std::string(given), std::locale::classic());
  if (type != "http" && type != "sse" && type != "prebuilt" && type != "composio" && type != "json") {
    throw invalid("MCP type must be one of http, sse, prebuilt, json");
  }
  return type;
}

// The address in the header X-MCP-URL, which may have any bytes.
std::string checked_address(std::string_view address, std::string_view type) {
  if (ry::is_utf8(address)) return std::string(address);
  if (type == "http" || type == "sse") throw invalid("MCP URL is not a valid http or https address");
  throw invalid("MCP URL must be UTF-8");
}

const configured* find(const std::vector<configured>& all, std::string_view type, std::string_view address) {
  for (const auto& c : all) {
    if (canonical_type(c.type) != canonical_type(type)) continue;
    const auto configured_address = address_of(c);
    const bool has_url = c.type == "http" || c.type == "sse";
    if (configured_address == address || (has_url && urls::same(configured_address, address))) return &c;
  }
  return nullptr;
}

json::object config_for(std::string_view type, std::string_view address, json::object headers) {
  json::object config;
  if (canonical_type(type) == "prebuilt") {
    config["profile_id"] = jv(address);
  } else {
    config["url"] = jv(address);
    if (!headers.empty()) config["headers"] = std::move(headers);
  }
  return config;
}

// A display name that no other server of the agent uses.
std::string name_for(std::string_view address, const std::vector<configured>& others) {
  const auto name = name_of_address(address);
  const auto is_used = [&](const std::string& n) {
    return std::any_of(others.begin(), others.end(), [&](const auto& c) { return c.name == n; });
  };
  std::string candidate = name;
  for (int n = 2; is_used(candidate); ++n) candidate = name + " " + std::to_string(n);
  return candidate;
}

json::object tool_json(const tool& t, const std::vector<std::string>* enabled) {
  json::object o;
  o["name"] = t.name;
  o["description"] = t.description;
  if (enabled != nullptr) {
    o["enabled"] = std::find(enabled->begin(), enabled->end(), t.name) != enabled->end();
  }
  return o;
}

std::vector<std::string> names_in(const json::value* v, const char* field) {
  if (v == nullptr) throw invalid(std::string(field) + " is required");
  std::vector<std::string> out;
  const bool list = v->is_array() && v->get_array().size() <= 1000;
  if (list) {
    for (const auto& each : v->get_array()) {
      if (!each.is_string() || each.get_string().empty()) break;
      const auto s = std::string(sv(each.get_string()));
      if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
    }
  }
  const bool all = list && std::all_of(v->get_array().begin(), v->get_array().end(),
                                       [](const auto& e) { return e.is_string() && !e.get_string().empty(); });
  if (!all) throw invalid(std::string(field) + " must be a list of names");
  return out;
}

// The configuration in an admin request.
struct admin_query {
  std::string type, name;
  json::object config;
};
admin_query query_in(const json::object& body) {
  admin_query q;
  q.type = text_of(body, "type");
  const auto* config = object_at(body, "config");
  if (q.type.empty() || config == nullptr) throw invalid("type and config are required");
  q.config = *config;
  q.name = text_of(q.config, "command");
  if (q.name.empty()) q.name = name_of_address(text_of(q.config, "url"));
  return q;
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  ry::route_options discovery;
  discovery.timeout_ms = 45'000;
  ry::route_options call;  // includes time that does not count towards the call's own limit
  call.timeout_ms = settings_.max_call_ms + 15'000;
  reg.route("GET", "/agents/{agent_id}/custom-mcp-tools", 0, this, &routes::discover, discovery);
  reg.route("POST", "/agents/{agent_id}/custom-mcp-tools", 0, this, &routes::enable, discovery);
  reg.route("PUT", "/agents/{agent_id}/custom-mcp-tools", 0, this, &routes::replace, discovery);
  reg.route("GET", "/agents/{agent_id}/custom-mcp-tools/changes", 0, this, &routes::changed_definitions, discovery);
  reg.route("POST", "/agents/{agent_id}/custom-mcp-tools/changes", 0, this, &routes::approve_definition, discovery);
  reg.route("POST", "/admin/mcp/tools", RY_ROUTE_ADMIN, this, &routes::try_tools, discovery);
  reg.route("POST", "/admin/mcp/call", RY_ROUTE_ADMIN, this, &routes::try_call, call);
  reg.describe(ry_openapi::api);
}

ry::task<std::string> routes::enabled_account(ry::request r) {
  if (!settings_.enabled) throw ry::forbidden("mcp.disabled", "MCP integrations are not enabled");
  co_return co_await account_of(r);
}

ry::task<std::string> routes::account_of(ry::request r) {
  ry::result<std::string> account_id = co_await ry::call<std::string, const ry_account_view*>(
      [&](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::text(v->account_id_text); });
  co_return std::move(account_id).value();
}

ry::task<ry::response> routes::discover(ry::request r) {
  const auto account = co_await enabled_account(r);
  const std::string agent_id(r.param("agent_id"));
  if (unicode::is_blank(r.header("X-MCP-URL"))) throw invalid("MCP URL is required");
  const auto type = type_of(r.header("X-MCP-Type"));
  const auto address = checked_address(r.header("X-MCP-URL"), type);
  auto headers = headers_of(r.header("X-MCP-Headers"));
  const auto agent = co_await read_agent(agents_, account, agent_id, 0);
  const auto* configured_server = find(agent.servers, type, address);
  const bool as_configured = configured_server != nullptr && headers.empty();
  if (!as_configured && type == "json") {
    // Commands are never accepted from a header.
    throw invalid("A json server is identified by the name of its configuration");
  }
  const bool no_cache = boost::algorithm::icontains(r.header("Cache-Control"), "no-cache", std::locale::classic());
  const auto policy = no_cache ? cache_policy::refresh : cache_policy::allow_cached;
  tool_list_ptr list;
  try {
    server_ptr s;
    if (as_configured) {
      s = service_.servers().for_agent(*configured_server, account, agent_id);
    } else {
      s = service_.servers().ad_hoc(name_of_address(address), type, {}, config_for(type, address, std::move(headers)),
                                    account);
    }
    service_.servers().check(*s);
    s = server_factory::with_caller(std::move(s), "request_id", r.id());
    list = co_await service_.discover(s, policy);
  } catch (const ry::error& e) {
    throw as_http_error(e);
  }
  static const std::vector<std::string> none;
  json::array tools;
  for (const auto& t : list->tools)
    tools.push_back(tool_json(t, configured_server != nullptr ? &configured_server->enabled : &none));
  json::object out;
  out["tools"] = std::move(tools);
  out["has_mcp_config"] = configured_server != nullptr;
  out["server_type"] = type;
  out["server_url"] = address;
  co_return ry::response::json(json::serialize(out));
}

ry::task<std::string> routes::store(std::string account, std::string agent, std::int32_t expected, std::string list) {
  ry::result<std::string> stored = co_await ry::call<std::string, const ry_agent_view*>(
      [&](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return agents_->put_custom_mcps(agents_.self(), ry::str(account), ry::str(agent), expected, ry::str(list), exec,
                                        fn, ctx);
      },
      [](const ry_agent_view* v) { return ry::text(v->custom_mcps_json); });
  if (stored) co_return std::move(*stored);
  const auto& e = stored.error();
  // On these routes an invalid configuration is a 400.
  if (e.status() == RY_INVALID_ARGUMENT) throw invalid(std::string(e.message()));
  if (e.status() == RY_INTERNAL || e.status() == RY_UNKNOWN) {
    ctx_.log_error("an MCP configuration could not be stored", e);
    throw internal_failure();
  }
  throw e;
}

ry::task<ry::response> routes::enable(ry::request r) {
  const auto account = co_await enabled_account(r);
  const std::string agent_id(r.param("agent_id"));
  const auto body = body_of(r);
  const auto address = text_of(body, "url");
  if (unicode::is_blank(address)) throw invalid("MCP URL is required");
  const auto* given = body.if_contains("type");
  if (given != nullptr && !given->is_string()) throw invalid("type must be a string");
  const auto type = type_of(text_of(body, "type"));
  const auto requested = names_in(either(body, "enabled_tools", "enabledTools"), "enabled_tools");
  const auto headers = headers_to_store(r, body);
  if (!headers.empty() && type != "http" && type != "sse")
    throw invalid("headers: only http and sse servers have headers");
  for (int attempt = 1;; ++attempt) {
    const auto agent = co_await read_agent(agents_, account, agent_id, 0);
    const auto* configured_server = find(agent.servers, type, address);
    if (configured_server == nullptr && type == "json") {
      throw invalid("A json server is identified by the name of its configuration");
    }
    server_ptr s;
    try {
      if (configured_server != nullptr && headers.empty()) {
        s = service_.servers().for_agent(*configured_server, account, agent_id);
      } else {
        s = service_.servers().ad_hoc(name_of_address(address), type, {}, config_for(type, address, headers), account);
        service_.servers().check(*s);
      }
      s = server_factory::with_caller(std::move(s), "request_id", r.id());
      s = co_await service_.servers().resolve(s);
    } catch (const ry::error& e) {
      throw as_http_error(e);
    }
    auto cached = service_.cache().look_up(s->key, ctx_.now_unix_us()).tools;
    const auto unknown = [&] {
      return std::find_if(requested.begin(), requested.end(),
                          [&](const auto& name) { return cached->find(name) == nullptr; });
    };
    // The caller may have seen a newer list than the one cached on this node.
    if (cached && unknown() != requested.end()) {
      try {
        cached = co_await service_.discover(s, cache_policy::refresh);
      } catch (const ry::error& e) {
        throw as_http_error(e);
      }
      if (unknown() != requested.end()) throw invalid("The server has no tool named " + *unknown());
    }
    auto list = masked(agent.custom_mcps_json);
    json::array names;
    for (const auto& name : requested) names.emplace_back(name);
    if (configured_server != nullptr) {
      auto& entry = list.at(static_cast<std::size_t>(configured_server - agent.servers.data())).as_object();
      entry["enabledTools"] = std::move(names);
      if (!headers.empty()) entry.at("config").as_object()["headers"] = headers;
    } else {
      json::object entry;
      entry["name"] = name_for(address, agent.servers);
      entry["type"] = type;
      entry["config"] = config_for(type, address, headers);
      entry["enabledTools"] = std::move(names);
      list.push_back(std::move(entry));
    }
    try {
      (void)co_await store(account, agent_id, agent.version, json::serialize(list));
    } catch (const ry::error& e) {
      if (e.status() != RY_ABORTED || attempt == max_attempts) throw;
      continue;
    }
    json::object out;
    out["success"] = true;
    json::array enabled;
    for (const auto& name : requested) enabled.emplace_back(name);
    out["total_tools"] = enabled.size();
    out["enabled_tools"] = std::move(enabled);
    co_return ry::response::json(json::serialize(out));
  }
}

ry::task<ry::response> routes::replace(ry::request r) {
  const auto account = co_await enabled_account(r);
  const std::string agent_id(r.param("agent_id"));
  const auto body = body_of(r);
  const auto* list = either(body, "custom_mcps", "customMcps");
  if (list == nullptr || !list->is_array()) throw invalid("custom_mcps must be a list");
  // Checks that the agent exists (404) before the list is validated.
  (void)co_await read_agent(agents_, account, agent_id, 0);
  for (const auto& each : list->get_array()) {
    const auto* o = each.if_object();
    const auto* config = o != nullptr ? object_at(*o, "config") : nullptr;
    if (config == nullptr) continue;  // the module `agents` rejects it and names the index
    const auto type = canonical_type(text_of(*o, "type"));
    if ((type == "http" || type == "sse") && text_of(*config, "url").empty()) {
      throw invalid("MCP URL is required");
    }
  }
  std::string stored;
  for (int attempt = 1;; ++attempt) {
    try {
      stored = co_await store(account, agent_id, 0, json::serialize(*list));
      break;
    } catch (const ry::error& e) {
      if (e.status() != RY_ABORTED || attempt == max_attempts) throw;
    }
  }
  std::size_t enabled = 0;
  for (const auto& c : read_configured(stored)) enabled += c.enabled.size();
  json::object data;
  data["custom_mcps"] = masked(stored);
  data["total_enabled_tools"] = enabled;
  json::object out;
  out["success"] = true;
  out["data"] = std::move(data);
  co_return ry::response::json(json::serialize(out));
}

// Compares the lists that are cached or arrive in time. Unreachable servers are listed by name.
ry::task<ry::response> routes::changed_definitions(ry::request r) {
  const auto account = co_await enabled_account(r);
  const std::string agent_id(r.param("agent_id"));
  const auto agent = co_await read_agent(agents_, account, agent_id, 0);
  std::vector<const configured*> watched;
  std::vector<ry::task<tool_list_ptr>> discoveries;
  json::array unreachable;
  for (const auto& each : agent.servers) {
    if (each.on_tool_change == configured::tool_change::log || each.enabled.empty()) continue;
    try {
      auto s = server_factory::with_caller(service_.servers().for_agent(each, account, agent_id), "request_id", r.id());
      discoveries.push_back(service_.discover(std::move(s), cache_policy::allow_cached));
      watched.push_back(&each);
    } catch (const ry::error&) {
      unreachable.emplace_back(each.name);
    }
  }
  const auto lists = co_await ry::when_all(std::move(discoveries));
  json::array changes;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    const auto& c = *watched[i];
    if (!lists[i].ok()) {
      unreachable.emplace_back(c.name);
      continue;
    }
    const auto all = co_await definitions_.changes(c, account, *lists[i]);
    for (const auto& each : all) {
      const auto* t = (*lists[i])->find(each.tool);
      json::object o;
      o["server"] = c.name;
      o["tool"] = each.tool;
      json::array parts;
      for (const auto& part : each.parts) parts.emplace_back(part);
      o["changed"] = std::move(parts);
      o["on_tool_change"] = c.on_tool_change == configured::tool_change::block ? "block" : "ask";
      o["description"] = t->description;
      o["parameters"] = t->parameters;
      o["read_only"] = t->read_only;
      o["fingerprint"] = t->fingerprint;
      changes.push_back(std::move(o));
    }
  }
  json::object out;
  out["changes"] = std::move(changes);
  out["unreachable"] = std::move(unreachable);
  co_return ry::response::json(json::serialize(out));
}

ry::task<ry::response> routes::approve_definition(ry::request r) {
  const auto account = co_await enabled_account(r);
  const std::string agent_id(r.param("agent_id"));
  const auto body = body_of(r);
  // Clients may send a list entry back unchanged.
  module_json::require_known_members(
      body, {"server", "tool", "fingerprint", "changed", "on_tool_change", "description", "parameters", "read_only"});
  const auto name = text_of(body, "server"), tool = text_of(body, "tool"), fingerprint = text_of(body, "fingerprint");
  for (const auto& [field, value] :
       {std::pair{"server", &name}, std::pair{"tool", &tool}, std::pair{"fingerprint", &fingerprint}}) {
    if (value->empty()) throw invalid(std::string(field) + " is required");
  }
  const auto agent = co_await read_agent(agents_, account, agent_id, 0);
  const auto c =
      std::find_if(agent.servers.begin(), agent.servers.end(), [&](const auto& each) { return each.name == name; });
  if (c == agent.servers.end()) throw invalid("server: the agent has no MCP server of this name");
  tool_list_ptr list;
  try {
    auto s = server_factory::with_caller(service_.servers().for_agent(*c, account, agent_id), "request_id", r.id());
    list = co_await service_.discover(std::move(s), cache_policy::allow_cached);
  } catch (const ry::error& e) {
    throw as_http_error(e);
  }
  const auto* t = list->find(tool);
  if (t == nullptr) throw invalid("tool: the server has no tool of this name");
  // Approve only the definition that the caller has seen.
  if (t->fingerprint != fingerprint) {
    throw ry::http_error(
        409, RY_ABORTED, "mcp.tool_changed",
        "fingerprint does not match the current definition of the tool; request the list of changes again");
  }
  bool was_used = true;
  try {
    co_await definitions_.accept(*c, account, tool, fingerprint);
  } catch (const ry::error& e) {
    if (!e.is("mcp.definition")) throw;
    was_used = false;
  }
  if (!was_used) throw invalid("tool: no run of the agent has used this tool yet");
  co_return ry::response::json(json::serialize(json::object{{"success", true}}));
}

// A profile must belong to the admin's own account.
ry::task<server_ptr> routes::server_in_request(ry::request r, std::string type, std::string name, json::object config) {
  std::string account;
  if (canonical_type(type) == "prebuilt") account = co_await account_of(r);
  auto s = service_.servers().ad_hoc(std::move(name), type, type, config, account);
  service_.servers().check(*s);
  co_return server_factory::with_caller(std::move(s), "request_id", r.id());
}

ry::task<ry::response> routes::try_tools(ry::request r) {
  const auto body = body_of(r);
  module_json::require_known_members(body, {"type", "config"});
  const auto q = query_in(body);
  const auto s = co_await server_in_request(r, q.type, q.name, q.config);
  tool_list_ptr list;
  try {
    list = co_await service_.discover(s, cache_policy::refresh);
  } catch (const ry::error& e) {
    throw as_http_error(e, audience::admin);
  }
  json::array tools;
  for (const auto& t : list->tools) {
    auto o = tool_json(t, nullptr);
    o["parameters"] = t.parameters;
    o["read_only"] = t.read_only;
    o["hash"] = t.hash;
    tools.push_back(std::move(o));
  }
  json::object out;
  out["server_name"] = list->server_name;
  out["instructions"] = list->instructions;
  out["tools"] = std::move(tools);
  json::array left_out;
  for (const auto& reason : list->skipped) left_out.emplace_back(reason);
  out["left_out"] = std::move(left_out);
  co_return ry::response::json(json::serialize(out));
}

ry::task<ry::response> routes::try_call(ry::request r) {
  const auto body = body_of(r);
  module_json::require_known_members(body, {"type", "config", "tool", "arguments"});
  const auto q = query_in(body);
  const auto name = text_of(body, "tool");
  if (name.empty()) throw invalid("tool is required");
  json::object arguments;
  if (const auto* given = body.if_contains("arguments")) {
    if (!given->is_object()) throw invalid("arguments must be an object");
    arguments = given->get_object();
  }
  const auto s = co_await server_in_request(r, q.type, q.name, q.config);
  mcp_service::call_request request;
  request.tool = name;
  request.arguments = std::move(arguments);
  std::string result;
  try {
    result = co_await service_.call(s, std::move(request));
  } catch (const ry::error& e) {
    throw as_http_error(e, audience::admin);
  }
  co_return ry::response::json(result);
}

}  // namespace mcp
