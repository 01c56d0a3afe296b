#include "connection.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <chrono>
#include <deque>
#include <set>

namespace ry_sample {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ssl = asio::ssl;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t max_unsent = 64;  // messages that have not been written
constexpr std::size_t max_undelivered = 256;  // messages that wait for the executor
constexpr std::uint64_t connect_ms = 10'000;
constexpr auto watch_interval = std::chrono::milliseconds(100);
constexpr auto close_timeout = std::chrono::seconds(2);  // for messages that were sent before close()

}  // namespace

std::optional<address> parse_url(std::string_view url) {
  address a;
  a.tls = url.substr(0, 6) == "wss://";
  if (!a.tls && url.substr(0, 5) != "ws://") return std::nullopt;
  url.remove_prefix(a.tls ? 6 : 5);
  for (const char c : url) {
    if (c <= ' ' || c == '@' || c == '#' || c == 0x7f) return std::nullopt;
  }
  const auto end = std::min(url.find_first_of("/?"), url.size());
  auto authority = url.substr(0, end);
  a.target = url.substr(end);
  if (a.target.empty() || a.target.front() != '/') a.target.insert(0, "/");
  a.port = a.tls ? "443" : "80";
  const bool bracketed = !authority.empty() && authority.front() == '[';
  const auto colon = authority.find(':', bracketed ? std::min(authority.find(']'), authority.size()) : 0);
  if (colon != std::string_view::npos) {
    a.port = authority.substr(colon + 1);
    if (a.port.empty() || a.port.size() > 5 || a.port.find_first_not_of("0123456789") != std::string::npos) {
      return std::nullopt;
    }
    authority = authority.substr(0, colon);
  }
  if (bracketed) {
    if (authority.size() < 4 || authority.back() != ']') return std::nullopt;
    authority = authority.substr(1, authority.size() - 2);
  }
  a.host = authority;
  if (a.host.empty()) return std::nullopt;
  return a;
}

void io_thread::start(const std::string& ca_file) {
  tls_.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  tls_.set_verify_mode(ssl::verify_peer);
  tls_.set_default_verify_paths();
  if (!ca_file.empty()) tls_.load_verify_file(ca_file);
  thread_ = std::thread([this] {
    const auto work = asio::make_work_guard(io_);
    io_.run();
  });
}
void io_thread::stop() {
  if (!thread_.joinable()) return;
  io_.stop();
  thread_.join();
}

// ---- on the opener's executor ------------------------------------------------------------------

struct receiver {
  receiver(const ry::context& c, ry_exec* e, ry::mcp::sink s) : ctx(c), exec(e), sink(s) {}
  // Runs f on the executor, unless the session has been closed before that.
  template <class F>
  static void report(const std::shared_ptr<receiver>& self, F f) {
    self->ctx.post(self->exec, [self, f = std::move(f)]() mutable {
      if (!self->closed) f(*self);
    });
  }
  void end(const ry::error& e) {
    if (ended) return;
    ended = true;
    sent.clear();
    sink.closed(e);
  }

  // Delivers queued messages to the sink until it is full.
  void deliver(const std::weak_ptr<connection>& from, asio::io_context& io);

  const ry::context& ctx;
  ry_exec* const exec;
  const ry::mcp::sink sink;
  std::set<std::uint64_t> sent;  // tokens that wait for on_sent
  std::deque<std::string> queued;  // messages that arrived while the sink was full
  std::optional<ry::error> queued_end;
  bool closed = false, ended = false, paused = false;
};

// ---- on the I/O thread -------------------------------------------------------------------------

class connection {
 public:
  virtual ~connection() = default;
  virtual void begin() = 0;
  virtual void push(std::uint64_t token, std::string text) = 0;
  virtual void delivered() = 0;  // the executor has delivered a message to the sink
  virtual void close() = 0;
};

void receiver::deliver(const std::weak_ptr<connection>& from, asio::io_context& io) {
  while (!queued.empty() && !paused && !ended && !closed) {
    const auto text = std::move(queued.front());
    queued.pop_front();
    const auto st = sink.message(0, text);
    if (auto link = from.lock()) asio::post(io, [link = std::move(link)] { link->delivered(); });
    if (closed) return;
    if (st == RY_RESOURCE_EXHAUSTED) {
      paused = true;
    } else if (st != RY_OK) {
      end(ry::error(st, "mcp.websocket", "a message could not be processed"));
    }
  }
  if (queued.empty() && !paused && queued_end && !closed) end(*queued_end);
}

namespace {

using plain_stream = beast::tcp_stream;
using tls_stream = ssl::stream<beast::tcp_stream>;

// Stream: plain_stream or tls_stream.
template <class Stream>
class stream_connection final : public connection, public std::enable_shared_from_this<stream_connection<Stream>> {
 public:
  // stream_args: arguments of the stream's constructor after the io_context.
  template <class... StreamArgs>
  stream_connection(io_thread& m, std::shared_ptr<receiver> r, const ry::context& ctx, const ry::mcp::target& t,
                    address to, ry::headers fields, StreamArgs&... stream_args)
      : io_(m.io()),
        receiver_(std::move(r)),
        ctx_(ctx),
        to_(std::move(to)),
        fields_(std::move(fields)),
        public_only_(!t.operators_own() && ctx.fact("deployment.mode") != "local"),
        connect_timeout_(std::chrono::milliseconds(t.connect_timeout_ms != 0 ? t.connect_timeout_ms : connect_ms)),
        max_message_(t.max_message_bytes),
        resolver_(m.io()),
        timer_(m.io()),
        ws_(m.io(), stream_args...) {}

  void begin() override {
    resolver_.async_resolve(
        to_.host, to_.port,
        [self = this->shared_from_this()](error_code ec, tcp::resolver::results_type r) { self->resolved(ec, r); });
  }
  void push(std::uint64_t token, std::string text) override {
    unsent_.push_back({token, std::move(text)});
    write();
  }
  void delivered() override {
    --undelivered_;
    read();
  }
  void close() override {
    closing_ = true;
    resolver_.cancel();
    if (!open_) return drop();
    timer_.expires_after(close_timeout);
    timer_.async_wait([self = this->shared_from_this()](error_code ec) {
      if (!ec) self->drop();
    });
    write();
  }

 private:
  struct outgoing {
    std::uint64_t token;
    std::string text;
  };

  void drop() {
    error_code ignored;
    beast::get_lowest_layer(ws_).socket().close(ignored);
    timer_.cancel();
  }
  void fail(ry_status st, std::string message) {
    drop();
    report_failure(st, std::move(message));
  }
  void report_failure(ry_status st, std::string message) {
    if (failed_) return;
    failed_ = true;
    receiver::report(receiver_, [e = ry::error(st, "mcp.websocket", std::move(message))](auto& to) {
      if (to.paused || !to.queued.empty())
        to.queued_end = e;
      else
        to.end(e);
    });
  }

  void resolved(error_code ec, const tcp::resolver::results_type& found) {
    if (closing_) return;
    if (ec) return fail(RY_UNAVAILABLE, "the host name " + to_.host + " was not found");
    // Connects only to the checked addresses, so that a second DNS answer cannot bypass the check.
    std::vector<tcp::endpoint> allowed;
    for (const auto& each : found) {
      const auto ip = each.endpoint().address();
      const auto literal = ip.is_v6() ? "[" + ip.to_string() + "]" : ip.to_string();
      if (public_only_ && ctx_.http_client().check_url("http://" + literal + "/") != RY_OK) {
        return fail(RY_PERMISSION_DENIED, "MCP URL points to a private or local address");
      }
      allowed.push_back(each.endpoint());
    }
    beast::get_lowest_layer(ws_).expires_after(connect_timeout_);
    beast::get_lowest_layer(ws_).async_connect(
        allowed, [self = this->shared_from_this()](error_code e, const tcp::endpoint&) { self->connected(e); });
  }

  void connected(error_code ec) {
    if (closing_) return drop();
    if (ec) {
      return fail(RY_UNAVAILABLE, "no connection to " + to_.host + ":" + to_.port + ": " + ec.message());
    }
    error_code ignored;
    beast::get_lowest_layer(ws_).socket().set_option(tcp::no_delay(true), ignored);
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      start_tls();
    } else {
      start_websocket();
    }
  }

  void start_tls() {
    auto& tls = ws_.next_layer();
    error_code literal;
    (void)asio::ip::make_address(to_.host, literal);
    // The server name indication contains names, not addresses (RFC 6066).
    if (literal && SSL_set_tlsext_host_name(tls.native_handle(), to_.host.c_str()) != 1) {
      return fail(RY_UNAVAILABLE, "TLS cannot be used with the name " + to_.host);
    }
    tls.set_verify_callback(ssl::host_name_verification(to_.host));
    tls.async_handshake(ssl::stream_base::client, [self = this->shared_from_this()](error_code e) {
      if (self->closing_) return self->drop();
      if (e) return self->fail(RY_UNAVAILABLE, "no TLS with " + self->to_.host + ": " + e.message());
      self->start_websocket();
    });
  }

  void start_websocket() {
    ws_.read_message_max(max_message_ == UINT64_MAX ? 0 : max_message_);
    ws_.set_option(websocket::stream_base::decorator([this](websocket::request_type& r) {
      r.set(beast::http::field::sec_websocket_protocol, "mcp");
      r.set(beast::http::field::user_agent, "runyard");
      for (const auto& [name, value] : fields_) r.set(name, value);
    }));
    const bool is_name_or_ipv4 = to_.host.find(':') == std::string::npos;
    ws_.async_handshake((is_name_or_ipv4 ? to_.host : "[" + to_.host + "]") + ":" + to_.port, to_.target,
                        [self = this->shared_from_this()](error_code e) { self->websocket_started(e); });
  }

  void websocket_started(error_code ec) {
    if (closing_) return drop();
    if (ec) return fail(RY_UNAVAILABLE, "the server did not open a WebSocket: " + ec.message());
    beast::get_lowest_layer(ws_).expires_never();
    ws_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::close && !closing_) report_failure(RY_OK, "the server closed the connection");
    });
    open_ = true;
    write();
    read();
    watch();
  }
  // After a protocol violation Beast sends a close frame and waits for the peer's, which may never arrive. Shutting down
  // the receiving side makes read() finish with the error; a peer that keeps sending is disconnected.
  void watch() {
    timer_.expires_after(watch_interval);
    timer_.async_wait([self = this->shared_from_this()](error_code ec) {
      if (ec || self->closing_) return;
      if (self->ws_.is_open()) return self->watch();
      if (self->receive_shut_down_) return self->protocol_violation();
      self->receive_shut_down_ = true;
      error_code ignored;
      beast::get_lowest_layer(self->ws_).socket().shutdown(tcp::socket::shutdown_receive, ignored);
      self->watch();
    });
  }
  void protocol_violation() {
    fail(RY_DATA_LOSS,
         "not the WebSocket protocol, or a message larger than " + std::to_string(max_message_) + " bytes");
  }

  void write() {
    if (!open_ || writing_) return;
    if (unsent_.empty()) {
      if (closing_) send_close_frame();
      return;
    }
    writing_ = true;
    ws_.text(true);
    ws_.async_write(asio::buffer(unsent_.front().text),
                    [self = this->shared_from_this()](error_code ec, std::size_t) { self->written(ec); });
  }
  void written(error_code ec) {
    writing_ = false;
    if (ec) return;  // read() reports the error
    const auto token = unsent_.front().token;
    unsent_.pop_front();
    receiver::report(receiver_, [token](auto& to) {
      if (to.sent.erase(token) != 0) to.sink.sent(token);
    });
    write();
  }
  void send_close_frame() {
    open_ = false;
    ws_.async_close(websocket::close_code::normal, [self = this->shared_from_this()](error_code) { self->drop(); });
  }

  void read() {
    if (!open_ || reading_ || closing_ || undelivered_ >= max_undelivered) return;
    reading_ = true;
    ws_.async_read(in_, [self = this->shared_from_this()](error_code ec, std::size_t) { self->read_done(ec); });
  }
  void read_done(error_code ec) {
    reading_ = false;
    if (closing_) return;
    if (ec == websocket::error::closed) return fail(RY_OK, "the server closed the connection");
    if (ec == websocket::error::message_too_big || ec == websocket::error::buffer_overflow) {
      return fail(RY_RESOURCE_EXHAUSTED, "a message is larger than " + std::to_string(max_message_) + " bytes");
    }
    if (ec == asio::error::eof || ec == asio::error::connection_reset || ec == ssl::error::stream_truncated) {
      if (receive_shut_down_) return protocol_violation();  // shut down by watch(): TLS does not report earlier data
      return fail(RY_UNAVAILABLE, "the connection broke");
    }
    if (ec) return fail(RY_DATA_LOSS, "not the WebSocket protocol: " + ec.message());
    if (!ws_.got_text()) return fail(RY_DATA_LOSS, "a message is not text");
    ++undelivered_;
    receiver::report(receiver_,
                     [text = beast::buffers_to_string(in_.data()),
                      self = std::weak_ptr<connection>(this->shared_from_this()), &io = io_](auto& to) mutable {
                       to.queued.push_back(std::move(text));
                       to.deliver(self, io);
                     });
    in_.consume(in_.size());
    read();
  }

  asio::io_context& io_;
  const std::shared_ptr<receiver> receiver_;
  const ry::context& ctx_;
  const address to_;
  const ry::headers fields_;
  const bool public_only_;
  const std::chrono::milliseconds connect_timeout_;
  const std::uint64_t max_message_;
  tcp::resolver resolver_;
  asio::steady_timer timer_;
  websocket::stream<Stream> ws_;
  beast::flat_buffer in_;
  std::deque<outgoing> unsent_;
  std::size_t undelivered_ = 0;
  bool open_ = false, reading_ = false, writing_ = false, closing_ = false, failed_ = false, receive_shut_down_ = false;
};

std::shared_ptr<connection> connect(io_thread& m, std::shared_ptr<receiver> r, const ry::context& ctx,
                                    const ry::mcp::target& t, const address& to, ry::headers fields) {
  if (!to.tls) {
    return std::make_shared<stream_connection<plain_stream>>(m, std::move(r), ctx, t, to, std::move(fields));
  }
  return std::make_shared<stream_connection<tls_stream>>(m, std::move(r), ctx, t, to, std::move(fields), m.tls());
}

}  // namespace

session::session(const ry::context& ctx, io_thread& m, const ry::mcp::target& t, const address& to, ry::headers fields,
                 ry_exec* exec, ry::mcp::sink sink)
    : ctx_(ctx),
      io_thread_(m),
      receiver_(std::make_shared<receiver>(ctx, exec, sink)),
      link_(connect(m, receiver_, ctx, t, to, std::move(fields))) {
  asio::post(io_thread_.io(), [link = link_] { link->begin(); });
}

ry_status session::send(ry::mcp::message m) {
  if (receiver_->ended || receiver_->closed) return RY_CANCELLED;
  if (receiver_->sent.size() >= max_unsent) return RY_RESOURCE_EXHAUSTED;
  receiver_->sent.insert(m.token);
  asio::post(io_thread_.io(), [link = link_, token = m.token, text = std::move(m.json)]() mutable {
    link->push(token, std::move(text));
  });
  return RY_OK;
}
void session::finish(std::uint64_t token, std::int32_t) noexcept {
  receiver_->sent.erase(token);
}
void session::resume() noexcept {
  receiver_->paused = false;
  (void)ry::guard([&] {
    receiver::report(receiver_,
                     [link = std::weak_ptr(link_), &io = io_thread_.io()](receiver& r) { r.deliver(link, io); });
  });
}
void session::close() noexcept {
  receiver_->closed = true;
  (void)ry::guard([&] { asio::post(io_thread_.io(), [link = link_] { link->close(); }); });
  delete this;
}

}  // namespace ry_sample
