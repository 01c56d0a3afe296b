// Progress notifications, and the ids of events of a stream, from which any node can resume it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json_rpc.hpp"

namespace mcp_server {

// The text of a progress notification for an event of a run; nullopt: the event is not reported to clients.
std::optional<std::string> progress_text(const json::object& event);

// Values of progress notifications. They are derived from the event numbers, so they also increase after a resume.
class progress_counter {
 public:
  explicit progress_counter(std::uint64_t sequence) : last_(sequence * step) {}
  std::uint64_t at(std::uint64_t sequence) noexcept { return last_ = std::max(sequence * step, last_ + 1); }
  // Without a new event.
  std::uint64_t next() noexcept { return ++last_; }

 private:
  static constexpr std::uint64_t step = 100;
  std::uint64_t last_;
};

json::object progress_notification(const json::value& token, std::uint64_t value, std::string_view text);

// The request that a stream belongs to, and the last event of the run that the client knows. Its text is the id of the
// stream's events. It is not secret and not signed: runs/1 only delivers events of the caller's own runs.
struct stream_position {
  bool task_result = false;  // the request is tasks/result
  std::string run_id;
  std::uint64_t sequence = 0;
  json::value request_id{};
  json::value progress_token{};
  std::string text() const;
};
std::optional<stream_position> parse_stream_position(std::string_view text);

}  // namespace mcp_server
