// One session over HTTP+SSE, the transport of revision 2024-11-05: a GET opens an event stream whose first event names
// the URL for messages. Each message is a POST to this URL; responses arrive on the stream.
#pragma once

#include <deque>
#include <ry/cpp/sse_parser.hpp>
#include <unordered_map>

#include "endpoint.hpp"

namespace mcp_sse {

class session;

// The POST of one message.
class post final : public mcp_transport::http_exchange {
 public:
  post(session& owner, const ry::mcp::message& m)
      : session_(owner), token_(m.token), is_request_(m.kind == RY_MCP_REQUEST) {}
  // Suppresses the completion of the message.
  void detach() noexcept { detached_ = true; }
  void close() noexcept;  // called when the session closes

 private:
  void head(const ry_client_response& r) override;
  ry_status data(std::string_view bytes) override;
  void done(ry_status st, const ry_error_view* err) noexcept override;

  session& session_;
  const std::uint64_t token_;
  const bool is_request_;
  ry::mcp::outcome outcome_;
  bool detached_ = false;
};

class session final : public ry::mcp::session, mcp_transport::http_exchange {
 public:
  session(const ry::context& ctx, const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink sink);

  ry_status send(ry::mcp::message m) override;
  void finish(std::uint64_t token, std::int32_t reason) noexcept override;
  void resume() noexcept override;
  void close() noexcept override;
  ~session() override;

 private:
  friend class post;
  // Callbacks of the event stream.
  void head(const ry_client_response& r) override;
  ry_status data(std::string_view bytes) override;
  void done(ry_status st, const ry_error_view* err) noexcept override;

  struct endpoint_wait;
  void limit_wait_for_endpoint();
  void end_wait_for_endpoint() noexcept;
  void on_endpoint_timeout() noexcept;
  void handle_event(std::string_view name, std::string_view data);
  void deliver(std::string_view message);
  static void on_resumed(void* p) noexcept;
  void report_end() noexcept;
  void start_post(ry::mcp::message m);
  void post_ended(std::uint64_t token) noexcept;
  void end_if_idle() noexcept;
  ry::error end_error(ry_status st, const ry_error_view* err) const;

  const ry::context& ctx_;
  const mcp_transport::endpoint endpoint_;
  ry_exec* const exec_;
  const ry::mcp::sink sink_;
  const std::uint64_t max_message_bytes_;
  const std::string pool_key_;
  ry::sse_parser events_;
  std::string messages_url_, content_type_, base_url_, authenticate_;
  std::deque<ry::mcp::message> unsent_;  // until the server names the URL
  std::unordered_map<std::uint64_t, post*> posts_;
  std::uint32_t status_ = 0;
  ry::error error_{RY_OK};
  std::deque<std::string> held_messages_;  // received while the sink was full
  std::optional<ry::error> end_;  // to be reported once the sink is no longer full
  endpoint_wait* endpoint_wait_ = nullptr;
  bool closing_ = false, stream_ended_ = false, end_reported_ = false, paused_ = false, pause_wanted_ = false,
       resuming_ = false;
};

}  // namespace mcp_sse
