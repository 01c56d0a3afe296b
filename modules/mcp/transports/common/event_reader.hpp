// Reads server-sent events from bytes as they come, with their ids and the server's wish about
// reconnecting. Without I/O; hostile input costs bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mcp_transport {

class event_reader {
 public:
  // event(name, data): name is empty when the event had none; not called for events without data.
  using event_fn = std::function<void(std::string_view name, std::string_view data)>;
  explicit event_reader(std::size_t max_event) : max_event_(max_event) {}

  // False when an event is larger than the limit; feed nothing more then.
  bool feed(std::string_view bytes, const event_fn& event);

  // Of the last event that was read to its end and had one.
  const std::string& last_id() const noexcept { return last_id_; }
  std::optional<std::uint64_t> retry_ms() const noexcept { return retry_ms_; }
  // A new stream begins: what was incomplete is dropped, the last id stays.
  void restart();

 private:
  void line(std::string_view text, const event_fn& event);
  void field(std::string_view name, std::string_view value);

  std::size_t max_event_;
  std::string line_, name_, data_, last_id_;
  std::optional<std::string> id_;  // of the event that is being read
  bool has_data_ = false, after_cr_ = false, first_ = true;
  std::optional<std::uint64_t> retry_ms_;
};

}  // namespace mcp_transport
