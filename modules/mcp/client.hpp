// A client of one server: finds out which revision it speaks, lists its tools, calls one; one piece of
// work at a time. On one executor; the connection lives as long as the client.
#pragma once

#include <mutex>
#include <optional>

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

using progress_fn = std::function<void(const json::object& params)>;

// What all clients share; outlives them.
struct client_parts {
  const ry::context& ctx;
  ry::drivers<ry_mcp_transport_v1> transports;
  era_book eras;
  std::uint64_t probe_ms = 3000;  // how long a server may be silent on server/discover
  std::size_t max_message_bytes = 16u << 20;
  tool_limits limits;
  std::function<void(const server&)> tools_changed;  // a server said so
  const figures count{ctx};
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
  // The result as the server sent it.
  // on_progress: as in request_options; lives as long as the call.
  ry::task<json::value> call_tool(std::string name, json::object arguments, std::vector<mirrored_argument> mirrored,
                                  progress_fn on_progress = {});

  // Both as the result of a call of a tool.
  ry::task<json::value> list_resources(resource_query query);
  ry::task<json::value> read_resource(std::string uri);

  era revision() const noexcept { return era_; }
  const server& to() const noexcept { return *to_; }
  ry_exec* executor() const noexcept { return exec_; }
  std::int64_t born_us() const noexcept { return born_us_; }
  // Whether it is connected, and may be given more work: after a result or an error of the server.
  bool usable() const;
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
  void open(const std::string& driver);
  void note(era e);
  ry::task<reply> send(std::string method, json::object params, request_options options);
  [[noreturn]] void fail(const reply& r, std::string_view doing) const;
  json::value result_of(reply r, std::string_view doing) const;

  client_parts& parts_;
  const server_ptr to_;
  ry_exec* const exec_;
  std::optional<connection> link_;
  ry::metric sessions_;  // of its transport, while link_ is there
  era era_ = era::unknown;
  bool ready_ = false;  // it was greeted as its revision wants it
  bool from_book_ = false;  // the era: an old verdict, which may be wrong by now
  bool unsent_ = false;
  progress_fn on_progress_;  // of the call under way
  ry::error said_{RY_OK};
  std::optional<ry::error> doubted_;
  const std::int64_t born_us_;
  std::string revision_;  // negotiated, legacy only
  json::object server_capabilities_;
  std::string server_name_, instructions_;
  bool introduced_ = false;  // the server said both, and its capabilities
};

}  // namespace mcp
