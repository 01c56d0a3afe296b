// Splits a text/event-stream into events (WHATWG HTML, "Server-sent events"). Pure: bytes in, events out; the result
// does not depend on how the bytes are split.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ry::app::client {

struct sse_event {
  std::string id;  // the last id so far, possibly of an earlier event
  std::string data;  // never empty
};

class sse_reader {
 public:
  static constexpr std::size_t max_event = 64 * 1024 * 1024;

  // Returns false if an event is larger than max_event; the reader must not be used afterwards.
  bool feed(std::string_view bytes, const std::function<void(const sse_event&)>& on_event);
  // Prepares for a new connection: discards a partial event, keeps the last id.
  void reconnect();

  const std::string& last_id() const noexcept { return last_id_; }
  // The reconnection time requested by the server; -1: none.
  int retry_ms() const noexcept { return retry_ms_; }

 private:
  void line(std::string_view text, const std::function<void(const sse_event&)>& on_event);

  std::string partial_, data_, last_id_, next_id_;
  bool after_cr_ = false, has_data_ = false, first_line_ = true;
  int retry_ms_ = -1;
};

}  // namespace ry::app::client
