#include "routes.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <optional>
#include <utility>

#include "agent_card.hpp"
#include "context_ids.hpp"
#include "errors.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::uint64_t max_body = 16 << 20;
constexpr std::size_t max_host = 255;

// The Host header of a request, if it consists of characters of host names and ports.
std::string host_of(const ry::request& r) {
  const std::string_view host = r.header("Host");
  const bool valid = !host.empty() && host.size() <= max_host && std::all_of(host.begin(), host.end(), [](char c) {
    const char l = ry::lower_ascii(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || std::string_view("-._:[]").find(c) != std::string::npos;
  });
  return valid ? std::string(host) : "localhost";
}

protocol_version version_of(const ry::request& r) {
  return {std::string(r.header("A2A-Version")), r.query("A2A-Version").value_or("")};
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/.well-known/agent-card.json", RY_ROUTE_PUBLIC | RY_ROUTE_NO_PREFIX, this,
            &routes::show_public_card);
  reg.route("GET", "/a2a/agents/{agent_id}/agent-card.json", 0, this, &routes::show_card);
  ry::route_options options;
  options.max_body = max_body;
  for (const char* path : {"/a2a", "/a2a/agents/{agent_id}"})
    reg.route("POST", path, RY_ROUTE_LONG, this, &routes::serve_rpc, options);
  for (const char* base : {"/a2a/v1", "/a2a/agents/{agent_id}/v1"}) add_rest(reg, base);
}

void routes::add_rest(ry::registrar& reg, const std::string& base) {
  ry::route_options options;
  options.max_body = max_body;
  reg.route("POST", base + "/message:send", RY_ROUTE_LONG, this, &routes::send_message, options);
  reg.route("POST", base + "/message:stream", RY_ROUTE_LONG, this, &routes::send_streaming_message, options);
  reg.route("GET", base + "/tasks", 0, this, &routes::list_tasks);
  reg.route("GET", base + "/tasks/{id}", RY_ROUTE_LONG, this, &routes::read_task);
  reg.route("POST", base + "/tasks/{id}", RY_ROUTE_LONG, this, &routes::change_task);
  reg.route("GET", base + "/extendedAgentCard", 0, this, &routes::show_extended_card);
  const std::string configs = base + "/tasks/{id}/pushNotificationConfigs";
  for (const char* method : {"GET", "POST"}) reg.route(method, configs, 0, this, &routes::reject_push_notifications);
  for (const char* method : {"GET", "DELETE"})
    reg.route(method, configs + "/{config_id}", 0, this, &routes::reject_push_notifications);
}

std::string routes::base_url(const ry::request& r) const {
  std::string out(ctx_.fact("http.public_url"));
  if (out.empty()) out = "http://" + host_of(r);
  while (!out.empty() && out.back() == '/') out.pop_back();
  out += ctx_.fact("http.base_path");
  while (!out.empty() && out.back() == '/') out.pop_back();
  return out;
}

agent_urls routes::urls_of(const ry::request& r, std::string_view agent) const {
  std::string rpc = base_url(r) + "/a2a";
  if (!agent.empty()) rpc.append("/agents/").append(agent);
  return {rpc, rpc + "/v1"};
}

protocol_error routes::current_failure() const {
  try {
    throw;
  } catch (const protocol_error& e) {
    return e;
  } catch (...) {
    const ry::error e = ry::current_error();
    if (e.status() == RY_INTERNAL || e.status() == RY_UNKNOWN) ctx_.log_error("a request handler failed", e);
    return from_service(e);
  }
}

ry::task<ry::response> routes::show_public_card(ry::request r) {
  const agent_urls urls = urls_of(r, {});
  const std::string body =
      json::serialize(agent_card({card_.name, card_.description, card_.version, urls.rpc, urls.rest}));
  const std::string tag = entity_tag(body);
  const bool fresh = r.header("If-None-Match") == tag;
  ry::response out = fresh ? ry::response::empty(304) : ry::response::json(body);
  // Without http.public_url, the URLs depend on the Host header, so no shared cache may store the card.
  out.header("Cache-Control", ctx_.fact("http.public_url").empty() ? "no-cache" : "public, max-age=300");
  out.header("ETag", tag);
  co_return out;
}

ry::task<caller> routes::caller_of(ry::request r) {
  caller out;
  out.account = co_await agents_.account_of(r);
  const std::string_view agent = r.param("agent_id");
  if (agent.empty()) co_return out;
  const agent_summary found = co_await agents_.get(out.account, std::string(agent));
  out.agent = found.id;
  co_return out;
}

ry::task<ry::response> routes::show_card(ry::request r) {
  std::optional<protocol_error> failure;
  try {
    const caller who = co_await caller_of(r);
    json::object card = co_await dispatcher_.card(who, urls_of(r, who.agent));
    ry::response out = ry::response::json(json::serialize(card));
    out.header("Cache-Control", "private, no-cache");
    co_return out;
  } catch (...) {
    failure = current_failure();
  }
  co_return binding::http_json().response(*failure);
}

ry::task<void> routes::run(ry::request r, call c, binding b) {
  std::optional<protocol_error> failure;
  try {
    caller who = co_await caller_of(r);
    agent_urls urls = urls_of(r, who.agent);
    co_await dispatcher_.execute(r, std::move(who), std::move(urls), std::move(c), b);
  } catch (...) {
    failure = current_failure();
  }
  if (failure && !r.ended()) r.respond(b.response(*failure));
}

ry::task<void> routes::serve_rpc(ry::request r) {
  json::value id;
  std::optional<protocol_error> failure;
  call c;
  try {
    c = read_rpc_request(r.body(), version_of(r), id);
  } catch (...) {
    failure = current_failure();
  }
  const binding b = binding::json_rpc(std::move(id));
  if (failure)
    r.respond(b.response(*failure));
  else
    co_await run(r, std::move(c), b);
}

ry::task<void> routes::serve_rest(ry::request r, call c) {
  const binding b = binding::http_json();
  std::optional<protocol_error> failure;
  try {
    require_version(version_of(r));
    if (r.method() == "POST") {
      json::object params = read_rest_body(r.body());
      if (const json::value* id = c.params.if_contains("id")) params["id"] = *id;
      c.params = std::move(params);
    } else {
      json::object params = query_params(r.query_list());
      if (const json::value* id = c.params.if_contains("id")) params["id"] = *id;
      c.params = std::move(params);
    }
  } catch (...) {
    failure = current_failure();
  }
  if (failure)
    r.respond(b.response(*failure));
  else
    co_await run(r, std::move(c), b);
}

ry::task<void> routes::send_message(ry::request r) {
  return serve_rest(std::move(r), {operation::send_message, {}});
}

ry::task<void> routes::send_streaming_message(ry::request r) {
  return serve_rest(std::move(r), {operation::send_streaming_message, {}});
}

ry::task<void> routes::list_tasks(ry::request r) {
  return serve_rest(std::move(r), {operation::list_tasks, {}});
}

ry::task<void> routes::show_extended_card(ry::request r) {
  return serve_rest(std::move(r), {operation::get_extended_agent_card, {}});
}

ry::task<void> routes::reject_push_notifications(ry::request r) {
  return serve_rest(std::move(r), {operation::push_notification_config, {}});
}

// The proto file declares GET for SubscribeToTask, and the specification's text POST; clients use either.
ry::task<void> routes::read_task(ry::request r) {
  const auto [id, verb] = read_task_segment(r.param("id"));
  json::object params;
  params["id"] = id;
  if (verb.empty()) return serve_rest(std::move(r), {operation::get_task, std::move(params)});
  if (verb == "subscribe" && r.method() == "GET")
    return serve_rest(std::move(r), {operation::subscribe_to_task, std::move(params)});
  throw ry::not_found("http.not_found", "Not Found");
}

ry::task<void> routes::change_task(ry::request r) {
  const auto [id, verb] = read_task_segment(r.param("id"));
  json::object params;
  params["id"] = id;
  if (verb == "cancel") return serve_rest(std::move(r), {operation::cancel_task, std::move(params)});
  if (verb == "subscribe") return serve_rest(std::move(r), {operation::subscribe_to_task, std::move(params)});
  throw ry::not_found("http.not_found", "Not Found");
}

}  // namespace a2a
