#include "core/http/client/connector.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

namespace ry::http {

namespace {

// Alternates IPv4 and IPv6, so that a broken family costs one attempt, not all of them (RFC 8305).
std::vector<boost::asio::ip::address> interleave(std::vector<boost::asio::ip::address> in, std::size_t max) {
  std::vector<boost::asio::ip::address> first, second, out;
  for (const auto& a : in) (a.is_v4() == in.front().is_v4() ? first : second).push_back(a);
  for (std::size_t i = 0; out.size() < in.size(); ++i) {
    if (i < first.size()) out.push_back(first[i]);
    if (i < second.size()) out.push_back(second[i]);
  }
  if (out.size() > max) out.resize(max);
  return out;
}

}  // namespace

connector::connector(boost::asio::io_context& ctx, std::vector<boost::asio::ip::address> addresses, std::uint16_t port,
                     done_fn done)
    : ctx_(ctx),
      addresses_(interleave(std::move(addresses), max_addresses)),
      sockets_(addresses_.size()),
      port_(port),
      timer_(std::in_place, ctx),
      done_(std::move(done)) {}

void connector::start() {
  next();
}

void connector::next() {
  const std::size_t i = tried_++;
  boost::system::error_code ec;
  auto& socket = sockets_[i].emplace(ctx_);
  const boost::asio::ip::tcp::endpoint to(addresses_[i], port_);
  socket.open(to.protocol(), ec);
  if (ec) {
    boost::asio::post(ctx_, [self = shared_from_this(), i, ec] { self->connected(i, ec); });
  } else {
    socket.async_connect(to,
                         [self = shared_from_this(), i](const boost::system::error_code& e) { self->connected(i, e); });
  }
  if (tried_ == addresses_.size()) return;
  timer_->expires_after(stagger);
  timer_->async_wait([self = shared_from_this(), n = tried_](const boost::system::error_code& e) {
    if (!e && self->done_ && self->tried_ == n) self->next();
  });
}

void connector::connected(std::size_t i, const boost::system::error_code& ec) {
  if (!done_) return;
  if (!ec) return finish(std::move(sockets_[i]), i);
  sockets_[i].reset();
  problem_ = ec.message();
  if (++failed_ == addresses_.size()) return finish(std::nullopt, i);
  if (failed_ == tried_) next();
}

void connector::finish(std::optional<loop_socket> socket, std::size_t i) {
  const auto done = std::move(done_);
  cancel();
  done(std::move(socket), addresses_[i], problem_);
}

void connector::cancel() {
  done_ = nullptr;
  timer_.reset();
  for (auto& s : sockets_) s.reset();
}

}  // namespace ry::http
