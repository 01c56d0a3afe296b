// Incremental parser of server-sent events (WHATWG HTML), with their ids and the server's reconnection time. Pure: the
// result does not depend on how the bytes are split, and hostile input uses bounded memory.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ry {

class sse_parser {
 public:
  // event(name, data): name is empty if the event has none. Not called for events without data.
  using event_fn = std::function<void(std::string_view name, std::string_view data)>;
  explicit sse_parser(std::size_t max_event) : max_event_(max_event) {}

  // Returns false if an event exceeds the limit; do not call feed() again then.
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

inline bool sse_parser::feed(std::string_view bytes, const event_fn& event) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  // Searched once, even if many lines end with a carriage return before it.
  std::size_t newline = bytes.find('\n');
  for (std::size_t at = 0; at < bytes.size();) {
    if (newline < at) newline = bytes.find('\n', at);
    const auto rest = bytes.substr(at);
    const auto cr = rest.substr(0, newline == std::string_view::npos ? newline : newline - at).find('\r');
    const auto end = cr != std::string_view::npos ? at + cr : newline;
    if (end == std::string_view::npos) {
      line_.append(rest);
      return line_.size() + data_.size() <= max_event_;
    }
    std::string joined;
    auto text = bytes.substr(at, end - at);
    if (!line_.empty()) {
      line_.append(text);
      joined.swap(line_);
      text = joined;
    }
    // The same limit as for a line that arrives in parts.
    if (text.size() + data_.size() > max_event_) return false;
    at = end + 1;
    if (bytes[end] == '\r') {
      if (at == bytes.size()) {
        after_cr_ = true;
      } else if (bytes[at] == '\n') {
        ++at;
      }
    }
    if (first_ && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    first_ = false;
    line(text, event);
  }
  return true;
}

inline void sse_parser::line(std::string_view text, const event_fn& event) {
  if (text.empty()) {
    std::string name, data;
    name.swap(name_);
    data.swap(data_);
    const bool complete = has_data_;
    has_data_ = false;
    if (id_) last_id_ = std::move(*std::exchange(id_, std::nullopt));
    // An event with empty data only sets the id.
    if (complete && !data.empty()) event(name, data);
    return;
  }
  const auto colon = text.find(':');
  if (colon == 0) return;
  auto value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  field(text.substr(0, colon), value);
}

inline void sse_parser::field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "event") {
    name_ = value.substr(0, 256);
  } else if (name == "id") {
    // Accept only ids that can be sent in a header.
    const bool sendable = std::none_of(value.begin(), value.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
    if (sendable && value.size() <= 4096) id_ = value;
  } else if (name == "retry") {
    std::uint64_t ms = 0;
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (ec == std::errc() && end == value.data() + value.size()) retry_ms_ = ms;
  }
}

inline void sse_parser::restart() {
  line_.clear();
  name_.clear();
  data_.clear();
  id_.reset();
  has_data_ = after_cr_ = false;
  first_ = true;
}

}  // namespace ry
