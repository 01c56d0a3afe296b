#include "tool_server.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <boost/json/serialize.hpp>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/secrets.hpp>

#include "cancellation.hpp"
#include "elicitation.hpp"

namespace mcp_server {
namespace {

using module_json::object_at;
using module_json::text_at;
using module_json::text_of;

constexpr std::uint64_t answer_poll_ms = 100;
constexpr std::string_view approval_key = "approval";  // of the form in inputRequests
constexpr std::size_t max_state_bytes = 4096;

std::string state_binding(const ry::uuid& account) {
  return "mcp_server.call:" + account.to_string();
}

// The result of a call that the user has not approved; nullopt: approved. decision: see decision_of(); nullopt: none.
std::optional<json::object> refusal_by(const std::optional<std::string>& decision) {
  if (!decision) return refused_result("The call was not made: the user has not decided about it.");
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(*decision, 8, failed);
  const json::object* o = failed ? nullptr : v.if_object();
  if (o != nullptr && text_at(*o, "decision") == "approve") return std::nullopt;
  const auto reason = o != nullptr ? text_at(*o, "reason") : std::string_view();
  if (reason.empty()) return refused_result("The call was not made: the user denied it.");
  return refused_result("The call was not made: the user denied it with the reason: " + std::string(reason));
}

// The form that asks for an approval: method and params.
json::object form_for(const server_tool_call& call, const server_tool& tool, revision rev) {
  boost::system::error_code failed;
  json::object about;
  about["name"] = call.name;
  about["source"] = tool.source;
  about["arguments"] = module_json::parse_exactly(call.arguments, 64, failed);
  return approval_form(about, rev);
}

// A call of agent.tools/1. Lives in the coroutine frame that awaits it; all functions run on that frame's executor.
struct tool_execution {
  call_stream* out = nullptr;
  bool ended = false;
  ry::error failure{RY_OK};
  std::string result{};
  ry::signal done{};

  static void on_output(void* p, ry_str text) noexcept {
    auto* e = static_cast<tool_execution*>(p);
    if (e->out != nullptr) (void)ry::guard([&] { e->out->report(ry::text(text)); });
  }
  static void on_result(void* p, ry_status st, ry_str result, const ry_error_view* err) noexcept {
    auto* e = static_cast<tool_execution*>(p);
    const ry_status read = ry::guard([&] {
      if (st == RY_OK)
        e->result = ry::text(result);
      else
        e->failure = ry::error::from(st, err);
    });
    if (read != RY_OK) e->failure = ry::error(read);
    e->ended = true;
    e->done.set();
  }
  // False: the chain was cancelled first.
  ry::task<bool> wait() {
    while (!ended) {
      const ry::result<void> woken = co_await done.wait();
      if (!woken.ok() && !ended) co_return false;
    }
    co_return true;
  }
};

}  // namespace

void tool_server::open() {
  if (!enabled()) return;
  try {
    mcp_ = ctx_.acquire<ry_mcp_v1>(RY_SVC_MCP_1);
  } catch (const ry::error& e) {
    throw ry::error(e.status(), "mcp_server.servers",
                    e.status() == RY_NOT_FOUND ? "mcp_server.servers requires the module mcp"
                                               : "mcp_server.servers requires a newer module mcp");
  }
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  const ry_status st = mcp_->open_servers(mcp_.self(), ry::str(settings_.servers_json), &tools_, &tools_self_, &err);
  if (st != RY_OK) throw ry::error(st, "mcp_server.servers", "mcp_server.servers" + std::string(text, err.len));
  if (!services_.runs().has_tool_action())
    ctx_.warn("mcp_server.servers has no effect: the module runs is too old to decide about calls", {});
}

void tool_server::require_policy() const {
  if (!services_.runs().has_tool_action())
    throw rpc_error(rpc_code::internal_error, "This server cannot decide about calls: its module runs is too old", 503);
}

ry::task<void> tool_server::dispatch(rpc_call c) {
  const std::string& method = c.rpc.method;
  const bool stateless = c.who.stateless();
  if (method == "tools/call") {
    co_await call(std::move(c));
    co_return;
  }
  json::object result;
  if (method == "tools/list")
    result = co_await list(c);
  else if (method == "server/discover" && stateless)
    result = discover_result(offer::servers);
  else if (method != "ping" || stateless)
    throw unknown_method(c.rpc, c.who);
  c.http.respond(json_response(result_message(c.rpc.id, complete_result(std::move(result), c.who, info_))));
}

// ---- tools

ry::task<std::vector<server_tool>> tool_server::all_tools(ry::uuid account) const {
  const std::string account_text = account.to_string();
  ry_tools_scope scope{};
  scope.struct_size = sizeof scope;
  scope.account_id = ry::str(account_text);
  ry::result<std::string> listed = co_await ry::call<std::string, ry_str>(
      [&](ry_exec* exec, ry_tools_list_fn fn, void* ctx) { return tools_->list(tools_self_, &scope, exec, fn, ctx); },
      [](ry_str text) { return ry::text(text); });
  co_return read_server_tools(listed.value());
}

ry::task<server_tool> tool_server::find_tool(ry::uuid account, std::string name) const {
  std::vector<server_tool> tools = co_await all_tools(account);
  for (server_tool& t : tools)
    if (t.name == name) co_return std::move(t);
  throw invalid_params("Unknown tool: " + clipped(name, 128));
}

ry::task<json::object> tool_server::list(const rpc_call& c) {
  require_policy();
  const call_permits::permit permit = permits_.acquire(c.account);
  if (!permit) throw too_many_calls();
  const std::vector<server_tool> tools = co_await all_tools(c.account);
  json::object out = tool_page(tools, text_at(c.rpc.params, "cursor"), [this](std::string_view name) {
    return services_.runs().mildest_tool_action(name) != ry::runs::tool_action::deny;
  });
  if (c.who.stateless()) {
    out["ttlMs"] = tools_ttl_ms;
    out["cacheScope"] = "private";
  }
  co_return out;
}

// ---- calls

json::object tool_server::denied(const server_tool_call& call) const {
  return refused_result("The call of the tool " + clipped(call.name, 128) +
                        " was not made: the policy of this server denies it.");
}

ry::task<void> tool_server::call(rpc_call c) {
  const server_tool_call call = read_server_tool_call(c.rpc.params);
  require_policy();
  const call_permits::permit permit = permits_.acquire(c.account);
  if (!permit) throw too_many_calls();
  const ry::runs::tool_action action = services_.runs().tool_action(call.name, call.arguments);
  std::optional<json::object> refused;
  bool asks_in_stream = false;
  if (action == ry::runs::tool_action::deny) {
    refused = denied(call);
  } else if (action == ry::runs::tool_action::ask && call.arguments.size() > max_form_arguments) {
    refused = refused_result("The call of the tool " + clipped(call.name, 128) +
                             " was not made: it needs an approval of the user, and its arguments are longer than the " +
                             std::to_string(max_form_arguments) + " bytes that a form can show.");
  } else if (action == ry::runs::tool_action::ask) {
    asks_in_stream = c.who.elicitation && c.streams && !c.who.stateless();
    if (c.who.elicitation && c.who.stateless())
      refused = co_await ask_by_result(c, call);
    else if (!asks_in_stream)
      refused = refused_result("The call of the tool " + clipped(call.name, 128) +
                               " was not made: it needs an approval of the user, and this client cannot be asked.");
  }
  if (refused) {
    const std::string_view type = refused->contains("inputRequests") ? "input_required" : "complete";
    c.http.respond(json_response(result_message(c.rpc.id, complete_result(*std::move(refused), c.who, info_, type))));
    co_return;
  }
  const ry::cancel_source abort(c.http.cancel());
  const std::string topic = cancel_topic(c.account, c.session, c.rpc.id);
  const ry::subscription cancelled = subscribe_cancel(ctx_, topic, c.http.exec(), abort);
  std::shared_ptr<call_stream> stream;
  if (c.streams) {
    stream_position position{};
    position.request_id = c.rpc.id;
    position.progress_token = c.who.progress_token;
    stream = call_stream::open(ctx_, c.http, c.who, std::move(position));
  }
  outcome out;
  std::optional<rpc_error> failed;
  try {
    out.result = co_await ry::with_cancel(abort.token(), make_call(c, call, asks_in_stream, stream.get()));
  } catch (const rpc_error& e) {
    failed = e;
  } catch (...) {
    const ry::error e = ry::current_error();
    out.cancelled = e.status() == RY_CANCELLED;
    out.why = abort.token().why();
    if (!out.cancelled) {
      ctx_.log_error("a call of a tool failed", e);
      failed = as_rpc_error(e);
    }
  }
  if (!failed) {
    co_await ry::shield(end(c, stream.get(), std::move(out)));
    co_return;
  }
  if (!stream) throw *failed;
  co_await ry::shield(stream->finish(error_message(c.rpc.id, *failed)));
}

ry::task<void> tool_server::end(const rpc_call& c, call_stream* to, outcome o) const {
  // The client has disconnected or has cancelled the request, so it expects no response.
  if (o.cancelled && o.why != 0 && o.why != RY_REASON_SHUTDOWN && to != nullptr) {
    to->close();
    co_return;
  }
  if (o.cancelled)
    o.result = refused_result(o.why == RY_REASON_USER ? "The request was cancelled."
                                                      : "The server is shutting down. The call may have taken effect.");
  json::object message = result_message(c.rpc.id, complete_result(std::move(o.result), c.who, info_));
  if (to != nullptr)
    co_await to->finish(std::move(message));
  else if (!c.http.ended())
    c.http.respond(json_response(message));
}

ry::task<json::object> tool_server::make_call(const rpc_call& c, const server_tool_call& call, bool asks,
                                              call_stream* to) const {
  if (asks) {
    std::optional<json::object> refused = co_await ask_in_stream(c, call, *to);
    if (refused) co_return *std::move(refused);
    // The policy may have become stricter while the user was asked.
    if (services_.runs().tool_action(call.name, call.arguments) == ry::runs::tool_action::deny) co_return denied(call);
  }
  co_return co_await run_tool(c, call, to);
}

ry::task<json::object> tool_server::run_tool(const rpc_call& c, const server_tool_call& call, call_stream* to) const {
  const std::string account = c.account.to_string(), call_id = ctx_.new_uuid().to_string();
  ry_tools_scope scope{};
  scope.struct_size = sizeof scope;
  scope.account_id = ry::str(account);
  scope.thread_id = ry::str(c.session);
  scope.run_id = ry::str(call_id);
  tool_execution execution;
  execution.out = to;
  ry_tool_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = &tool_execution::on_output;
  sink.on_result = &tool_execution::on_result;
  void* handle = nullptr;
  ry_exec* exec = co_await ry::this_exec();
  ry::check(tools_->call(tools_self_, &scope, ry::str(call_id), ry::str(call.name), ry::str(call.arguments), exec,
                         &sink, &execution, &handle),
            "mcp_server.call");
  const bool in_time = co_await execution.wait();
  if (!in_time) {
    tools_->cancel(tools_self_, handle);
    (void)co_await ry::shield(execution.wait());
  }
  if (RY_HAS(tools_, ry_agent_tools_v1, ended) && tools_->ended != nullptr) tools_->ended(tools_self_, &scope, 1);
  if (!in_time) throw ry::error(RY_CANCELLED, "mcp_server.call", "The call was cancelled");
  if (execution.failure.status() == RY_NOT_FOUND) throw invalid_params("Unknown tool: " + clipped(call.name, 128));
  if (execution.failure.status() != RY_OK) throw execution.failure;
  co_return server_tool_result(execution.result, c.who.rev);
}

// ---- approvals

ry::task<std::optional<json::object>> tool_server::ask_in_stream(const rpc_call& c, const server_tool_call& call,
                                                                 call_stream& to) const {
  const server_tool tool = co_await find_tool(c.account, call.name);
  const ry::uuid id = ctx_.new_uuid();
  bool answered = false;
  std::optional<std::string> decision;
  const ry::subscription subscribed =
      subscribe_answer(ctx_, c.account, id, c.http.exec(), [&](std::optional<std::string> given) {
        if (std::exchange(answered, true)) return;
        decision = std::move(given);
      });
  json::object request = form_for(call, tool, c.who.rev);
  request["jsonrpc"] = "2.0";
  request["id"] = call_form_id(id);
  to.ask(request);
  const std::int64_t begin = ctx_.mono_us();
  while (!answered && ctx_.mono_us() - begin < settings_.elicitation_wait_us) {
    ry::result<void> slept = co_await ctx_.sleep(answer_poll_ms);
    slept.value();
  }
  co_return refusal_by(decision);
}

// The state is encrypted and bound to the account, the tool and the arguments, so it approves no other call.
ry::task<std::optional<json::object>> tool_server::ask_by_result(const rpc_call& c,
                                                                 const server_tool_call& call) const {
  const std::string given = text_of(c.rpc.params, "requestState");
  const json::object* responses = object_at(c.rpc.params, "inputResponses");
  const json::object* response = responses != nullptr ? object_at(*responses, approval_key) : nullptr;
  const std::string binding = state_binding(c.account), digest = digest_of(call);
  if (!given.empty() && response != nullptr) {
    std::optional<approval_state> state;
    if (given.size() <= max_state_bytes) {
      const auto sealed = ry::base64_decode(given, ry::base64_alphabet::url, ry::base64_padding::none);
      const ry::result<std::string> opened =
          sealed ? ctx_.secrets().open(binding, *sealed) : ry::result<std::string>(ry::error(RY_DATA_LOSS));
      if (opened) state = read_approval_state(*opened);
    }
    if (!state || state->digest != digest || state->until_unix_us < ctx_.now_unix_us())
      throw invalid_params("requestState does not belong to this call, or has expired");
    const std::optional<std::string> decision = decision_of(*response);
    co_return refusal_by(decision);
  }
  const server_tool tool = co_await find_tool(c.account, call.name);
  const approval_state state{digest, ctx_.now_unix_us() + settings_.elicitation_wait_us};
  const std::string sealed = ctx_.secrets().seal(binding, state.text()).value();
  json::object requests;
  requests[jv(approval_key)] = form_for(call, tool, c.who.rev);
  json::object out;
  out["inputRequests"] = std::move(requests);
  out["requestState"] = ry::base64_encode(sealed, ry::base64_alphabet::url, false);
  co_return out;
}

}  // namespace mcp_server
