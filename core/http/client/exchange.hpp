// One outgoing request from its start to on_done, including redirects and the retry after a stale connection. Lives on
// one loop; call all functions on that loop.
#pragma once

#include <ry/if/http_client.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/exec/error.hpp"
#include "core/http/client/client_settings.hpp"
#include "core/http/client/connector.hpp"
#include "core/http/client/guard.hpp"
#include "core/http/client/local_addresses.hpp"
#include "core/http/client/pool.hpp"
#include "core/http/client/proxy.hpp"
#include "core/http/client/resolver.hpp"
#include "core/http/client/response_reader.hpp"
#include "core/http/client/target.hpp"
#include "core/module/host.hpp"
#include "core/observe/open_span.hpp"

namespace ry::http {

class exchange;

// State shared by the exchanges of one loop. Created and used on that loop.
struct loop_state {
  loop_state(ry_exec& loop, pool::limits limits) : loop(loop), idle(limits) {}

  // Puts a connection into the pool and schedules the sweep that closes it after the idle timeout.
  void keep(const std::string& name, std::unique_ptr<connection> c);

  ry_exec& loop;
  pool idle;
  std::list<std::shared_ptr<exchange>> running;
  std::vector<char> buffer;  // read buffer shared by all connections of the loop; waiting connections need none
  std::optional<loop_timer> sweeper;

 private:
  void sweep_later();
  bool sweeping_ = false;
};

// Dependencies shared by all exchanges.
struct exchange_context {
  client_settings settings;
  std::shared_ptr<const tls_context> tls;
  resolver& names;
  const local_addresses& interfaces;
  client_stats& stats;

  // True if the guard refuses the address for requests made on behalf of users.
  bool refuses(const boost::asio::ip::address& a) const {
    return guard::refused_address(a).has_value() || interfaces.contain(a);
  }
};

struct exchange_request {
  std::variant<target, std::string> to;  // or the error in the URL
  std::string problem;  // error in the method or headers; empty = none
  std::string method;
  std::string headers;  // "Name: value\r\n"...
  std::string body;
  std::string pool_key, account;
  std::uint32_t flags = 0;
  std::chrono::milliseconds connect_timeout{}, idle_timeout{}, total_timeout{};  // total 0: none
  std::uint64_t max_response = 0;
  std::shared_ptr<const tls_context> tls;
  std::uint64_t trust = 0;  // id of the certificate set that `tls` trusts; 0: the default set
  std::optional<proxy> given_proxy;
  bool environment_proxy = false;
  std::string proxy_problem;  // why the proxy is unusable; empty: usable, or no proxy requested
  observe::trace_ref trace;  // trace context of the caller
  observe::open_span span;
};

class exchange : public std::enable_shared_from_this<exchange> {
 public:
  exchange(const exchange_context& parts, loop_state& loop, exchange_request request, const ry_client_handler& handler,
           void* ctx, module::hold hold, std::function<void()> forget);

  void start();
  void resume();
  void cancel();
  // Releases socket and timers without calling the handler, after the loop has ended.
  void abandon();
  // The pool_key within a pool name: "<p|s> <host> <port> <g|o> <proxy> <trust> <pool_key>".
  static std::string_view pool_key_of(std::string_view name);

 private:
  using clock = std::chrono::steady_clock;
  enum class phase : std::uint8_t { idle, connecting, tunnel, handshake, active, done };
  enum class redirect : std::uint8_t { none, draining };

  bool guarded() const;
  bool safe_to_resend() const;
  // The host to connect to: the proxy or the target.
  const guard::host& next_hop() const;
  bool tunnels() const;
  // Selects the proxy for the current target; false: the request has failed.
  bool choose_proxy();
  void begin();  // take a pooled connection or open one
  void open();
  void found(const std::vector<boost::asio::ip::address>& addresses);
  void connect(std::vector<boost::asio::ip::address> addresses);
  void connected(std::optional<loop_socket> socket, const boost::asio::ip::address& address,
                 const std::string& problem);
  // Sends CONNECT to the proxy.
  void ask_for_tunnel();
  void tunnel_answered(std::span<char> data);
  void start_tls();
  void shake_hands();
  void send();
  void write_some();
  void pump();
  void arm();
  void received(std::span<char> data);
  void take_head();
  bool begin_redirect(std::string_view location);
  void deliver(std::string_view body);
  void complete(std::size_t unused);
  void ended(bool orderly, const std::string& problem);
  bool retry();
  void follow();
  void drop_connection();

  void enter(phase p);
  std::optional<clock::time_point> due() const;
  void arm_timer();
  void timed_out();

  void fail(ry_status st, const char* reason, std::string message);
  void finish(core::error err);

  const exchange_context& parts_;
  loop_state& loop_;
  exchange_request request_;
  const ry_client_handler handler_;
  void* const ctx_;
  module::hold hold_;
  std::function<void()> forget_;
  std::list<std::shared_ptr<exchange>>::iterator position_;

  phase phase_ = phase::idle;
  redirect redirect_ = redirect::none;
  std::uint8_t redirects_ = 0;
  bool started_ = false, cancelled_ = false, wrote_ = false;
  bool retried_ = false, paused_ = false, answered_ = false;
  bool reading_ = false, writing_ = false, write_failed_ = false;
  std::uint32_t turn_ = 0;  // counts connections; handlers of an earlier connection do nothing
  std::unique_ptr<connection> connection_;
  std::shared_ptr<connector> connector_;
  std::optional<proxy> via_;
  std::string pool_name_;
  std::string out_;
  std::size_t sent_ = 0;
  response_reader reader_;
  std::uint64_t received_ = 0;
  target next_;  // target of a redirect

  std::optional<loop_timer> timer_;
  std::optional<clock::time_point> timer_at_;
  std::uint32_t timer_turn_ = 0;
  clock::time_point began_, phase_began_, last_activity_;
};

}  // namespace ry::http
