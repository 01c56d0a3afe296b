// One session over Streamable HTTP: a POST per message, whose response is a JSON text or an event stream. Keeps the
// server's session id, resumes broken streams if the message allows it, and sends a DELETE in the background when the
// session ends.
#pragma once

#include <optional>
#include <ry/cpp/sse_parser.hpp>
#include <unordered_map>

#include "endpoint.hpp"

namespace mcp_http {

class session;

// One message in flight. Lives until its last HTTP exchange has ended.
class exchange final : public mcp_transport::http_exchange {
 public:
  exchange(session& owner, ry::mcp::message m);

  void begin();
  // Stops all callbacks for the message. reason 0: the rest of the stream is read for a short time.
  void finish(std::int32_t reason) noexcept;
  void close() noexcept;  // called when the session closes
  void resume_reading() noexcept;
  bool finished() const noexcept { return finished_; }

 private:
  enum class body { none, json, events, error };
  void head(const ry_client_response& r) override;
  ry_status data(std::string_view bytes) override;
  void done(ry_status st, const ry_error_view* err) noexcept override;
  ry_status deliver(std::string_view json);
  bool handle_end(ry_status st, const ry_error_view* err);
  bool resume_stream();
  void complete(const ry::error& e) noexcept;

  session& session_;
  ry::mcp::message message_;
  ry::mcp::outcome outcome_;
  ry::sse_parser events_;
  body body_kind_ = body::none;
  std::string body_, content_type_;
  std::string resumed_after_;  // id of the last event before the stream was resumed
  std::uint64_t streamed_bytes_ = 0;
  std::optional<ry::error> error_;
  ry_op_id retry_timer_ = 0;
  int empty_streams_ = 0;
  bool resuming_ = false;  // an interrupted stream
  bool delivered_ = false;  // the stream delivered a message
  bool finished_ = false, paused_ = false, cancelled_ = false;
};

class session final : public ry::mcp::session {
 public:
  session(const ry::context& ctx, const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink sink);

  ry_status send(ry::mcp::message m) override;
  void finish(std::uint64_t token, std::int32_t reason) noexcept override;
  void resume() noexcept override;
  void close() noexcept override;

 private:
  friend class exchange;
  void exchange_ended(std::uint64_t token) noexcept;
  void send_delete() noexcept;
  ry::client_request request(const char* method, const ry::headers& fields) const;

  const ry::context& ctx_;
  const mcp_transport::endpoint endpoint_;
  ry_exec* const exec_;
  const ry::mcp::sink sink_;
  const std::uint64_t max_message_bytes_;
  std::string pool_key_, session_id_, revision_;
  std::unordered_map<std::uint64_t, exchange*> exchanges_;
  bool has_sent_ = false, closing_ = false;
};

}  // namespace mcp_http
