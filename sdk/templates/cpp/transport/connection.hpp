// A connection to one MCP server over WebSocket (RFC 6455), with TLS for wss addresses: each text message is
// one JSON text, subprotocol "mcp".
//
// Asio and Beast do the I/O on one thread of the module. They are linked statically, and their symbols
// are hidden. That thread and the executor of the session's opener communicate by posts: neither accesses
// the other's members.
#pragma once

#include <ry/ry.hpp>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <ry/cpp/mcp.hpp>
#include <thread>

namespace ry_sample {

// ws://host[:port]/target, or wss://...
struct address {
  std::string host, port, target;
  bool tls = false;
};
// nullopt: not such a URL.
std::optional<address> parse_url(std::string_view url);

// The thread that reads and writes the sockets.
class io_thread {
 public:
  // ca_file: certificate authorities to trust in addition to the system's; may be empty.
  // Throws if the file cannot be read.
  void start(const std::string& ca_file);
  void stop();  // aborts the remaining sessions and joins the thread
  boost::asio::io_context& io() noexcept { return io_; }
  boost::asio::ssl::context& tls() noexcept { return tls_; }

 private:
  boost::asio::io_context io_{1};
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_client};
  std::thread thread_;
};

class connection;
struct receiver;  // passes messages to the sink; outlives its session while posts are pending

// The opener's interface of a session. All calls are on the opener's executor.
class session final : public ry::mcp::session {
 public:
  session(const ry::context& ctx, io_thread& m, const ry::mcp::target& t, const address& to, ry::headers fields,
          ry_exec* exec, ry::mcp::sink sink);

  ry_status send(ry::mcp::message m) override;
  void finish(std::uint64_t token, std::int32_t reason) noexcept override;
  void resume() noexcept override;
  void close() noexcept override;

 private:
  const ry::context& ctx_;
  io_thread& io_thread_;
  std::shared_ptr<receiver> receiver_;
  std::shared_ptr<connection> link_;
};

}  // namespace ry_sample
