// Waits for a run on behalf of a request and responds: with server-sent events if the client accepts them, otherwise
// with one JSON object.
#pragma once

#include <ry/ry.hpp>

#include <memory>
#include <string>

#include "call_stream.hpp"
#include "services.hpp"
#include "settings.hpp"

namespace mcp_server {

struct waiting_call {
  ry::request request;
  client who;
  ry::uuid account;
  stream_position position;
  bool streams = false;  // the client accepts server-sent events
  bool stops_run = false;  // the request started the run: cancelling the request stops it
  bool dismissed = false;  // the client has not answered the forms that the request is a repetition for
  ry::cancel_source abort;  // cancelled by the client's notification, a disconnect or a shutdown
};

class run_waiter {
 public:
  run_waiter(const ry::context& ctx, const settings& config, const services& s, const server_info& info)
      : ctx_(ctx), settings_(config), services_(s), info_(info) {}
  // Ends the request.
  ry::task<void> wait(waiting_call c) const;

 private:
  // run_waits: for an approval or for a result of another client, and the time limit was reached.
  enum class ending { run_ended, run_waits, cancelled, disconnected, interrupted };
  ry::task<ending> follow(const waiting_call& c, call_stream* to) const;
  ry::task<ending> follow_until_cancelled(const waiting_call& c, call_stream* to) const;
  ry::task<bool> await_input(const waiting_call& c, call_stream* to, bool of_client) const;
  ry::task<void> end_waiting(const waiting_call& c, call_stream* to) const;
  ry::task<void> respond(const waiting_call& c, call_stream* to, json::object result,
                         std::string_view type = "complete") const;
  ry::task<void> end(const waiting_call& c, call_stream* to, ending how) const;

  const ry::context& ctx_;
  const settings& settings_;
  const services& services_;
  const server_info& info_;
};

// The result of a request that waited for a run: of tools/call, or with the metadata of tasks/result.
json::object waited_result(const waiting_call& c, json::object result);
// The form of the response to a single message.
ry::response json_response(const json::object& message, std::uint32_t status = 200);

}  // namespace mcp_server
