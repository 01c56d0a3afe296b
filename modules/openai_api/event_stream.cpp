#include "event_stream.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

namespace openai_api {
namespace {

constexpr std::uint64_t keepalive_ms = 10'000;
// Far below the limit of the connection's queue: an event with a complete response may exceed that limit, so it is sent
// in pieces.
constexpr std::size_t piece_bytes = 64 << 10;

}  // namespace

event_stream::event_stream(const ry::request& r) : sse_(r.open_sse()) {
  (void)sse_.raw().keepalive(keepalive_ms, ": keep-alive\n\n");
}

void event_stream::add(const boost::json::object& event, std::string_view name) {
  pending_ += ry::sse::format(boost::json::serialize(event), {}, name);
}

void event_stream::add_done() {
  pending_ += ry::sse::format("[DONE]");
}

ry::task<bool> event_stream::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, piece_bytes);
    if (sse_.raw().write(piece) != RY_OK) co_return false;
    rest.remove_prefix(piece.size());
    ry::result<void> ready = co_await sse_.ready();
    if (!ready) co_return false;
  }
  pending_.clear();
  co_return true;
}

}  // namespace openai_api
