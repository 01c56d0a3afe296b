// JSON-RPC over one session of a transport. Matches responses to requests and responds to the server's requests. When
// the session ends, all pending requests fail immediately.
//
// Created, used and destroyed on one executor. The destructor closes the session; the driver finishes its cleanup with
// the server in the background.
#pragma once

#include <ry/ext/mcp_transport.h>

#include <functional>
#include <memory>
#include <ry/ry.hpp>
#include <unordered_map>
#include <vector>

#include "rpc.hpp"

namespace mcp {

using transport = ry::drivers<ry_mcp_transport_v1>::entry;

// The server to connect to. Immutable once shared.
struct server {
  std::string name;  // from the configuration, for messages
  std::string type;  // as configured; "prebuilt" and "composio" are synonyms
  std::string driver;  // name of the transport
  std::string config_json;  // secrets in plain text
  std::string account_id;
  std::uint32_t flags = 0;  // RY_MCP_OPERATOR, RY_MCP_UNSANDBOXED
  bool reuse = false;  // connections may be reused for later calls
  std::string revision;  // protocol revision, as configured; empty: detected
  // Scope of a session, as configured. automatic: `run` if the server keeps state between calls, else `call`.
  enum class session_scope { automatic, call, run, thread } scope = session_scope::automatic;
  std::string session;  // id of the run or thread whose calls share a session; empty: one session per call
  bool resumed = false;  // another worker of the run may have opened the session
  bool tasks = true;  // calls may become tasks
  bool elicitation = false;  // the server may request input from the person during a call
  std::uint64_t call_ms = 0;  // configured limit of a call; 0: the default of the module
  std::string key;  // cache key: hash over the members above, without credentials that are renewed
  std::string identity;  // connection key: hash over the members above

  // Only if a driver resolved another configuration, such as a profile, to this server:
  std::shared_ptr<const server> original;  // that configuration
  std::string resolved_json;  // the configuration that the driver returned
  bool expired = false;  // its credentials are known to have expired

  // The caller, for the log: caller_kind is "request_id" or "run_id", caller_id its value. Not part of the hashes.
  std::string caller_kind, caller_id;

  // Masks the server's credentials in the log while the server is in use.
  std::shared_ptr<const std::vector<ry::masked_text>> masked;
};
using server_ptr = std::shared_ptr<const server>;

// Pool key of a connection. Renewed credentials do not end a session; two servers with the same configuration get
// separate sessions.
inline std::string pool_key(const server& s) {
  // Capabilities are declared once per connection.
  const std::string prefix = s.elicitation ? "elicitation " : "";
  return prefix + (s.session.empty() ? s.identity : "session " + s.session + " " + s.key + " " + s.name);
}

// "mcp.unauthorized": the server rejected the credentials; `authenticate` is its WWW-Authenticate header.
ry::error unauthorized_by(const server& s, std::uint32_t http_status, std::string_view authenticate);

// An error whose message names the server.
ry::error server_error(const server& s, ry_status st, std::string_view reason, std::string_view message);

// The cause of an error, for the log only: text of the server, the program or the network; empty if unknown.
ry::error with_cause(ry::error e, std::string_view cause);
std::string cause_of(const ry::error& e);

// Logs an error and its cause with the id of the request or run. Does nothing if the error has no cause.
void log_cause(const ry::context& ctx, const server& s, const ry::error& failure);

// The outcome of a request. Exactly one of: answered; error; an HTTP status other than 2xx.
struct reply {
  bool answered = false;  // by a JSON-RPC result, or by an error if `failed`
  bool failed = false;
  bool unsent = false;  // the error occurred before any byte was sent
  json::value body;  // result or error object
  std::uint32_t http_status = 0, outcome_flags = 0;
  std::uint32_t retry_after_s = 0;
  std::string http_body, authenticate;
  ry::error error{RY_OK};
};

struct request_options {
  ry::headers fields;
  std::uint32_t flags = 0;  // RY_MCP_RESUMABLE, RY_MCP_LAST
  enum class on_cancel { silent, notify } cancel = on_cancel::silent;
  // Called on the connection's executor for each progress notification; if set, the request carries a progress token.
  std::function<void(const json::object& params)> on_progress;
};

class connection {
 public:
  // Throws ry::error if the driver refuses to open the session.
  connection(const ry::context& ctx, transport driver, server_ptr target, ry_exec* exec, std::size_t max_message_bytes);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  // Throws ry::error RY_CANCELLED if the coroutine chain is cancelled; every other outcome is a reply.
  ry::task<reply> request(std::string method, json::object params, request_options options);
  // Waits until the message is sent; failures surface in the next request. Returns flags such as RY_MCP_IN_SESSION.
  ry::task<std::uint32_t> notify(std::string method, json::object params, ry::headers fields);
  // Sends without waiting, on transports that deliver messages in order.
  void send_notification(std::string_view method, json::object params, const ry::headers& fields);

  std::uint32_t capabilities() const noexcept { return driver_->table->capabilities; }
  bool closed() const noexcept { return closed_; }
  const transport& driver() const noexcept { return driver_; }
  // Sets a callback that runs when the server sends notifications/tools/list_changed.
  void on_tools_changed(std::function<void()> f) { on_tools_changed_ = std::move(f); }
  // Sets a callback for requests of the server other than `ping`. It returns false if it does not support the request; otherwise
  // respond() or refuse() follows.
  using request_fn = std::function<bool(const json::value& id, const std::string& method, const json::value& params)>;
  void on_request(request_fn f) { on_request_ = std::move(f); }
  void respond(const json::value& id, json::object result);
  void refuse(const json::value& id, int code, std::string_view message);
  // Sets a callback for other notifications of the server than those about tools and progress.
  void on_notification(std::function<void(const std::string& method, const json::value& params)> f) {
    on_notification_ = std::move(f);
  }
  // Replaces the headers that are added to all further messages.
  void set_common_headers(ry::headers fields) { common_fields_ = std::move(fields); }
  // Sets the headers of responses to the server's requests.
  void set_response_headers(ry::headers fields) { response_fields_ = std::move(fields); }

 private:
  struct pending_message {
    ry::signal done;
    bool is_request = true, completed = false;
    const std::function<void(const json::object&)>* on_progress = nullptr;
    reply result;
  };
  static ry_status on_message(void* self, std::uint64_t token, ry_str text) noexcept;
  static void on_sent(void* self, std::uint64_t token, ry_status st, const ry_mcp_outcome* outcome,
                      const ry_error_view* err) noexcept;
  static void on_closed(void* self, ry_status st, const ry_error_view* err) noexcept;

  void handle_text(std::uint64_t token, std::string_view text);
  void handle_message(std::uint64_t token, incoming m);
  void handle_progress(const json::value& params);
  void handle_sent(std::uint64_t token, ry_status st, const ry_mcp_outcome& o, const ry_error_view* err);
  pending_message* find(std::uint64_t token);
  static void complete(pending_message& m);
  ry_status send(std::uint32_t kind, std::uint64_t token, const std::string& text, const ry::headers& fields);
  ry::error error_of(ry_status st, const ry_error_view* err) const;

  const ry::context& ctx_;
  const transport driver_;
  const server_ptr target_;
  void* session_ = nullptr;
  std::uint64_t next_token_ = 1;
  std::unordered_map<std::uint64_t, pending_message*> pending_;  // by token
  ry::headers response_fields_, common_fields_;
  std::function<void()> on_tools_changed_;
  request_fn on_request_;
  std::function<void(const std::string& method, const json::value& params)> on_notification_;
  bool closed_ = false;
  ry::error close_error_{RY_OK};
};

}  // namespace mcp
