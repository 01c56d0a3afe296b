#include "core/http/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <thread>

#include "core/http/answer.hpp"
#include "core/http/connection.hpp"
#include "core/http/router.hpp"
#include "core/http/worker.hpp"
#include "core/observe/log.hpp"

namespace ry::http {

namespace asio = boost::asio;
using namespace serving;

namespace {

// The number of connections over the limit whose request is read before the 503. Further ones get the 503 immediately.
std::int64_t overflow_of(std::int64_t max_connections) {
  return std::clamp<std::int64_t>(max_connections / 8, 8, 128);
}
constexpr unsigned kernel_unsent = 128 * 1024;  // unsent bytes that the kernel buffers per connection
constexpr auto accept_pause = std::chrono::milliseconds(100);

std::string unread_refusal() {
  const auto body = error_body(too_many_connections());
  std::string out;
  append_status_line(out, 503);
  append_header(out, "Connection", "close");
  append_header(out, "Retry-After", "1");
  append_header(out, "Content-Type", "application/json");
  append_header(out, "Content-Length", std::to_string(body.size()));
  return out.append("\r\n").append(body);
}

// Reads the received bytes first: closing a socket with unread input resets the connection and can drop the answer.
void turn_away(int fd, bool tls, std::string_view answer) {
  if (!tls) {
    (void)::send(fd, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(fd, SHUT_WR);
    char dropped[8192];
    (void)::recv(fd, dropped, sizeof dropped, MSG_DONTWAIT);
  }
  ::close(fd);
}

std::string text_of(const sockaddr_storage& from) {
  if (from.ss_family != AF_INET6)
    return asio::ip::address_v4(ntohl(reinterpret_cast<const sockaddr_in&>(from).sin_addr.s_addr)).to_string();
  const auto& a = reinterpret_cast<const sockaddr_in6&>(from);
  asio::ip::address_v6::bytes_type b;
  std::copy(a.sin6_addr.s6_addr, a.sin6_addr.s6_addr + 16, b.begin());
  const asio::ip::address_v6 v6(b);
  // A dual-stack socket reports an IPv4 client as ::ffff:a.b.c.d; trusted_proxies lists a.b.c.d.
  return v6.is_v4_mapped() ? asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string() : v6.to_string();
}

std::string checked_base_path(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (!path.empty() && path.front() != '/') path.insert(path.begin(), '/');
  return path;
}

std::string prepare_spool(const std::string& configured) {
  namespace fs = std::filesystem;
  const fs::path dir = configured.empty() ? fs::temp_directory_path() / ("runyard-spool-" + std::to_string(::getpid()))
                                          : fs::path(configured);
  std::error_code ec;
  fs::create_directories(dir, ec);
  if (ec) throw std::runtime_error("cannot create the directory for uploads \"" + dir.string() + "\": " + ec.message());
  fs::permissions(dir, fs::perms::owner_all, ec);
  for (const auto& e : fs::directory_iterator(dir, ec))
    if (e.path().filename().string().compare(0, 5, "form-") == 0) fs::remove(e.path(), ec);
  return dir.string();
}

}  // namespace

struct server::impl : std::enable_shared_from_this<server::impl> {
  explicit impl(server_context r, settings s) {
    s.base_path = checked_base_path(std::move(s.base_path));
    shared.trusted = address_set(s.trusted_proxies);
    shared.own_site = site(s.site, s.cors.origins);
    shared.limits = {s.max_header_bytes, s.max_target_bytes};
    shared.r = r;
    shared.s = std::move(s);
    shared.unsent = std::make_unique<quota>(shared.s.unsent_bytes);
    shared.bodies = std::make_unique<quota>(shared.s.bodies);
    shared.spool = std::make_unique<quota>(shared.s.spool_bytes);
    shared.by_address = std::make_unique<quota>(quota_limits{shared.s.address_connections, shared.s.max_connections});
    for (std::size_t i = 0; i < r.loops->size(); ++i)
      workers.push_back(std::make_unique<worker>(shared, r.loops->at(i)));
  }

  using acceptor_type = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;
  using timer_type = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, asio::io_context::executor_type>;

  shared_state shared;
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<host_route> host_routes;
  std::vector<std::shared_ptr<route_counters>> counters;
  mutable std::mutex counters_mutex;
  // Used on the first loop.
  std::unique_ptr<acceptor_type> acceptor;
  std::unique_ptr<timer_type> pause;
  std::atomic<std::uint16_t> port{0};
  std::atomic<bool> draining{false};
  const std::string refusal = unread_refusal();
  bool inherited = false;  // the socket outlives this process
  std::atomic<std::uint64_t> refused{0};

  std::shared_ptr<route_counters> counters_of(const std::string& method, const std::string& pattern) {
    std::lock_guard lock(counters_mutex);
    for (const auto& c : counters)
      if (c->method() == method && c->pattern() == pattern) return c;
    counters.push_back(std::make_shared<route_counters>(method, pattern));
    return counters.back();
  }

  void stop_accepting() {
    on_every_loop([self = this](worker& w) {
      if (&w != self->workers.front().get() || !self->acceptor) return;
      boost::system::error_code ec;
      self->acceptor->close(ec);
      self->pause->cancel();
    });
  }

  // Runs f(worker) on every loop and waits.
  template <class F>
  void on_every_loop(F f) {
    if (ry_exec::current()) throw std::logic_error("http::server was called on a loop");
    std::vector<std::future<void>> all;
    for (auto& w : workers) {
      if (w->loop.ctx.stopped()) continue;
      auto finished = std::make_shared<std::promise<void>>();
      all.push_back(finished->get_future());
      w->loop.post([f, finished, w = w.get(), self = shared_from_this()] {
        f(*w);
        finished->set_value();
      });
    }
    for (auto& one : all) one.wait();
  }

  void accept_later() {
    pause->expires_after(accept_pause);
    pause->async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec) self->wait_accept();
    });
  }

  void wait_accept() {
    if (!acceptor || !acceptor->is_open()) return;
    acceptor->async_wait(asio::socket_base::wait_read,
                         [self = shared_from_this()](const boost::system::error_code& ec) {
                           if (!ec) self->accept_some();
                         });
  }

  void accept_some() {
    for (int i = 0; i < 64; ++i) {
      if (!acceptor || !acceptor->is_open()) return;
      sockaddr_storage from{};
      socklen_t len = sizeof from;
      const int fd =
          ::accept4(acceptor->native_handle(), reinterpret_cast<sockaddr*>(&from), &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) return wait_accept();
        if (errno == EINTR || errno == ECONNABORTED) continue;
        // Out of descriptors or memory: the client waits in the backlog.
        refused.fetch_add(1, std::memory_order_relaxed);
        observe::log(observe::level::error, "http", "cannot accept connections at the moment",
                     {{"error", std::error_code(errno, std::generic_category()).message()}});
        return accept_later();
      }
      admit(fd, text_of(from));
    }
    wait_accept();
  }

  void admit(int fd, std::string peer) {
    const auto limit = static_cast<std::int64_t>(shared.s.max_connections);
    const auto rejected_over_limit = shared.rejected_over_limit.load(std::memory_order_acquire);
    const auto open = shared.connections.load(std::memory_order_acquire) - rejected_over_limit;
    quota_hold by_address;
    bool crowded = false;
    if (shared.s.address_connections != 0 && !shared.trusted.contains(peer)) {
      by_address.open(*shared.by_address, network_of(peer));
      crowded = by_address.resize(1) != quota_verdict::granted;
    }
    const auto how = draining                   ? admission::draining
                     : open >= limit || crowded ? admission::too_many
                                                : admission::served;
    const auto overflow = overflow_of(limit);
    if (how == admission::too_many ? rejected_over_limit >= overflow : open >= limit + overflow) {
      refused.fetch_add(1, std::memory_order_relaxed);
      return turn_away(fd, shared.uses_tls(), refusal);
    }
    assign_connection(fd, std::move(peer), how, std::move(by_address));
  }

  void assign_connection(int fd, std::string peer, admission how, quota_hold by_address) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Without this limit the kernel buffers megabytes for a client that does not read, and no quota counts them.
    ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kernel_unsent, sizeof kernel_unsent);
    const auto stall = static_cast<unsigned>(shared.s.write_stall_timeout.count());
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stall, sizeof stall);
    worker* best = workers.front().get();
    for (const auto& w : workers)
      if (w->count.accepting.load(std::memory_order_relaxed) < best->count.accepting.load(std::memory_order_relaxed))
        best = w.get();
    best->count.accepting.fetch_add(1, std::memory_order_relaxed);
    shared.connections.fetch_add(1, std::memory_order_acq_rel);
    if (how == admission::draining) shared.rejected_while_draining.fetch_add(1, std::memory_order_acq_rel);
    if (how == admission::too_many) shared.rejected_over_limit.fetch_add(1, std::memory_order_acq_rel);
    if (how != admission::served) refused.fetch_add(1, std::memory_order_relaxed);
    if (best->loop.is_current()) return best->accept(fd, std::move(peer), how, std::move(by_address));
    // std::function needs a copyable callable, and a quota_hold is move-only.
    auto kept = std::make_shared<quota_hold>(std::move(by_address));
    best->loop.post([best, fd, peer = std::move(peer), how, kept = std::move(kept), self = shared_from_this()] {
      best->accept(fd, peer, how, std::move(*kept));
    });
  }
};

server::server(server_context r, settings s) : impl_(std::make_shared<impl>(r, std::move(s))) {
  impl_->shared.alive = impl_;
}

server::~server() {
  try {
    drain(clock::now());
    const auto close = [self = impl_.get()](worker& w) {
      if (&w == self->workers.front().get()) {
        self->acceptor.reset();
        self->pause.reset();
      }
      w.close();
    };
    impl_->on_every_loop([close](worker& w) {
      w.close_all();
      close(w);
    });
    // Wait until the cancelled handlers have run.
    impl_->on_every_loop([](worker&) {});
    // A stopped loop runs no handlers, so this thread may close its worker.
    for (auto& w : impl_->workers)
      if (w->loop.ctx.stopped()) close(*w);
  } catch (const std::exception& e) {
    observe::log(observe::level::error, "http", "the server did not stop cleanly", {{"error", e.what()}});
  }
}

void server::add_host_route(host_route route) {
  impl_->host_routes.push_back(std::move(route));
}

const std::vector<host_route>& server::host_routes() const noexcept {
  return impl_->host_routes;
}

void server::publish(std::vector<module::route> routes) {
  auto table = std::make_shared<route_table>(impl_->shared.s.base_path);
  for (const auto& h : impl_->host_routes) {
    compiled_route c;
    c.def.method = h.method;
    c.def.pattern = h.pattern;
    c.def.flags = h.flags;
    c.host = h.handle;
    c.where = h.where;
    c.counters = impl_->counters_of(h.method, h.pattern);
    table->add(std::move(c));
  }
  for (auto& r : routes) {
    compiled_route c;
    c.counters = impl_->counters_of(r.method, r.pattern);
    c.def = std::move(r);
    table->add(std::move(c));
  }
  impl_->on_every_loop([table](worker& w) { w.table = table; });
}

std::size_t server::end_requests_of(const std::vector<ry_host*>& owners, const std::function<bool()>& time_is_up) {
  for (;;) {
    const auto how = time_is_up() ? worker::close_mode::immediate : worker::close_mode::graceful;
    std::atomic<std::size_t> open{0};
    impl_->on_every_loop([&](worker& w) { open += w.end_requests_of(owners, how); });
    if (open == 0 || how == worker::close_mode::immediate) return open;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void server::start() {
  start(listener(impl_->shared.s.address, impl_->shared.s.port));
}

void server::start(listener at) {
  auto& s = impl_->shared.s;
  if (s.tls_cert_file.empty() != s.tls_key_file.empty())
    throw std::runtime_error("http.tls.cert and http.tls.key must be set together");
  if (!s.tls_cert_file.empty()) {
    impl_->shared.tls = std::make_shared<const tls_context>(s.tls_cert_file, s.tls_key_file);
    // OpenSSL writes without MSG_NOSIGNAL, which would raise SIGPIPE.
    std::signal(SIGPIPE, SIG_IGN);
  }
  const auto dir = prepare_spool(s.spool_dir);
  for (auto& w : impl_->workers) w->spool_names.prefix = dir + "/form-" + std::to_string(w->loop.index) + "-";

  boost::system::error_code ec;
  auto acceptor = std::make_unique<impl::acceptor_type>(impl_->workers.front()->loop.ctx.get_executor());
  const auto protocol = at.family() == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
  acceptor->assign(protocol, at.take(), ec);
  // Fails if another process bound the same port concurrently and already listens.
  if (!ec && !at.inherited()) acceptor->listen(4096, ec);
  if (!ec) acceptor->non_blocking(true, ec);
  if (ec) throw std::runtime_error("cannot listen on " + at.name() + ": " + ec.message());
  impl_->port = at.port();
  impl_->inherited = at.inherited();
  impl_->acceptor = std::move(acceptor);
  impl_->pause = std::make_unique<impl::timer_type>(impl_->workers.front()->loop.ctx.get_executor());
  impl_->workers.front()->loop.post([self = impl_] { self->wait_accept(); });
}

std::string server::use_certificate(const std::string& cert_file, const std::string& key_file) {
  auto next = std::make_shared<const tls_context>(cert_file, key_file);
  std::string until = next->valid_until();
  impl_->shared.tls = std::move(next);
  return until;
}

std::uint16_t server::port() const noexcept {
  return impl_->port;
}

void server::drain(clock::time_point deadline, const std::function<bool()>& done) {
  // Stop accepting first: connections accepted from now on would get 503 although the next server could serve them.
  if (impl_->inherited) impl_->stop_accepting();
  impl_->draining = true;
  impl_->on_every_loop([](worker& w) { w.start_drain(); });
  const auto running = [this] { return !impl_->workers.front()->loop.ctx.stopped(); };
  const auto open = [this] { return impl_->shared.connections.load(std::memory_order_acquire); };
  // New clients get 503 with Retry-After; the drain does not wait for them.
  const auto rejected_while_draining = [this] {
    return impl_->shared.rejected_while_draining.load(std::memory_order_acquire);
  };
  const auto busy = [&] { return open() > rejected_while_draining() || (done && !done()); };
  while (running() && busy() && clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  impl_->stop_accepting();
  if (!running() || open() == 0) return;
  impl_->on_every_loop([](worker& w) { w.close_all(); });
  while (running() && open() > 0 && clock::now() < deadline + std::chrono::seconds(5))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

server_stats server::stats() const {
  server_stats s;
  for (const auto& w : impl_->workers) {
    const auto& c = w->count;
    s.connections += c.connections;
    s.streams += c.streams;
    s.accepted += c.accepted;
    s.requests += c.requests;
    s.bytes_in += c.bytes_in;
    s.bytes_out += c.bytes_out;
    s.streams_cut += c.streams_cut;
    s.parse_errors += c.parse_errors;
    s.timeouts += c.timeouts;
    s.slow_readers += c.slow_readers;
  }
  s.refused = impl_->refused;
  const auto& all = impl_->shared;
  s.connections_refused_by_address = all.by_address->refused();
  s.unsent_bytes = all.unsent->held();
  s.unsent_refused = all.unsent->refused();
  s.bodies = all.bodies->held();
  s.bodies_refused = all.bodies->refused();
  s.spool_bytes = all.spool->held();
  s.spool_refused = all.spool->refused();
  s.routes.push_back(impl_->shared.unmatched->snapshot());
  std::lock_guard lock(impl_->counters_mutex);
  for (const auto& c : impl_->counters) s.routes.push_back(c->snapshot());
  return s;
}

}  // namespace ry::http
