#include "event_reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcp_transport {

bool event_reader::feed(std::string_view bytes, const event_fn& event) {
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

void event_reader::line(std::string_view text, const event_fn& event) {
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

void event_reader::field(std::string_view name, std::string_view value) {
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

void event_reader::restart() {
  line_.clear();
  name_.clear();
  data_.clear();
  id_.reset();
  has_data_ = after_cr_ = false;
  first_ = true;
}

}  // namespace mcp_transport
