// Executes the operations of both bindings and sends their responses and streams.
#pragma once

#include <ry/cpp/http.hpp>
#include <ry/cpp/runs.hpp>
#include <string>

#include "agents.hpp"
#include "binding.hpp"
#include "run_updates.hpp"
#include "tasks.hpp"

namespace a2a {

// The base URLs of an agent's interfaces.
struct agent_urls {
  std::string rpc, rest;
};

class dispatcher {
 public:
  dispatcher(const ry::context& ctx, const tasks& tasks, const agents& agents)
      : ctx_(ctx), tasks_(tasks), agents_(agents) {}

  // Ends the request. Throws protocol_error or ry::error only if it is still open.
  ry::task<void> execute(ry::request r, caller who, agent_urls urls, call c, binding b) const;
  // The card of the account's default agent, or of `who.agent`.
  ry::task<boost::json::object> card(caller who, agent_urls urls) const;

 private:
  ry::task<void> send(ry::request r, caller who, send_params message, binding b) const;
  ry::task<boost::json::array> wait_for_end(caller who, task_ids ids) const;
  ry::task<void> subscribe(ry::request r, caller who, std::string id, binding b) const;
  ry::task<void> stream(ry::request r, caller who, started_task task, bool task_first, binding b) const;
  ry::task<void> stream_events(ry::sse& out, caller who, started_task task, bool task_first, const binding& b) const;

  const ry::context& ctx_;
  const tasks& tasks_;
  const agents& agents_;
};

}  // namespace a2a
