// The routes of the MCP endpoints.
#pragma once

#include <ry/ry.hpp>

#include <optional>
#include <string>

#include "call_permits.hpp"
#include "rpc_call.hpp"
#include "run_waiter.hpp"
#include "services.hpp"
#include "settings.hpp"
#include "tool_server.hpp"

namespace mcp_server {

class endpoint {
 public:
  endpoint(const ry::context& ctx, const settings& s, const services& svc, server_info info)
      : ctx_(ctx),
        settings_(s),
        services_(svc),
        info_(std::move(info)),
        permits_(s.calls_per_account),
        waiter_(ctx, settings_, services_, info_),
        tools_(ctx, settings_, services_, info_, permits_) {}
  void add_to(ry::registrar& reg);
  // Call it after services::acquire(). Throws ry::error if a configured server is not valid.
  void open() { tools_.open(); }

 private:
  using call = rpc_call;

  ry::task<void> post(ry::request r);
  ry::task<void> post_to_servers(ry::request r);
  ry::task<void> serve(ry::request r, offer what);
  ry::task<void> resume(ry::request r);
  ry::task<void> end_session(ry::request r);
  ry::task<void> resume_servers(ry::request r);
  ry::task<void> end_servers_session(ry::request r);
  ry::task<ry::response> metadata(ry::request r);
  ry::task<ry::response> metadata_of_path(ry::request r);
  ry::task<ry::response> metadata_of_servers(ry::request r);
  // Of the endpoint with this path, which begins with http.base_path. Throws 404 if there is none.
  ry::response metadata_at(const ry::request& r, std::string_view path) const;

  ry::task<std::string> read_body(ry::request r) const;
  ry::task<message> read_request(ry::request r, json::value* id) const;
  ry::task<void> handle(ry::request r, message m, offer what);
  ry::task<void> dispatch(call c);
  ry::task<json::object> simple_result(const call& c);
  void on_initialize(const call& c, offer what) const;

  ry::task<void> call_tool(call c);
  // A repeated call of a client that was asked for approvals (2026-07-28).
  ry::task<void> continue_call(call c, agent_tool tool);
  // Applies answers to forms. Returns whether one of the forms was not answered.
  ry::task<bool> apply_inputs(ry::uuid account, std::string run_id, json::object responses);
  ry::task<void> on_response(ry::request r, message m);
  ry::task<json::object> query_run(const call& c, bool stop);
  ry::task<void> start_and_respond(call c, agent_tool tool, agent_arguments arguments);
  bool makes_task(const call& c) const;
  ry::task<void> respond_with_task(const call& c, std::string run_id);

  ry::task<json::object> get_task(const call& c);
  ry::task<json::object> list_tasks(const call& c);
  ry::task<json::object> cancel_task(const call& c);
  ry::task<json::object> update_task(const call& c);
  ry::task<void> await_task(call c);
  ry::task<run_info> task_of(const call& c);

  call_permits::permit permit_for(const ry::uuid& account);
  void respond(const call& c, json::object result, std::string_view type = "complete") const;
  // Throws 404 if the operator has configured no servers.
  void require_servers() const;
  void unauthenticated(const ry::request& r, offer what) const;

  const ry::context& ctx_;
  const settings& settings_;
  const services& services_;
  const server_info info_;
  call_permits permits_;
  const run_waiter waiter_;
  tool_server tools_;
};

}  // namespace mcp_server
