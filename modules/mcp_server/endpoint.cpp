#include "endpoint.hpp"

#include <json/members.hpp>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/text.hpp>
#include <string_view>

#include "cancellation.hpp"
#include "elicitation.hpp"
#include "resource_metadata.hpp"

namespace mcp_server {
namespace {

using module_json::object_at;
using module_json::text_at;
using module_json::text_of;

// Larger bodies are parsed on a thread that may block.
constexpr std::size_t blocking_parse_bytes = 256 * 1024;

request_headers headers_of(const ry::request& r) {
  return {r.header("MCP-Protocol-Version"), r.header("Mcp-Method"), r.header("Mcp-Name")};
}

// True if the client accepts the media type, which is in lower case.
bool accepts(const ry::request& r, std::string_view type) {
  return ry::lower_ascii(r.header("Accept")).find(type) != std::string::npos;
}

void require_media_types(const ry::request& r) {
  const auto type = ry::lower_ascii(r.header("Content-Type"));
  if (ry::trimmed(std::string_view(type).substr(0, type.find(';'))) != "application/json")
    throw rpc_error(rpc_code::invalid_request, "Content-Type must be application/json", 415);
  if (r.header("Accept").empty() || accepts(r, "json") || accepts(r, "*/*") || accepts(r, "application/*")) return;
  if (!accepts(r, "text/event-stream"))
    throw rpc_error(rpc_code::invalid_request, "Accept must contain application/json and text/event-stream", 406);
}

// The session of a client before 2026-07-28. The server stores none: the id only separates the request ids of the
// clients of an account. Throws if the id is not a UUID, so that the client initializes again.
std::string session_of(const ry::request& r) {
  const auto id = r.header("Mcp-Session-Id");
  if (id.empty()) return {};
  const auto parsed = ry::uuid::parse(id);
  if (!parsed) throw rpc_error(rpc_code::invalid_request, "Session not found", 404);
  return parsed->to_string();
}

ry::response not_allowed() {
  return ry::response::json(405, R"({"detail":"Method Not Allowed"})").header("Allow", "POST");
}

// A response has no response of its own, so the error is one of HTTP.
std::optional<std::string> read_answer(const json::object& result) {
  try {
    return decision_of(result);
  } catch (const rpc_error& e) {
    throw rpc_error(e.code(), e.message(), 400);
  }
}

}  // namespace

void endpoint::add_to(ry::registrar& reg) {
  // The endpoint responds to requests without a token itself, because its 401 refers to the metadata. The body is read
  // after the token was checked.
  constexpr std::uint32_t flags = RY_ROUTE_PUBLIC | RY_ROUTE_LONG;
  ry::route_options with_body;
  with_body.max_body = settings_.max_body_bytes;
  reg.route("POST", mcp_path, flags | RY_ROUTE_STREAM_BODY, this, &endpoint::post, with_body);
  reg.route("GET", mcp_path, flags, this, &endpoint::resume);
  reg.route("DELETE", mcp_path, RY_ROUTE_PUBLIC, this, &endpoint::end_session);
  reg.route("POST", servers_path, flags | RY_ROUTE_STREAM_BODY, this, &endpoint::post_to_servers, with_body);
  reg.route("GET", servers_path, RY_ROUTE_PUBLIC, this, &endpoint::resume_servers);
  reg.route("DELETE", servers_path, RY_ROUTE_PUBLIC, this, &endpoint::end_servers_session);
  constexpr std::uint32_t open = RY_ROUTE_PUBLIC | RY_ROUTE_NO_PREFIX;
  reg.route("GET", well_known_path, open, this, &endpoint::metadata);
  reg.route("GET", std::string(well_known_path) + "/{resource...}", open, this, &endpoint::metadata_of_path);
  // Has a route of its own only for the OpenAPI description, in which a path parameter matches one segment.
  reg.route("GET", std::string(well_known_path) + std::string(servers_path), open, this,
            &endpoint::metadata_of_servers);
}

// ---- the HTTP side

ry::task<void> endpoint::post(ry::request r) {
  co_await serve(std::move(r), offer::agents);
}

ry::task<void> endpoint::post_to_servers(ry::request r) {
  require_servers();
  co_await serve(std::move(r), offer::servers);
}

void endpoint::require_servers() const {
  if (!tools_.enabled()) throw ry::not_found("mcp_server.servers", "Not Found");
}

ry::task<void> endpoint::serve(ry::request r, offer what) {
  if (r.principal() == nullptr) {
    unauthenticated(r, what);
    co_return;
  }
  json::value id;
  std::optional<rpc_error> failed;
  try {
    message m = co_await read_request(r, &id);
    co_await handle(r, std::move(m), what);
  } catch (const rpc_error& e) {
    failed = e;
  } catch (...) {
    const ry::error e = ry::current_error();
    if (e.status() == RY_INTERNAL || e.status() == RY_UNKNOWN) ctx_.log_error("an MCP request failed", e);
    failed = as_rpc_error(e);
  }
  if (!failed || r.ended()) co_return;
  ry::response out = json_response(error_message(std::move(id), *failed), failed->http_status());
  if (failed->retry_after_s() != 0) out.header("Retry-After", std::to_string(failed->retry_after_s()));
  r.respond(out);
}

ry::task<std::string> endpoint::read_body(ry::request r) const {
  std::string body;
  for (;;) {
    ry::result<std::string> piece = co_await r.read_body();
    if (!piece.ok() && piece.status() == RY_RESOURCE_EXHAUSTED) break;
    if (piece.value().empty()) co_return body;
    body += *piece;
    if (body.size() > settings_.max_body_bytes) break;
  }
  throw rpc_error(rpc_code::invalid_request, "The request body is too large", 413);
}

ry::task<message> endpoint::read_request(ry::request r, json::value* id) const {
  require_media_types(r);
  std::string body = co_await read_body(r);
  if (body.size() <= blocking_parse_bytes) co_return read_message(body, *id);
  co_return co_await ctx_.run_blocking([&body, id] { return read_message(body, *id); });
}

void endpoint::unauthenticated(const ry::request& r, offer what) const {
  auto at = address_of(ctx_.fact("http.public_url"), ctx_.fact("http.base_path"), r.header("Host"));
  if (what == offer::servers) at.path = servers_path;
  r.respond(ry::response::json(401, R"({"detail":"Not authenticated"})")
                .header("WWW-Authenticate", challenge(at, !r.header("Authorization").empty())));
}

ry::task<ry::response> endpoint::metadata(ry::request r) {
  const auto at = address_of(ctx_.fact("http.public_url"), ctx_.fact("http.base_path"), r.header("Host"));
  co_return ry::response::json(resource_metadata(at, settings_.authorization_servers, info_.title));
}

ry::task<ry::response> endpoint::metadata_of_path(ry::request r) {
  co_return metadata_at(r, "/" + std::string(r.param("resource")));
}

ry::task<ry::response> endpoint::metadata_of_servers(ry::request r) {
  co_return metadata_at(r, servers_path);
}

ry::response endpoint::metadata_at(const ry::request& r, std::string_view path) const {
  const std::string base(ctx_.fact("http.base_path"));
  auto at = address_of(ctx_.fact("http.public_url"), base, r.header("Host"));
  if (tools_.enabled() && path == base + std::string(servers_path))
    at.path = servers_path;
  else if (path != base + std::string(mcp_path))
    throw ry::not_found("mcp_server.resource", "Not Found");
  return ry::response::json(resource_metadata(at, settings_.authorization_servers, info_.title));
}

ry::task<void> endpoint::end_session(ry::request r) {
  // The server stores no sessions, so it cannot end one.
  r.respond(not_allowed());
  co_return;
}

// The streams of these calls cannot be resumed.
ry::task<void> endpoint::resume_servers(ry::request r) {
  require_servers();
  if (r.principal() == nullptr)
    unauthenticated(r, offer::servers);
  else
    r.respond(not_allowed());
  co_return;
}

ry::task<void> endpoint::end_servers_session(ry::request r) {
  require_servers();
  r.respond(not_allowed());
  co_return;
}

ry::task<void> endpoint::resume(ry::request r) {
  if (r.principal() == nullptr) {
    unauthenticated(r, offer::agents);
    co_return;
  }
  const auto last = r.header("Last-Event-ID");
  client who;
  if (const auto rev = parse_revision(r.header("MCP-Protocol-Version"))) who.rev = *rev;
  const auto session = ry::uuid::parse(r.header("Mcp-Session-Id"));
  who.elicitation = session && session_has_elicitation(*session);
  // The server sends no messages of its own, and 2026-07-28 has no resumption.
  if (last.empty() || who.stateless()) {
    r.respond(not_allowed());
    co_return;
  }
  const auto position = parse_stream_position(last);
  if (!position) throw ry::bad_request("mcp_server.event_id", "Last-Event-ID is not an event id of this server");
  const ry::uuid account = co_await services_.account_of(r);
  (void)co_await services_.run(account, position->run_id);
  const call_permits::permit permit = permits_.acquire(account);
  if (!permit)
    throw ry::exhausted("mcp_server.calls", "Too many calls of this account are in progress").with_retry_after(5);
  waiting_call w{r, who, account, *position, true, !position->task_result, false, ry::cancel_source(r.cancel())};
  const std::string topic = session ? cancel_topic(account, session->to_string(), position->request_id) : std::string();
  const ry::subscription cancelled = subscribe_cancel(ctx_, topic, r.exec(), w.abort);
  co_await waiter_.wait(std::move(w));
}

// ---- messages

// The answer to a form that a stream of any node has sent. Other responses have no request.
ry::task<void> endpoint::on_response(ry::request r, message m) {
  const std::optional<form_reference> form = read_form_id(m.id);
  const std::optional<ry::uuid> of_call = read_call_form_id(m.id);
  if (of_call) {
    std::optional<std::string> decision;
    if (!m.failed) decision = read_answer(m.params);
    const ry::uuid account = co_await services_.account_of(r);
    publish_answer(ctx_, account, *of_call, decision);
  }
  if (form) {
    std::optional<std::string> decision;
    if (!m.failed) decision = read_answer(m.params);
    const ry::uuid account = co_await services_.account_of(r);
    if (decision)
      co_await services_.decide(account, form->approval, *std::move(decision));
    else
      publish_cancel(ctx_, dismissal_topic(account, form->run_id));
  }
  r.respond(ry::response::empty(202));
}

ry::task<void> endpoint::handle(ry::request r, message m, offer what) {
  const request_headers headers = headers_of(r);
  if (m.kind != message_kind::request) {
    const bool stateless = revision_of_notification(headers) >= revision::v2026_07_28;
    if (stateless && m.kind == message_kind::response)
      throw rpc_error(rpc_code::invalid_request, "The server sends no requests, so it accepts no responses", 400);
    if (m.kind == message_kind::response) co_return co_await on_response(r, std::move(m));
    if (!stateless && m.method == "notifications/cancelled") {
      const json::value* id = m.params.if_contains("requestId");
      const ry::uuid account = co_await services_.account_of(r);
      if (id != nullptr) publish_cancel(ctx_, cancel_topic(account, session_of(r), *id));
    }
    r.respond(ry::response::empty(202));
    co_return;
  }
  client who = read_client(m, headers);
  call c{r, std::move(m), std::move(who), {}, {}, accepts(r, "text/event-stream")};
  if (!c.who.stateless() && c.rpc.method != "initialize") c.session = session_of(r);
  if (const auto session = ry::uuid::parse(c.session)) c.who.elicitation = session_has_elicitation(*session);
  c.account = co_await services_.account_of(r);
  if (c.rpc.method == "initialize" && !c.who.stateless())
    on_initialize(c, what);
  else if (what == offer::servers)
    co_await tools_.dispatch(std::move(c));
  else
    co_await dispatch(std::move(c));
}

ry::task<void> endpoint::dispatch(call c) {
  const std::string& method = c.rpc.method;
  if (method == "tools/call") {
    co_await call_tool(std::move(c));
  } else if (method == "tasks/result" && c.who.rev == revision::v2025_11_25) {
    co_await await_task(std::move(c));
  } else {
    json::object result = co_await simple_result(c);
    respond(c, std::move(result));
  }
}

void endpoint::on_initialize(const call& c, offer what) const {
  const json::value* requested = c.rpc.params.if_contains("protocolVersion");
  if (requested == nullptr || !requested->is_string()) throw invalid_params("protocolVersion must be a string");
  const revision rev = negotiated(text_at(c.rpc.params, "protocolVersion"));
  const json::object* capabilities = object_at(c.rpc.params, "capabilities");
  const bool elicits = rev >= revision::v2025_06_18 && capabilities != nullptr && supports_forms(*capabilities);
  const ry::uuid session = session_id(ctx_.new_uuid(), elicits);
  c.http.respond(json_response(result_message(c.rpc.id, initialize_result(rev, info_, what)))
                     .header("Mcp-Session-Id", session.to_string()));
}

ry::task<json::object> endpoint::simple_result(const call& c) {
  const std::string& method = c.rpc.method;
  const bool stateless = c.who.stateless();
  if (method == "ping" && !stateless) co_return json::object();
  if (method == "server/discover" && stateless) co_return discover_result(offer::agents);
  if (method == "tools/list") {
    if (!text_at(c.rpc.params, "cursor").empty()) throw invalid_params("cursor is not valid for this list");
    const std::vector<agent_tool> tools = co_await services_.agent_tools(c.account);
    json::object out = tool_list(tools, c.who.rev);
    if (stateless) {
      out["ttlMs"] = tools_ttl_ms;
      out["cacheScope"] = "private";
    }
    co_return out;
  }
  if (c.who.rev >= revision::v2025_11_25) {
    if (method == "tasks/get") co_return co_await get_task(c);
    if (method == "tasks/cancel") co_return co_await cancel_task(c);
    if (method == "tasks/list" && !stateless) co_return co_await list_tasks(c);
    if (method == "tasks/update" && stateless) co_return co_await update_task(c);
  }
  throw unknown_method(c.rpc, c.who);
}

void endpoint::respond(const call& c, json::object result, std::string_view type) const {
  c.http.respond(json_response(result_message(c.rpc.id, complete_result(std::move(result), c.who, info_, type))));
}

call_permits::permit endpoint::permit_for(const ry::uuid& account) {
  call_permits::permit p = permits_.acquire(account);
  if (!p) throw too_many_calls();
  return p;
}

// ---- tools

ry::task<void> endpoint::call_tool(call c) {
  const std::string name = text_of(c.rpc.params, "name");
  if (name.empty()) throw invalid_params("name must be the name of a tool");
  const json::value* given = c.rpc.params.if_contains("arguments");
  if (given != nullptr && !given->is_object()) throw invalid_params("arguments must be an object");
  if (name == get_run_tool || name == stop_run_tool) {
    if (c.who.rev == revision::v2025_11_25 && c.rpc.params.contains("task"))
      throw rpc_error(rpc_code::method_not_found, "The tool " + name + " cannot be called as a task");
    json::object result = co_await query_run(c, name == stop_run_tool);
    respond(c, std::move(result));
    co_return;
  }
  std::vector<agent_tool> tools = co_await services_.agent_tools(c.account);
  for (agent_tool& t : tools) {
    if (t.name != name) continue;
    std::optional<std::string> problem;
    agent_arguments arguments;
    try {
      arguments = read_agent_arguments(given != nullptr ? given->get_object() : json::object());
    } catch (const argument_error& e) {
      problem = e.what();
    }
    if (problem) {
      respond(c, refused_result(*problem));
    } else if (c.who.stateless() && !text_at(c.rpc.params, "requestState").empty()) {
      co_await continue_call(std::move(c), std::move(t));
    } else {
      co_await start_and_respond(std::move(c), std::move(t), std::move(arguments));
    }
    co_return;
  }
  throw invalid_params("Unknown tool: " + clipped(name, 128));
}

bool endpoint::makes_task(const call& c) const {
  // From 2026-07-28 on, the server decides whether a call becomes a task. A task survives the connection, so every client
  // that supports tasks gets one.
  if (c.who.stateless()) return c.who.tasks;
  return c.who.rev == revision::v2025_11_25 && object_at(c.rpc.params, "task") != nullptr;
}

ry::task<void> endpoint::start_and_respond(call c, agent_tool tool, agent_arguments arguments) {
  const bool as_task = makes_task(c);
  std::optional<call_permits::permit> held;
  if (!as_task) held.emplace(permit_for(c.account));
  const ry::cancel_source abort(c.http.cancel());
  const std::string topic = as_task ? std::string() : cancel_topic(c.account, c.session, c.rpc.id);
  const ry::subscription cancelled = subscribe_cancel(ctx_, topic, c.http.exec(), abort);
  ry::runs::start_request start(c.account);
  start.field("prompt", std::move(arguments.prompt)).field("agent_id", tool.agent.id).field("queue", "true");
  if (!arguments.thread_id.empty()) start.field("thread_id", arguments.thread_id);
  for (call_file& f : arguments.files) start.file(std::move(f.name), std::move(f.media_type), std::move(f.content));
  start.key(start_key(c.session, c.rpc.id));
  std::optional<std::string> refused;
  ry::runs::started run;
  try {
    run = co_await services_.runs().start(std::move(start));
  } catch (const ry::error& e) {
    refused = refusal(e);
    if (!refused) throw;
  }
  if (refused) {
    respond(c, refused_result(*refused));
  } else if (as_task) {
    co_await respond_with_task(c, run.run_id);
  } else {
    stream_position position{false, run.run_id, 0, c.rpc.id, c.who.progress_token};
    waiting_call w{c.http, c.who, c.account, std::move(position), c.streams, true, false, abort};
    co_await waiter_.wait(std::move(w));
  }
}

ry::task<bool> endpoint::apply_inputs(ry::uuid account, std::string run_id, json::object responses) {
  bool dismissed = false;
  const json::array pending = co_await services_.pending_approvals(account, std::move(run_id));
  for (const json::value& v : pending) {
    const std::string id = text_of(v.as_object(), "approval_id");
    const json::object* response = object_at(responses, id);
    if (response == nullptr) continue;
    std::optional<std::string> decision = decision_of(*response);
    if (decision)
      co_await services_.decide(account, ry::require_uuid(id), *std::move(decision));
    else
      dismissed = true;
  }
  co_return dismissed;
}

// The state is not signed: it is the id of a run, and runs/1 accepts only those of the caller's account.
ry::task<void> endpoint::continue_call(call c, agent_tool tool) {
  const std::string id = text_of(c.rpc.params, "requestState");
  std::optional<run_info> run;
  if (ry::uuid::parse(id)) run = co_await services_.find_run(c.account, id);
  if (!run || run->agent_id != tool.agent.id) throw invalid_params("requestState does not belong to this call");
  const json::object* given = object_at(c.rpc.params, "inputResponses");
  json::object responses = given != nullptr ? *given : json::object();
  const call_permits::permit permit = permit_for(c.account);
  const bool dismissed = co_await apply_inputs(c.account, id, std::move(responses));
  const ry::cancel_source abort(c.http.cancel());
  stream_position position{false, id, 0, c.rpc.id, c.who.progress_token};
  waiting_call w{c.http, c.who, c.account, std::move(position), c.streams, true, dismissed, abort};
  co_await waiter_.wait(std::move(w));
}

ry::task<json::object> endpoint::query_run(const call& c, bool stop) {
  std::optional<std::string> problem;
  try {
    const json::object* arguments = object_at(c.rpc.params, "arguments");
    const std::string id = read_run_id(arguments != nullptr ? *arguments : json::object());
    if (stop) co_await services_.stop(c.account, id);
    const run_state s = co_await services_.run_with_answer(c.account, id);
    co_return call_result(s.run, s.text, outcome::of_query, c.who.rev);
  } catch (const argument_error& e) {
    problem = e.what();
  } catch (const ry::error& e) {
    problem = refusal(e);
    if (!problem) throw;
  }
  co_return refused_result(*problem);
}

// ---- tasks: a task is a run, and its id is that of the run

ry::task<run_info> endpoint::task_of(const call& c) {
  if (c.who.stateless() && !c.who.tasks) throw tasks_not_declared();
  const std::string id = text_of(c.rpc.params, "taskId");
  if (id.empty()) throw invalid_params("taskId must be the id of a task");
  std::optional<run_info> run;
  if (ry::uuid::parse(id)) run = co_await services_.find_run(c.account, id);
  if (!run) throw invalid_params("Task not found");
  co_return *std::move(run);
}

ry::task<void> endpoint::respond_with_task(const call& c, std::string run_id) {
  const run_info run = co_await services_.run(c.account, std::move(run_id));
  if (c.who.stateless()) {
    respond(c, task_2026(run, c.who.elicitation), "task");
    co_return;
  }
  json::object meta;
  meta["io.modelcontextprotocol/model-immediate-response"] =
      jv("The agent works on the task in the background. Its run is " + run.id + ".");
  json::object result;
  result["task"] = task_2025(run, c.who.elicitation);
  result["_meta"] = std::move(meta);
  respond(c, std::move(result));
}

ry::task<json::object> endpoint::get_task(const call& c) {
  const run_info run = co_await task_of(c);
  if (!c.who.stateless()) co_return task_2025(run, c.who.elicitation);
  json::object out = task_2026(run, c.who.elicitation);
  if (text_at(out, "status") == "input_required") {
    const json::array approvals = co_await services_.pending_approvals(c.account, run.id);
    out["inputRequests"] = input_requests(approvals, c.who.rev);
  }
  if (text_at(out, "status") == "completed") {
    const run_state s = co_await services_.run_with_answer(c.account, run.id);
    out["result"] = call_result(s.run, s.text, outcome::of_agent, c.who.rev);
  }
  co_return out;
}

ry::task<json::object> endpoint::list_tasks(const call& c) {
  ry::runs::fields query{{"limit", "50"}};
  const std::string cursor = text_of(c.rpc.params, "cursor");
  if (!cursor.empty()) query.emplace_back("cursor", cursor);
  std::string page;
  try {
    page = co_await services_.runs().list(c.account, std::move(query));
  } catch (const ry::error& e) {
    if (e.status() != RY_INVALID_ARGUMENT) throw;
    throw invalid_params("cursor is not valid for this list");
  }
  co_return task_page(page, c.who.elicitation);
}

ry::task<json::object> endpoint::cancel_task(const call& c) {
  const run_info before = co_await task_of(c);
  if (!c.who.stateless() && before.ended()) throw invalid_params("The task has already ended");
  if (!before.ended()) co_await services_.stop(c.account, before.id);
  if (c.who.stateless()) co_return json::object();
  const run_info after = co_await services_.run(c.account, before.id);
  if (after.status != "stopped") throw invalid_params("The task has already ended");
  co_return task_2025(after, c.who.elicitation);
}

// Responses to unknown or answered requests are ignored.
ry::task<json::object> endpoint::update_task(const call& c) {
  const run_info run = co_await task_of(c);
  const json::object* given = object_at(c.rpc.params, "inputResponses");
  if (given == nullptr) throw invalid_params("inputResponses must be an object");
  json::object responses = *given;
  (void)co_await apply_inputs(c.account, run.id, std::move(responses));
  co_return json::object();
}

ry::task<void> endpoint::await_task(call c) {
  const run_info run = co_await task_of(c);
  const call_permits::permit permit = permit_for(c.account);
  const ry::cancel_source abort(c.http.cancel());
  const std::string topic = cancel_topic(c.account, c.session, c.rpc.id);
  const ry::subscription cancelled = subscribe_cancel(ctx_, topic, c.http.exec(), abort);
  stream_position position{true, run.id, 0, c.rpc.id, c.who.progress_token};
  waiting_call w{c.http, c.who, c.account, std::move(position), c.streams, false, false, abort};
  co_await waiter_.wait(std::move(w));
}

}  // namespace mcp_server
