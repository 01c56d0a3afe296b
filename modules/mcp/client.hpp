// A client of one server: negotiates the protocol revision, lists tools and calls them, one operation at a time. Runs
// on one executor; the connection lives as long as the client.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "connection.hpp"
#include "elicitation.hpp"
#include "mcp_metrics.hpp"
#include "protocol_revision.hpp"
#include "resources.hpp"
#include "tool.hpp"

namespace mcp {

// Cache of the detected protocol revision of each server, by key. Any thread. Entries expire, because a server may be
// upgraded.
class revision_cache {
 public:
  protocol_revision look_up(const std::string& key, std::int64_t now_us) const;
  void record(const std::string& key, protocol_revision revision, std::int64_t now_us);
  void forget(const std::string& key);

 private:
  struct entry {
    protocol_revision revision;
    std::int64_t until_us;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry> entries_;
};

// Cache, by key, of whether a server keeps state between requests of a connection: servers behind a transport with a
// single channel do, and HTTP servers that issue a session id. Holds the last observation. Any thread.
class session_state_cache {
 public:
  std::optional<bool> look_up(const std::string& key) const;
  void record(const std::string& key, bool keeps_state);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, bool> entries_;
};

using progress_fn = std::function<void(const json::object& params)>;

// State that all clients share; must outlive them.
struct client_context {
  const ry::context& ctx;
  ry::drivers<ry_mcp_transport_v1> transports;
  revision_cache revisions;
  session_state_cache session_states;
  std::uint64_t probe_ms = 3000;  // how long to wait for the response to server/discover
  std::size_t max_message_bytes = 16u << 20;
  tool_limits limits;
  std::function<void(const server&)> tools_changed;  // the server sent notifications/tools/list_changed
  const mcp_metrics metrics{ctx};
};

// Options and callbacks of a tool call; must outlive the call.
struct call_options {
  std::vector<mirrored_argument> mirrored;
  progress_fn on_progress;  // as in request_options
  task_support as_task = task_support::forbidden;
  std::int64_t requested_task_ttl_ms = 0;
  std::function<ry::task<void>(const remote_task&)> on_task;  // a task was created; the call continues with it
  std::function<void(const remote_task&)> on_status;  // the server reported the status of an unfinished task
  json::object continued;  // params of a call that continues with the person's answers
  // Requests of the server for input, if its `elicitation` is set. on_suspended: the call has returned with questions, and its result
  // is null. on_input: requests of agent.tools/1 during the call; answer_input() follows.
  std::function<void(suspended_call)> on_suspended;
  std::function<void(json::array)> on_input;
  std::function<void()> on_url_completed;  // the server reports that the person has completed what on_input requested
};

class client {
 public:
  client(client_context& context, server_ptr target, ry_exec* exec);
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  // Errors: ry::error with mcp.connect_failed, mcp.protocol_error, mcp.timeout, mcp.refused (an address or a command),
  // mcp.unauthorized, mcp.revision_changed (retry once with a new client), mcp.rpc (the server's own error; detail_json
  // contains it), RY_CANCELLED.
  ry::task<tool_list> list_tools();
  // Returns the result as the server sent it, even if the server turned the call into a task.
  ry::task<json::value> call_tool(std::string name, json::object arguments, const call_options& options);
  // Waits for a task that an earlier call created, and returns its result. Further errors: mcp.task_lost (the server no
  // longer knows the task), mcp.task_cancelled.
  ry::task<json::value> await_task(std::string name, std::string task_id, const call_options& options);
  // The answers to an on_input of the current call.
  void answer_input(const json::array& answers);
  // Requests the cancellation of a task.
  ry::task<void> cancel_task(std::string task_id);

  // Both return the result in the form of a tool call result.
  ry::task<json::value> list_resources(resource_query query);
  ry::task<json::value> read_resource(std::string uri);

  protocol_revision revision() const noexcept { return revision_kind_; }
  const server& target() const noexcept { return *target_; }
  ry_exec* executor() const noexcept { return exec_; }
  std::int64_t created_us() const noexcept { return created_us_; }
  // Whether the client is connected and can be reused, after a result or an error from the server.
  bool usable() const;
  // Switches to the credentials of `s`, which is the same server, without ending the session.
  void use_credentials_of(const server& s);
  // Sets a callback for when a new session replaces one that the server no longer knows.
  void on_session_replaced(std::function<void()> f) { on_session_replaced_ = std::move(f); }
  // Whether the server keeps state for this connection.
  bool keeps_state() const noexcept { return keeps_state_; }
  // Whether its last request failed before any byte of it was sent.
  bool unsent() const noexcept { return unsent_; }
  // After mcp.revision_changed: the error of the last response, to be reported if the revision turns out unchanged.
  const ry::error& last_error() const noexcept { return last_error_; }
  // For the client that retries after mcp.revision_changed. If the server turns out to be modern after all, it has
  // processed the first attempt: the call is not repeated and fails with `e`.
  void set_fallback_error(ry::error e) { fallback_error_ = std::move(e); }

 private:
  ry::task<void> connect();
  ry::task<void> probe_revision();
  ry::task<void> initialize();
  ry::task<reply> send_initialize();
  std::string_view offered_legacy_revision() const;
  bool pinned() const noexcept { return !target_->revision.empty() && target_->revision != automatic_revision; }
  void store_server_info(const json::object& result);
  ry::task<reply> request(std::string method, json::object params, std::string name, ry::headers fields,
                          std::uint32_t flags);
  ry::task<reply> request_once(std::string method, json::object params, std::string name, ry::headers fields,
                               std::uint32_t flags);
  ry::task<void> collect_resources(resource_collector& collector, resource_collector::list which);
  ry::task<json::value> wait_for_task_result(std::string operation, remote_task t, const call_options& options);
  ry::task<void> cancel_input_requests(const remote_task& t, std::unordered_set<std::string>& answered);
  ry::task<reply> task_request(std::string method, std::string task_id, int& failures);
  // Makes the options those of the current call while it exists.
  struct current_call {
    current_call(client& c, const call_options& options) : c_(c) { c_.call_ = &options; }
    current_call(const current_call&) = delete;
    ~current_call() {
      c_.call_ = nullptr;
      c_.open_questions_.clear();
    }
    client& c_;
  };
  std::optional<suspended_call> suspended_by(const reply& r, const call_options& options) const;
  bool handle_request(const json::value& id, const std::string& method, const json::value& params);
  void handle_notification(const std::string& method, const json::value& params);
  void record_session_state(bool has_session_id);
  void open(const std::string& driver);
  void record_revision(protocol_revision kind);
  ry::task<reply> send_with_retry(std::string method, json::object params, request_options options);
  // `operation`: for the message. for_model: the error is the result of a tool call, so the model reads the server's
  // text; otherwise the text goes to the log only.
  [[noreturn]] void fail(const reply& r, std::string_view operation, bool for_model = false) const;
  json::value result_of(reply r, std::string_view operation, bool for_model = false) const;

  client_context& context_;
  const server_ptr target_;
  ry_exec* const exec_;
  std::optional<connection> connection_;
  ry::metric sessions_;  // gauge of its transport, while connection_ is open
  protocol_revision revision_kind_ = protocol_revision::unknown;
  bool ready_ = false;  // the handshake of its revision is complete
  bool revision_from_cache_ = false;  // revision_kind_ comes from the cache and may be out of date
  bool unsent_ = false;
  bool keeps_state_ = false;
  progress_fn on_progress_;  // of the current call
  const call_options* call_ = nullptr;  // the current call
  struct open_question {
    json::value id;  // of the server's request
    std::string elicitation;  // elicitationId, if it has one
  };
  std::unordered_map<std::string, open_question> open_questions_;  // by key
  std::uint64_t next_question_ = 1;
  std::function<void()> on_session_replaced_;
  ry::headers credentials_;  // renewed credentials
  ry::error last_error_{RY_OK};
  std::optional<ry::error> fallback_error_;
  const std::int64_t created_us_;
  std::string negotiated_revision_;  // legacy only
  json::object server_capabilities_;
  std::string server_name_, instructions_;
  bool has_server_info_ = false;  // the server has sent its name, instructions and capabilities
};

}  // namespace mcp
