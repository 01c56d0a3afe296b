// The stream of server-sent events of one request that waits for a run or for a tool: progress notifications, then one
// response. Only a stream of a run can be resumed.
//
// Thread: the request's executor.
#pragma once

#include <ry/ry.hpp>

#include <memory>
#include <ry/cpp/runs.hpp>
#include <string>

#include "progress.hpp"
#include "revision.hpp"

namespace mcp_server {

class call_stream : public std::enable_shared_from_this<call_stream> {
 public:
  // Ends the request by opening its stream.
  static std::shared_ptr<call_stream> open(const ry::context& ctx, const ry::request& r, const client& c,
                                           stream_position position);
  call_stream(const ry::context& ctx, ry::sse out, const client& c, stream_position position);

  // Sends the progress notifications of a batch of events.
  ry::task<void> add(const ry::runs::batch& events);
  // Sends a progress notification that belongs to no event of a run. After one was sent, others are omitted for 100 ms.
  void report(std::string text);
  // Sends a request to the client.
  void ask(const json::object& request);
  // Sends the response and closes the stream.
  ry::task<void> finish(json::object message);
  // Closes the stream so that the client resumes it. False: the client has received no event id and cannot resume.
  bool suspend();
  // Closes the stream without a response.
  void close();

 private:
  // Repeats the last progress notification, because clients time out without progress.
  static ry::task<void> repeat_progress(std::shared_ptr<call_stream> self);
  void send_progress(std::uint64_t value, const std::string& text);

  const ry::context& ctx_;
  ry::sse out_;
  const bool resumable_;
  stream_position position_;
  progress_counter counter_;
  std::string state_;
  std::int64_t last_sent_us_;
  bool reported_ = false;
  bool has_id_ = false;
  bool closed_ = false;
  ry::cancel_source done_;
};

}  // namespace mcp_server
