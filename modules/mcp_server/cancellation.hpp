// Cancellation of requests by notifications/cancelled, on any node.
//
// Each waiting request of a client with a session subscribes to a live topic that contains account, session and request
// id; the notification publishes to it. Request ids are only unique within a session, so clients without one cannot
// cancel with a notification.
#pragma once

#include <ry/ry.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "json_rpc.hpp"

namespace mcp_server {

// Pure. The topic of a request; empty: the client has no session.
std::string cancel_topic(const ry::uuid& account, std::string_view session, const json::value& request_id);
// Pure. The topic of a run whose client has dismissed the form that asks for an approval.
std::string dismissal_topic(const ry::uuid& account, std::string_view run_id);
// Pure. The idempotency key of a start by this request; empty: none.
std::string start_key(std::string_view session, const json::value& request_id);

// Cancels `abort` with RY_REASON_USER when the topic is published. Empty for an empty topic.
ry::subscription subscribe_cancel(const ry::context& ctx, const std::string& topic, ry_exec* exec,
                                  const ry::cancel_source& abort);
void publish_cancel(const ry::context& ctx, const std::string& topic);

// The answer to a form about a call outside of runs: a decision as in decision_of(); nullopt: the user has not decided.
// Each call that shows a form subscribes to its own topic, which contains the account and the random id of the call.
void publish_answer(const ry::context& ctx, const ry::uuid& account, const ry::uuid& call,
                    const std::optional<std::string>& decision);
ry::subscription subscribe_answer(const ry::context& ctx, const ry::uuid& account, const ry::uuid& call, ry_exec* exec,
                                  std::function<void(std::optional<std::string>)> on_answer);

}  // namespace mcp_server
