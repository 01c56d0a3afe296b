// Incremental parser of server-sent events, with their ids and the server's reconnection time. Without I/O; hostile
// input costs bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mcp_transport {

class event_reader {
 public:
  // event(name, data): name is empty if the event has none. Not called for events without data.
  using event_fn = std::function<void(std::string_view name, std::string_view data)>;
  explicit event_reader(std::size_t max_event) : max_event_(max_event) {}

  // False if an event exceeds the limit; feed nothing more then.
  bool feed(std::string_view bytes, const event_fn& event);

  // The id of the last complete event that had one.
  const std::string& last_id() const noexcept { return last_id_; }
  std::optional<std::uint64_t> retry_ms() const noexcept { return retry_ms_; }
  // Starts a new stream: drops an incomplete event and keeps the last id.
  void restart();

 private:
  void line(std::string_view text, const event_fn& event);
  void field(std::string_view name, std::string_view value);

  std::size_t max_event_;
  std::string line_, name_, data_, last_id_;
  std::optional<std::string> id_;  // of the current event
  bool has_data_ = false, after_cr_ = false, first_ = true;
  std::optional<std::uint64_t> retry_ms_;
};

}  // namespace mcp_transport
