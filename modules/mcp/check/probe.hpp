// A session of the transport under test, as the module `mcp` uses it. Records every callback and detects
// violations of the rules of mcp.transport/1. Runs on one executor.
#pragma once

#include <ry/ext/mcp_transport.h>

#include <cstdint>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mcp_check {

// The transport under test.
struct subject {
  const ry::context& ctx;
  const ry_mcp_transport_v1* table;
  void* self;
  std::string config_json;  // of a working server
  bool has_exchanges() const noexcept { return (table->capabilities & RY_MCP_EXCHANGES) != 0; }
};

// Fails the test case. The message states what the author of the transport must fix.
[[noreturn]] void fail(std::string message);

ry_mcp_target target_of(const subject& s, std::string_view config_json);

struct callback {
  enum class kind { message, sent, closed } type;
  std::uint64_t token = 0;  // of message and sent
  ry_status status = RY_OK;
  std::string text;  // of a message or an error
};

class probe {
 public:
  // Opens a session; calls fail() if the driver rejects it. max_message_bytes 0: 16 MiB.
  probe(const subject& s, ry_exec* exec, std::uint64_t max_message_bytes = 0);
  ~probe();  // closes the session
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;

  // Sends a request with this id, or a notification. The id is also its token.
  ry_status request(std::uint64_t id, std::string_view method);
  ry_status notify(std::uint64_t token, std::string_view method);
  void finish(std::uint64_t token, std::int32_t reason);
  void resume();
  void close();

  // Waits until condition(*this) is true, at most `ms`. Returns false after a timeout.
  template <class F>
  ry::task<bool> wait_until(F condition, std::uint64_t ms);
  // Performs the `initialize` handshake.
  ry::task<void> initialize();

  std::size_t message_count() const noexcept { return count(callback::kind::message); }
  std::size_t count(callback::kind type) const noexcept;
  const callback* find(callback::kind type, std::uint64_t token) const noexcept;
  bool answered(std::uint64_t id) const;
  // The first rule violation that was detected in a callback; empty: none.
  const std::string& violation() const noexcept { return violation_; }

  ry_status on_message_result = RY_OK;  // the return value of the sink's on_message()
  std::vector<callback> log;

 private:
  static ry_status on_message(void* p, std::uint64_t token, ry_str json) noexcept;
  static void on_sent(void* p, std::uint64_t token, ry_status st, const ry_mcp_outcome* o,
                      const ry_error_view* err) noexcept;
  static void on_closed(void* p, ry_status st, const ry_error_view* err) noexcept;
  void record(callback c);
  ry_status send(std::uint32_t kind, std::uint64_t token, const std::string& json);

  // The sink's context outlives a closed session, to detect late callbacks.
  struct sink_state {
    probe* owner;
    const ry::context* ctx;
    ry_exec* exec;
    bool in_driver = false;  // a call of the driver is running
    bool ended = false;  // close() has returned, or on_closed was called
    std::string violation;
  };
  struct driver_call {
    explicit driver_call(sink_state& s) : state(s) { state.in_driver = true; }
    ~driver_call() { state.in_driver = false; }
    sink_state& state;
  };

  const subject& subject_;
  sink_state* sink_;  // never freed, because a late callback must find it
  void* session_ = nullptr;
  std::vector<std::uint64_t> finished_;
  std::string violation_;
};

template <class F>
ry::task<bool> probe::wait_until(F condition, std::uint64_t ms) {
  constexpr std::uint64_t step = 5;
  for (std::uint64_t waited = 0; !condition(*this); waited += step) {
    if (!violation_.empty()) fail(violation_);
    if (waited >= ms) co_return false;
    ry::result<void> slept = co_await subject_.ctx.sleep(step);
    slept.value();
  }
  if (!violation_.empty()) fail(violation_);
  co_return true;
}

struct test_case {
  std::string_view name;
  ry::task<void> (*run)(const subject& s, ry_exec* exec);
};
const std::vector<test_case>& cases();

}  // namespace mcp_check
