// Splits a text/event-stream into events (WHATWG HTML, "Server-sent events"). Pure: bytes in,
// events out; any cutting of the bytes gives the same events.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ry::app::client {

struct sse_event {
  std::string id;    // the last id seen so far, also by an earlier event
  std::string data;  // never empty
};

class sse_reader {
 public:
  static constexpr std::size_t max_event = 64 * 1024 * 1024;

  // Returns false when an event is larger than max_event; the reader is of no use then.
  bool feed(std::string_view bytes, const std::function<void(const sse_event&)>& on_event);
  // A new connection: what was half read is forgotten, the last id is kept.
  void reconnect();

  const std::string& last_id() const noexcept { return last_id_; }
  // The server's wish for the pause before a reconnect; -1: none.
  int retry_ms() const noexcept { return retry_ms_; }

 private:
  void line(std::string_view text, const std::function<void(const sse_event&)>& on_event);

  std::string partial_, data_, last_id_, next_id_;
  bool after_cr_ = false, has_data_ = false, first_line_ = true;
  int retry_ms_ = -1;
};

}  // namespace ry::app::client
