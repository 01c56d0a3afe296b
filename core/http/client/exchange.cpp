#include "core/http/client/exchange.hpp"
#include "core/observe/log.hpp"

#include <algorithm>
#include <ry/cpp/memory.hpp>
#include <utility>

namespace ry::http {

namespace {

constexpr std::size_t buffer_size = 64 * 1024;
constexpr std::uint64_t max_redirect_body = 64 * 1024;
constexpr int max_redirects = 5;
constexpr std::uint32_t closes_connection = RY_CLIENT_FRESH_CONNECTION | RY_CLIENT_LAST;
constexpr int max_reads = 4;  // per wake-up, so that one fast peer does not starve the loop

bool is_redirect(unsigned status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

void loop_state::keep(const std::string& name, std::unique_ptr<connection> c) {
  idle.give(name, std::move(c), std::chrono::steady_clock::now());
  sweep_later();
}

void loop_state::sweep_later() {
  if (sweeping_ || idle.size() == 0) return;
  sweeping_ = true;
  if (!sweeper) sweeper.emplace(loop.ctx);
  sweeper->expires_after(std::chrono::seconds(1));
  sweeper->async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    sweeping_ = false;
    idle.sweep(std::chrono::steady_clock::now());
    sweep_later();
  });
}

exchange::exchange(const exchange_context& parts, loop_state& loop, exchange_request request,
                   const ry_client_handler& handler, void* ctx, module::hold hold, std::function<void()> forget)
    : parts_(parts),
      loop_(loop),
      request_(std::move(request)),
      handler_(handler),
      ctx_(ctx),
      hold_(std::move(hold)),
      forget_(std::move(forget)) {
  began_ = phase_began_ = last_activity_ = clock::now();
}

bool exchange::guarded() const {
  return parts_.settings.guard == address_guard::on && !(request_.flags & RY_CLIENT_OPERATOR_URL);
}

bool exchange::safe_to_resend() const {
  if (request_.flags & RY_CLIENT_REPEATABLE) return true;
  const auto& m = request_.method;
  return m == "GET" || m == "HEAD" || m == "OPTIONS" || m == "PUT" || m == "DELETE" || m == "TRACE";
}

void exchange::start() {
  started_ = true;
  parts_.stats.active.fetch_add(1, std::memory_order_relaxed);
  position_ = loop_.running.insert(loop_.running.end(), shared_from_this());
  if (cancelled_) return cancel();
  if (auto* problem = std::get_if<std::string>(&request_.to))
    return fail(RY_INVALID_ARGUMENT, "http_client.url", std::move(*problem));
  if (!request_.problem.empty()) return fail(RY_INVALID_ARGUMENT, "http_client.request", std::move(request_.problem));
  if (!request_.proxy_problem.empty())
    return fail(RY_INVALID_ARGUMENT, "http_client.proxy", std::move(request_.proxy_problem));
  begin();
}

const guard::host& exchange::next_hop() const {
  return via_ ? via_->host : std::get<target>(request_.to).host;
}

bool exchange::tunnels() const {
  return via_ && std::get<target>(request_.to).tls;
}

bool exchange::choose_proxy() {
  via_ = request_.given_proxy;
  if (!request_.environment_proxy) return true;
  auto found = parts_.settings.proxies.of(std::get<target>(request_.to));
  if (auto* problem = std::get_if<std::string>(&found)) {
    fail(RY_INVALID_ARGUMENT, "http_client.proxy", std::move(*problem));
    return false;
  }
  if (auto* p = std::get_if<proxy>(&found)) via_ = std::move(*p);
  return true;
}

std::string_view exchange::pool_key_of(std::string_view name) {
  for (int blanks = 0; blanks < 6; ++blanks) name.remove_prefix(name.find(' ') + 1);
  return name;
}

void exchange::begin() {
  auto& to = std::get<target>(request_.to);
  reader_ = response_reader(request_.method == "HEAD" ? response_reader::body_rule::head_only
                                                      : response_reader::body_rule::normal);
  if (!choose_proxy()) return;
  pool_name_ = (to.tls ? "s " : "p ") + to.host.name + ' ' + std::to_string(to.port) + (guarded() ? " g " : " o ") +
               (via_ ? via_->key() : "-") + ' ' + std::to_string(request_.trust) + ' ' + request_.pool_key;
  if (!(request_.flags & RY_CLIENT_FRESH_CONNECTION) && !retried_) {
    connection_ = loop_.idle.take(pool_name_);
    if (connection_) {
      parts_.stats.connections_reused.fetch_add(1, std::memory_order_relaxed);
      return send();
    }
  }
  open();
}

void exchange::open() {
  const auto& hop = next_hop();
  enter(phase::connecting);
  if (hop.literal) return found({*hop.literal});
  if (guarded()) {
    if (guard::refused_name(hop.name)) return found({});
  }
  const auto by = request_.flags & RY_CLIENT_OPERATOR_URL ? name_source::configuration : name_source::user;
  parts_.names.resolve(
      hop.name, by, request_.account, &loop_.loop, weak_from_this(),
      [weak = weak_from_this(), turn = turn_](const resolver::answer& a) {
        auto self = weak.lock();
        if (!self || self->turn_ != turn) return;
        if (a.too_many)
          self->fail(RY_UNAVAILABLE, "http_client.lookup_limit",
                     "the name " + self->next_hop().name + " was not looked up: too many name lookups are waiting");
        else
          self->found(a.found);
      });
}

void exchange::found(const std::vector<boost::asio::ip::address>& addresses) {
  const auto& hop = next_hop();
  if (guarded()) {
    const bool refused =
        (!hop.literal && guard::refused_name(hop.name)) ||
        std::any_of(addresses.begin(), addresses.end(), [this](const auto& a) { return parts_.refuses(a); });
    if (refused) {
      parts_.stats.refused.fetch_add(1, std::memory_order_relaxed);
      return fail(RY_PERMISSION_DENIED, "http_client.address_refused", "the URL points to a private or local address");
    }
  }
  if (addresses.empty())
    return fail(RY_UNAVAILABLE, "http_client.resolve",
                std::string("the name ") + (via_ ? "of the proxy " : "") + hop.name + " could not be resolved");
  connect(addresses);
}

void exchange::connect(std::vector<boost::asio::ip::address> addresses) {
  const auto port = via_ ? via_->port : std::get<target>(request_.to).port;
  connector_ = std::make_shared<connector>(
      loop_.loop.ctx, std::move(addresses), port,
      [weak = weak_from_this()](std::optional<loop_socket> socket, const auto& address, const std::string& problem) {
        if (auto self = weak.lock()) self->connected(std::move(socket), address, problem);
      });
  connector_->start();
}

void exchange::connected(std::optional<loop_socket> socket, const boost::asio::ip::address& address,
                         const std::string& problem) {
  const auto& to = std::get<target>(request_.to);
  connector_.reset();
  if (!socket) {
    const std::string what = "could not connect to " + (via_ ? "the proxy " + via_->authority : to.authority);
    if (!guarded()) return fail(RY_UNAVAILABLE, "http_client.connect", what + ": " + problem);
    // Users get the same error for refused, unreachable and silent ports, so they cannot scan ports through the server.
    observe::log(observe::level::info, "http_client", what, {{"error", problem}});
    return fail(RY_UNAVAILABLE, "http_client.connect", what);
  }
  parts_.stats.connections_opened.fetch_add(1, std::memory_order_relaxed);
  connection_ = std::make_unique<connection>(std::move(*socket));
  connection_->peer = address.to_string();
  if (tunnels()) return ask_for_tunnel();
  if (!to.tls) return send();
  start_tls();
}

void exchange::ask_for_tunnel() {
  const auto& to = std::get<target>(request_.to);
  phase_ = phase::tunnel;
  reader_ = response_reader(response_reader::body_rule::head_only);
  // CONNECT requires an explicit port.
  const std::string name = to.host.literal && to.host.literal->is_v6() ? "[" + to.host.name + "]" : to.host.name;
  const std::string authority = name + ":" + std::to_string(to.port);
  out_ = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
  if (!via_->authorization.empty()) out_ += "Proxy-Authorization: " + via_->authorization + "\r\n";
  out_ += "User-Agent: " + parts_.settings.user_agent + "\r\n\r\n";
  sent_ = 0;
  wrote_ = write_failed_ = false;
  write_some();
  arm();
}

void exchange::tunnel_answered(std::span<char> data) {
  const auto& to = std::get<target>(request_.to);
  const std::string who = "the proxy " + via_->authority;
  response_reader::piece piece;
  const auto outcome = reader_.feed(data, piece);
  if (outcome == response_reader::outcome::malformed)
    return fail(RY_UNAVAILABLE, "http_client.proxy", who + " did not respond to CONNECT with HTTP");
  if (outcome == response_reader::outcome::more) return;
  const auto status = reader_.head().status;
  if (status / 100 != 2) {
    const auto reason = status == 407   ? " rejected or requires credentials"
                        : status == 403 ? " does not allow connections to " + to.authority
                                        : " could not connect to " + to.authority;
    // A busy proxy, or one that cannot reach the target now, may succeed later.
    const bool transient = status >= 500 || status == 408 || status == 429;
    return fail(transient ? RY_UNAVAILABLE : RY_PERMISSION_DENIED, "http_client.proxy",
                who + reason + " (HTTP " + std::to_string(status) + ")");
  }
  // In TLS the client sends first, so early data is a protocol error.
  if (piece.unused > 0) return fail(RY_UNAVAILABLE, "http_client.proxy", who + " sent data ahead of the connection");
  if (reading_ || writing_) connection_->io.cancel_waits();
  ++turn_;
  reading_ = writing_ = false;
  out_.clear();
  reader_ = response_reader(request_.method == "HEAD" ? response_reader::body_rule::head_only
                                                      : response_reader::body_rule::normal);
  start_tls();
}

void exchange::start_tls() {
  if (!connection_->io.start_tls(request_.tls, std::get<target>(request_.to).host))
    return fail(RY_UNAVAILABLE, "http_client.tls", "a TLS session could not be set up");
  phase_ = phase::handshake;
  shake_hands();
}

void exchange::shake_hands() {
  auto on_ready = [self = shared_from_this(), turn = turn_](const boost::system::error_code& ec) {
    if (self->turn_ == turn && !ec) self->shake_hands();
  };
  switch (connection_->io.handshake()) {
    case transport::io::ok:
      return send();
    case transport::io::want_read:
      return connection_->io.wait_read(std::move(on_ready));
    case transport::io::want_write:
      return connection_->io.wait_write(std::move(on_ready));
    default:
      return fail(RY_UNAVAILABLE, "http_client.tls",
                  "TLS with " + std::get<target>(request_.to).authority + " failed: " + connection_->io.problem());
  }
}

void exchange::send() {
  const auto& to = std::get<target>(request_.to);
  enter(phase::active);
  sent_ = 0;
  wrote_ = write_failed_ = false;
  if (out_.empty()) {
    out_.reserve(request_.method.size() + to.path.size() + to.authority.size() + request_.headers.size() +
                 request_.body.size() + 96);
    out_.append(request_.method).append(" ").append(via_ && !to.tls ? to.url() : to.path).append(" HTTP/1.1\r\nHost: ");
    out_.append(to.authority).append("\r\n").append(request_.headers);
    if (via_ && !to.tls && !via_->authorization.empty())
      out_.append("Proxy-Authorization: ").append(via_->authorization).append("\r\n");
    if (request_.flags & closes_connection) out_.append("Connection: close\r\n");
    const auto& m = request_.method;
    if (!request_.body.empty() || m == "POST" || m == "PUT" || m == "PATCH")
      out_.append("Content-Length: ").append(std::to_string(request_.body.size())).append("\r\n");
    out_.append("\r\n").append(request_.body);
  }
  write_some();
  arm();
}

void exchange::write_some() {
  while (sent_ < out_.size() && !write_failed_) {
    const auto r = connection_->io.write(std::string_view(out_).substr(sent_));
    if (r.what == transport::io::ok) {
      sent_ += r.n;
      wrote_ = true;
      last_activity_ = clock::now();
      continue;
    }
    if (r.what == transport::io::want_read || r.what == transport::io::want_write) return;
    // A peer that refuses a body may have answered before it closed, so continue reading.
    write_failed_ = true;
  }
  if (phase_ == phase::tunnel) return;
  const bool may_resend =
      (connection_->reused && safe_to_resend() && !retried_) || (request_.flags & RY_CLIENT_FOLLOW_REDIRECTS);
  if (sent_ == out_.size() && !may_resend) {
    give_back(out_);
    sent_ = 0;
    give_back(request_.body);
    give_back(request_.headers);
  }
}

// Waits for readability unless the receiver paused, and for writability while bytes are unsent.
void exchange::arm() {
  auto wake = [this](bool exchange::*flag) {
    this->*flag = true;
    return [self = shared_from_this(), turn = turn_, flag](const boost::system::error_code& ec) {
      if (self->turn_ != turn) return;
      (*self).*flag = false;
      if (!ec) self->pump();
    };
  };
  if (!paused_ && !reading_) {
    // Already decrypted bytes do not make the socket readable.
    if (connection_->io.buffered())
      loop_.loop.post([f = wake(&exchange::reading_)] { f({}); });
    else
      connection_->io.wait_read(wake(&exchange::reading_));
  }
  if (sent_ < out_.size() && !write_failed_ && !writing_) connection_->io.wait_write(wake(&exchange::writing_));
}

void exchange::pump() {
  const auto keep = shared_from_this();
  const auto turn = turn_;
  if (sent_ < out_.size() && !write_failed_) write_some();
  auto& buffer = loop_.buffer;
  if (buffer.empty()) buffer.resize(buffer_size);
  for (int i = 0; i < max_reads && !paused_; ++i) {
    const auto r = connection_->io.read(buffer);
    if (r.what == transport::io::eof) return ended(true, {});
    if (r.what == transport::io::failed) return ended(false, connection_->io.problem());
    if (r.what != transport::io::ok) break;
    received({buffer.data(), r.n});
    if (turn_ != turn) return;
    if (r.n < buffer.size()) break;
  }
  arm();
}

void exchange::received(std::span<char> data) {
  last_activity_ = clock::now();
  if (phase_ == phase::tunnel) return tunnel_answered(data);
  const auto turn = turn_;
  response_reader::piece piece;
  const auto outcome = reader_.feed(data, piece);
  if (piece.head) {
    take_head();
    if (turn_ != turn) return;
  }
  if (!piece.body.empty()) {
    deliver(piece.body);
    if (turn_ != turn) return;
  }
  if (outcome == response_reader::outcome::malformed)
    return fail(RY_DATA_LOSS, "http_client.malformed", std::string(reader_.problem()));
  if (outcome == response_reader::outcome::done) complete(piece.unused);
}

void exchange::take_head() {
  auto& head = reader_.head();
  if (via_ && !tunnels() && head.status == 407)
    return fail(RY_PERMISSION_DENIED, "http_client.proxy",
                "the proxy " + via_->authority + " rejected or requires credentials (HTTP 407)");
  if (is_redirect(head.status) && begin_redirect(head.find("location"))) return;
  redirect_ = redirect::none;
  std::vector<ry_header> fields;
  fields.reserve(head.fields.size());
  for (const auto& f : head.fields) fields.push_back({core::view(head.name(f)), core::view(head.value(f))});
  const auto url = std::get<target>(request_.to).url();
  const ry_client_response response{
      sizeof(ry_client_response),   head.status, fields.data(), fields.size(), core::view(url),
      core::view(connection_->peer)};
  request_.span.set("http.response.status_code", std::int64_t{head.status});
  if (head.status >= 400) request_.span.fail(std::to_string(head.status));
  const observe::trace_scope scope(request_.trace);
  if (handler_.on_head) module::invoke(hold_.get(), "http_client.on_head", handler_.on_head, ctx_, &response);
  give_back(head.text);
  give_back(head.fields);
  if (sent_ == out_.size() || write_failed_) {
    give_back(out_);
    sent_ = 0;
    give_back(request_.body);
  }
}

bool exchange::begin_redirect(std::string_view location) {
  if (!(request_.flags & RY_CLIENT_FOLLOW_REDIRECTS) || location.empty()) return false;
  if (redirects_ >= max_redirects) return false;
  const auto status = reader_.head().status;
  const bool plain = request_.method == "GET" || request_.method == "HEAD";
  if (!plain && status != 307 && status != 308) return false;
  const auto& from = std::get<target>(request_.to);
  auto to = resolve_location(from, location);
  if (!std::holds_alternative<target>(to) || !same_host(from, std::get<target>(to))) return false;
  next_ = std::move(std::get<target>(to));
  redirect_ = redirect::draining;
  ++redirects_;
  return true;
}

void exchange::deliver(std::string_view body) {
  received_ += body.size();
  if (redirect_ == redirect::draining) {
    if (received_ > max_redirect_body) {
      drop_connection();
      follow();
    }
    return;
  }
  if (received_ > request_.max_response)
    return fail(RY_RESOURCE_EXHAUSTED, "http_client.too_large", "the response is too large");
  if (!handler_.on_data) return;
  const observe::trace_scope scope(request_.trace);
  const auto st = module::invoke(hold_.get(), "http_client.on_data", handler_.on_data, ctx_, core::bytes(body));
  if (st == RY_RESOURCE_EXHAUSTED)
    paused_ = true;
  else if (st != RY_OK)
    fail(st, "", "");
}

void exchange::complete(std::size_t unused) {
  const bool keep = reader_.head().keep_alive && unused == 0 && sent_ == out_.size() && !write_failed_ &&
                    !(request_.flags & closes_connection);
  if (!keep) {
    drop_connection();
  } else {
    if (reading_ || writing_) connection_->io.cancel_waits();
    ++turn_;
    reading_ = writing_ = false;
    loop_.keep(pool_name_, std::move(connection_));
  }
  if (redirect_ == redirect::draining) return follow();
  answered_ = true;
  if (!paused_) finish({RY_OK, {}, {}, {}, 0, 0});
}

void exchange::follow() {
  redirect_ = redirect::none;
  received_ = 0;
  out_.clear();
  request_.to = std::move(next_);
  begin();
}

void exchange::ended(bool orderly, const std::string& problem) {
  const auto& to = std::get<target>(request_.to);
  if (phase_ == phase::tunnel)
    return fail(RY_UNAVAILABLE, "http_client.proxy",
                "the proxy " + via_->authority + " closed the connection without a response" +
                    (problem.empty() ? "" : ": " + problem));
  if (!reader_.started()) {
    if (retry()) return;
    return fail(RY_UNAVAILABLE, "http_client.reset",
                to.authority + " closed the connection without a response" + (problem.empty() ? "" : ": " + problem));
  }
  if (orderly && reader_.eof() == response_reader::outcome::done) return complete(0);
  if (orderly) return fail(RY_DATA_LOSS, "http_client.truncated", "the response of " + to.authority + " was truncated");
  fail(RY_UNAVAILABLE, "http_client.reset", "the connection to " + to.authority + " broke: " + problem);
}

bool exchange::retry() {
  if (!connection_->reused || retried_) return false;
  if (!safe_to_resend() && wrote_) return false;
  retried_ = true;
  parts_.stats.retries.fetch_add(1, std::memory_order_relaxed);
  drop_connection();
  begin();
  return true;
}

void exchange::drop_connection() {
  ++turn_;
  reading_ = writing_ = false;
  connection_.reset();
}

void exchange::resume() {
  if (!paused_ || phase_ == phase::done) return;
  paused_ = false;
  last_activity_ = clock::now();
  if (answered_) return finish({RY_OK, {}, {}, {}, 0, 0});
  arm_timer();
  arm();
}

void exchange::cancel() {
  cancelled_ = true;
  if (started_) fail(RY_CANCELLED, "http_client.cancelled", "the request was cancelled");
}

void exchange::abandon() {
  phase_ = phase::done;
  ++turn_;
  if (connector_) connector_->cancel();
  connector_.reset();
  connection_.reset();
  timer_.reset();
  forget_ = nullptr;
  hold_ = module::hold();
}

// ---- deadlines

void exchange::enter(phase p) {
  phase_ = p;
  phase_began_ = last_activity_ = clock::now();
  arm_timer();
}

std::optional<exchange::clock::time_point> exchange::due() const {
  std::optional<clock::time_point> at;
  if (request_.total_timeout.count() > 0) at = began_ + request_.total_timeout;
  const auto also = [&at](clock::time_point t) {
    if (!at || t < *at) at = t;
  };
  if (phase_ == phase::connecting || phase_ == phase::tunnel || phase_ == phase::handshake)
    also(phase_began_ + request_.connect_timeout);
  else if (!paused_)
    also(last_activity_ + request_.idle_timeout);
  return at;
}

// Rearms the timer only if it would fire too late. Activity only moves the deadline, and a timer that fires early
// checks it again.
void exchange::arm_timer() {
  const auto at = due();
  if (!at || (timer_at_ && *timer_at_ <= *at)) return;
  if (!timer_) timer_.emplace(loop_.loop.ctx);
  timer_at_ = at;
  timer_->expires_at(*at);
  timer_->async_wait([weak = weak_from_this(), turn = ++timer_turn_](const boost::system::error_code& ec) {
    const auto self = weak.lock();
    if (ec || !self || self->timer_turn_ != turn || self->phase_ == phase::done) return;
    self->timer_at_.reset();
    self->timed_out();
  });
}

void exchange::timed_out() {
  const auto now = clock::now();
  const auto at = due();
  if (!at || *at > now) return arm_timer();
  if (request_.total_timeout.count() > 0 && began_ + request_.total_timeout <= now)
    return fail(RY_DEADLINE_EXCEEDED, "http_client.total_timeout", "the response was not complete in time");
  if (phase_ == phase::active)
    return fail(RY_DEADLINE_EXCEEDED, "http_client.idle_timeout", "the server sent nothing for too long");
  fail(RY_DEADLINE_EXCEEDED, "http_client.connect_timeout",
       "no connection to " + std::get<target>(request_.to).authority +
           (via_ ? " through the proxy " + via_->authority : "") + " was opened in time");
}

// ---- ends

void exchange::fail(ry_status st, const char* reason, std::string message) {
  finish({st, reason, std::move(message), {}, 0, 0});
}

void exchange::finish(core::error err) {
  if (phase_ == phase::done) return;
  const auto keep = shared_from_this();
  phase_ = phase::done;
  drop_connection();
  if (connector_) connector_->cancel();
  connector_.reset();
  timer_.reset();
  if (err.status != RY_OK) parts_.stats.failed.fetch_add(1, std::memory_order_relaxed);
  parts_.stats.active.fetch_sub(1, std::memory_order_relaxed);
  loop_.running.erase(position_);
  forget_();
  forget_ = nullptr;
  const auto view = err.view();
  if (err.status != RY_OK) request_.span.fail(err.reason.empty() ? "refused_by_receiver" : err.reason);
  request_.span.end();
  const observe::trace_scope scope(request_.trace);
  module::invoke(hold_.get(), "http_client.on_done", handler_.on_done, ctx_, err.status,
                 err.status == RY_OK ? static_cast<const ry_error_view*>(nullptr) : &view);
  hold_ = module::hold();
}

}  // namespace ry::http
