#include "stream/subscriber.hpp"

namespace runs {

void stream_sink::ping() {
  to_.write(ping_event);
}

void stream_sink::close(ending how) {
  if (how == ending::draining) to_.write(draining_event);
  to_.close();
}

ry_status subscriber::write(std::string_view bytes) {
  if (bytes.empty()) return RY_OK;
  bytes_ += bytes.size();
  ++pieces_;
  silent_ = false;
  return to.write(bytes);
}

ry_status subscriber::put(std::string_view wire, std::uint64_t last) {
  events_.add(static_cast<double>(last + 1 - next));
  next = last + 1;
  if (!merger_) return write(wire);
  std::string out;
  merger_->add(wire, out);
  return write(out);
}

ry_status subscriber::put(const ry::buffer& shared, std::size_t size, std::uint64_t last) {
  events_.add(static_cast<double>(last + 1 - next));
  next = last + 1;
  bytes_ += size;
  ++pieces_;
  silent_ = false;
  return to.write(shared);
}

ry_status subscriber::flush() {
  if (!pending()) return RY_OK;
  std::string out;
  merger_->flush(out);
  return write(out);
}

ry::task<bool> subscriber::confirm() {
  const std::size_t bytes = bytes_, pieces = pieces_;
  const bool ready = co_await to.ready();
  if (!ready) co_return false;
  // Bytes written meanwhile may still be queued.
  bytes_ -= bytes;
  pieces_ -= pieces;
  co_return true;
}

ry::task<bool> subscriber::put_all(std::string_view wire, std::uint64_t last) {
  std::string merged;
  if (merger_) {
    merger_->add(wire, merged);
    wire = merged;
  }
  while (!wire.empty()) {
    const std::string_view piece = wire.substr(0, max_bytes / 2);
    if (!has_room(piece.size()) || should_confirm()) {
      const bool confirmed = co_await confirm();
      if (!confirmed) co_return false;
    }
    whole_ = piece.size() == wire.size();
    if (write(piece) != RY_OK) co_return false;
    wire.remove_prefix(piece.size());
  }
  next = last + 1;
  co_return true;
}

}  // namespace runs
