// A client of one server: finds out which revision it speaks, lists its tools, calls one; one piece of
// work at a time. On one executor; the connection lives as long as the client.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "connection.hpp"
#include "era.hpp"
#include "figures.hpp"
#include "resources.hpp"
#include "tool.hpp"

namespace mcp {

// What is known of the revisions of servers, by key. Any thread. Verdicts are dated: a server may be
// replaced by one that speaks more.
class era_book {
 public:
  era look_up(const std::string& key, std::int64_t now_us) const;
  void note(const std::string& key, era e, std::int64_t now_us);
  void forget(const std::string& key);

 private:
  struct entry {
    era e;
    std::int64_t until_us;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry> entries_;
};

// Whether servers keep something between the requests of a connection: those of one channel do, and those over HTTP that name
// a session. By key, as it was seen last. Any thread.
class session_book {
 public:
  std::optional<bool> look_up(const std::string& key) const;
  void note(const std::string& key, bool keeps);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, bool> entries_;
};

using progress_fn = std::function<void(const json::object& params)>;

// What all clients share; outlives them.
struct client_parts {
  const ry::context& ctx;
  ry::drivers<ry_mcp_transport_v1> transports;
  era_book eras;
  session_book sessions;
  std::uint64_t probe_ms = 3000;  // how long a server may be silent on server/discover
  std::size_t max_message_bytes = 16u << 20;
  tool_limits limits;
  std::function<void(const server&)> tools_changed;  // a server said so
  const figures count{ctx};
};

// A call of a tool, and who hears of it; lives as long as the call.
struct call_options {
  std::vector<mirrored_argument> mirrored;
  progress_fn on_progress;  // as in request_options
  task_support as_task = task_support::forbidden;
  std::int64_t task_life_ms = 0;  // how long the server is asked to keep a task
  std::function<ry::task<void>(const remote_task&)> on_task;  // one was made; the call goes on with it from here
  std::function<void(const remote_task&)> on_status;          // the server answered that it goes on
};

class client {
 public:
  client(client_parts& parts, server_ptr to, ry_exec* exec);
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  // Errors: ry::error with mcp.connect_failed, mcp.protocol_error, mcp.timeout, mcp.refused (an address
  // or a command), mcp.unauthorized, mcp.era_changed (worth one more try with a new client), mcp.rpc
  // (the server's own error; detail_json holds it), RY_CANCELLED.
  ry::task<tool_list> list_tools();
  // The result as the server sent it, also of a task that the call became.
  ry::task<json::value> call_tool(std::string name, json::object arguments, const call_options& options);
  // The result of a task that an earlier call became. Further errors: mcp.task_lost (the server does not know it any more),
  // mcp.task_cancelled.
  ry::task<json::value> follow_task(std::string name, std::string task_id, const call_options& options);
  // Asks the server to end a task.
  ry::task<void> cancel_task(std::string task_id);

  // Both as the result of a call of a tool.
  ry::task<json::value> list_resources(resource_query query);
  ry::task<json::value> read_resource(std::string uri);

  era revision() const noexcept { return era_; }
  const server& to() const noexcept { return *to_; }
  ry_exec* executor() const noexcept { return exec_; }
  std::int64_t born_us() const noexcept { return born_us_; }
  // Whether it is connected, and may be given more work: after a result or an error of the server.
  bool usable() const;
  // The credentials of s, the same server, are used from now on, in the session that there is.
  void use_credentials_of(const server& s);
  // Calls f() when a new session replaces one that the server no longer knows.
  void when_begun_anew(std::function<void()> f) { begun_anew_ = std::move(f); }
  // Whether the server keeps something for this connection.
  bool keeps_state() const noexcept { return keeps_state_; }
  // Whether its last request failed before a byte of it left.
  bool unsent() const noexcept { return unsent_; }
  // After mcp.era_changed: what the answer was an error of, if the revision has not changed after all.
  const ry::error& said() const noexcept { return said_; }
  // For the client that asks again: a call is not made of a server that turns out to speak the modern revision, since
  // then it has been made, and `said` is its outcome.
  void doubt(ry::error said) { doubted_ = std::move(said); }

 private:
  ry::task<void> connect();
  ry::task<void> probe_revision();
  ry::task<void> initialize();
  ry::task<reply> first_initialize();
  std::string_view wanted_legacy() const;
  bool pinned() const noexcept { return !to_->revision.empty() && to_->revision != automatic_revision; }
  void introduce(const json::object& result);
  ry::task<reply> ask(std::string method, json::object params, std::string name,
                      ry::headers fields, std::uint32_t bits);
  ry::task<reply> exchange(std::string method, json::object params, std::string name,
                           ry::headers fields, std::uint32_t bits);
  ry::task<void> collect_resources(resource_collector& to, resource_collector::list what);
  ry::task<json::value> result_of_task(std::string shown, remote_task t, const call_options& options);
  ry::task<void> answer_task(const remote_task& t, std::unordered_set<std::string>& answered);
  ry::task<reply> ask_of_task(std::string method, std::string task_id, int& failures);
  void note_session(bool named);
  void open(const std::string& driver);
  void note(era e);
  ry::task<reply> send(std::string method, json::object params, request_options options);
  // for_model: the error is the result of a tool call, so the model reads the server's text. Otherwise the text goes to the log only.
  [[noreturn]] void fail(const reply& r, std::string_view doing, bool for_model = false) const;
  json::value result_of(reply r, std::string_view doing, bool for_model = false) const;

  client_parts& parts_;
  const server_ptr to_;
  ry_exec* const exec_;
  std::optional<connection> link_;
  ry::metric sessions_;  // of its transport, while link_ is there
  era era_ = era::unknown;
  bool ready_ = false;  // it was greeted as its revision wants it
  bool from_book_ = false;  // the era: an old verdict, which may be wrong by now
  bool unsent_ = false;
  bool keeps_state_ = false;
  progress_fn on_progress_;  // of the call under way
  std::function<void()> begun_anew_;
  ry::headers credentials_;  // renewed ones
  ry::error said_{RY_OK};
  std::optional<ry::error> doubted_;
  const std::int64_t born_us_;
  std::string revision_;  // negotiated, legacy only
  json::object server_capabilities_;
  std::string server_name_, instructions_;
  bool introduced_ = false;  // the server said both, and its capabilities
};

}  // namespace mcp
