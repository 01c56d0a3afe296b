#include "event_reader.hpp"

#include <charconv>

namespace mcp_transport {

bool event_reader::feed(std::string_view bytes, const event_fn& event) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  while (!bytes.empty()) {
    const auto end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      line_.append(bytes);
      return line_.size() + data_.size() <= max_event_;
    }
    line_.append(bytes.substr(0, end));
    const bool cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (cr) {
      if (bytes.empty()) {
        after_cr_ = true;
      } else if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
      }
    }
    std::string whole;
    whole.swap(line_);
    std::string_view text = whole;
    if (first_ && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    first_ = false;
    line(text, event);
    if (data_.size() > max_event_) return false;
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
    // An event with empty data only tells its id.
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
    if (value.find('\0') == std::string_view::npos && value.size() <= 4096) last_id_ = value;
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
  has_data_ = after_cr_ = false;
  first_ = true;
}

}  // namespace mcp_transport
