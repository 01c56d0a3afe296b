// JSON-RPC over one session of a transport: requests find their answers, requests of the server are
// answered, and whatever ends the session ends all that waits, at once.
//
// Made, used and destroyed on one executor. Destroying it closes the session; what the driver owes the
// server is done behind it.
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

// Whom to reach. Immutable once shared.
struct server {
  std::string name;    // of the configuration, for messages
  std::string type;    // as configured; "prebuilt" and "composio" are one
  std::string driver;  // name of the transport
  std::string config_json;  // secrets in the clear
  std::string account_id;
  std::uint32_t flags = 0;  // RY_MCP_OPERATOR
  bool reuse = false;       // its connections may be used again
  std::string revision;     // of the protocol, as configured; empty: found out
  // Of a session, as configured. automatic: of a run, where the server keeps something between calls.
  enum class session_scope { automatic, call, run, thread } scope = session_scope::automatic;
  std::string session;      // id of the run or thread whose calls share a session; empty: each call has its own
  bool taken_over = false;  // the session may have been begun by another worker of the run
  bool tasks = true;        // calls may be made as tasks
  std::uint64_t call_ms = 0;  // longest call, as configured; 0: as for all servers
  std::string key;     // of caches: hash over all of the above, without credentials that change
  std::string identity;  // of connections: hash over all of the above

  // Of a server that another configuration stood for:
  std::shared_ptr<const server> asked;  // that configuration
  std::string named_json;               // as its driver named it
  bool expired = false;                 // its credentials are known to be old

  // The caller, for the log: "request_id" or "run_id" and its value. Not part of the hashes.
  std::string asker_kind, asker;

  // Its credentials, masked in the log as long as somebody works with it.
  std::shared_ptr<const std::vector<ry::masked_text>> masked;
};
using server_ptr = std::shared_ptr<const server>;

// Connections that wait for their next use are taken by those of one key. Credentials that change do not end a session; two servers
// of one configuration have a session each.
inline std::string waiting_key(const server& s) {
  return s.session.empty() ? s.identity : "session " + s.session + " " + s.key + " " + s.name;
}

// "mcp.unauthorized": the server refused the credentials, and how.
ry::error unauthorized_by(const server& s, std::uint32_t http_status, std::string_view authenticate);

// An error that names the server.
ry::error trouble_with(const server& s, ry_status st, std::string_view reason, std::string_view what);

// The cause of an error, for the log only: text of the server, its program or the network; empty: unknown.
ry::error with_cause(ry::error e, std::string_view cause);
std::string cause_of(const ry::error& e);

// Writes an error and its cause to the log, under the id of the request or run that asked; without a cause nothing.
void log_cause(const ry::context& ctx, const server& s, const ry::error& why);

// How a request ended. One of: answered; trouble; an HTTP status that is no success.
struct reply {
  bool answered = false;  // by a result, or by an error:
  bool failed = false;
  bool unsent = false;    // trouble before a byte of it left
  json::value body;  // result or error object
  std::uint32_t http_status = 0, outcome_flags = 0;
  std::uint32_t retry_after_s = 0;
  std::string http_body, authenticate;
  ry::error trouble{RY_OK};
};

struct request_options {
  ry::headers fields;
  std::uint32_t bits = 0;            // RY_MCP_RESUMABLE, RY_MCP_LAST
  enum class on_cancel { silent, notify } cancel = on_cancel::silent;
  // Called for each notification of progress, which the server is then asked for. On the connection's executor.
  std::function<void(const json::object& params)> on_progress;
};

class connection {
 public:
  // Throws ry::error when the driver refuses.
  connection(const ry::context& ctx, transport driver, server_ptr to, ry_exec* exec,
             std::size_t max_message_bytes);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  // Throws ry::error RY_CANCELLED when the chain is called off; everything else is a reply.
  ry::task<reply> request(std::string method, json::object params, request_options options);
  // Waits until it is on its way; failures show with the next request. RY_MCP_IN_SESSION and the like.
  ry::task<std::uint32_t> notify(std::string method, json::object params, ry::headers fields);
  // The same without waiting, where what is sent after it also arrives after it.
  void tell(std::string_view method, json::object params, const ry::headers& fields);

  std::uint32_t capabilities() const noexcept { return driver_->table->capabilities; }
  bool closed() const noexcept { return closed_; }
  const transport& driver() const noexcept { return driver_; }
  // f() runs when the server says that its tools have changed.
  void when_tools_change(std::function<void()> f) { tools_changed_ = std::move(f); }
  // Replaces the configured headers for all further messages.
  void always_headers(ry::headers fields) { always_ = std::move(fields); }
  // Of answers to requests of the server.
  void answer_headers(ry::headers fields) { answer_fields_ = std::move(fields); }

 private:
  struct waiting {
    ry::signal done;
    bool is_request = true, over = false;
    const std::function<void(const json::object&)>* on_progress = nullptr;
    reply out;
  };
  static ry_status on_message(void* self, std::uint64_t token, ry_str text) noexcept;
  static void on_sent(void* self, std::uint64_t token, ry_status st, const ry_mcp_outcome* outcome,
                      const ry_error_view* err) noexcept;
  static void on_closed(void* self, ry_status st, const ry_error_view* err) noexcept;

  void take(std::uint64_t token, std::string_view text);
  void take(std::uint64_t token, incoming m);
  void take_progress(const json::value& params);
  void sent(std::uint64_t token, ry_status st, const ry_mcp_outcome& o, const ry_error_view* err);
  waiting* find(std::uint64_t token);
  static void end(waiting& w);
  ry_status send(std::uint32_t kind, std::uint64_t token, const std::string& text,
                 const ry::headers& fields);
  ry::error trouble(ry_status st, const ry_error_view* err) const;

  const ry::context& ctx_;
  const transport driver_;
  const server_ptr to_;
  void* session_ = nullptr;
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, waiting*> waiting_;
  ry::headers answer_fields_, always_;
  std::function<void()> tools_changed_;
  bool closed_ = false;
  ry::error end_{RY_OK};
};

}  // namespace mcp
