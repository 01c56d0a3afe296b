#include "core/app/client/sse_reader.hpp"

#include <charconv>

namespace ry::app::client {

bool sse_reader::feed(std::string_view bytes, const std::function<void(const sse_event&)>& on_event) {
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const auto end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      if (partial_.size() + data_.size() + bytes.size() > max_event) return false;
      partial_ += bytes;
      return true;
    }
    after_cr_ = bytes[end] == '\r';
    if (partial_.size() + data_.size() + end > max_event) return false;
    if (partial_.empty()) {
      line(bytes.substr(0, end), on_event);
    } else {
      partial_ += bytes.substr(0, end);
      std::string whole;
      whole.swap(partial_);
      line(whole, on_event);
    }
    bytes.remove_prefix(end + 1);
  }
  return true;
}

void sse_reader::reconnect() {
  partial_.clear();
  data_.clear();
  next_id_ = last_id_;
  after_cr_ = has_data_ = false;
  first_line_ = true;
}

void sse_reader::line(std::string_view text, const std::function<void(const sse_event&)>& on_event) {
  if (first_line_) {
    first_line_ = false;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  }
  if (text.empty()) {
    last_id_ = next_id_;
    if (has_data_ && !data_.empty()) on_event({last_id_, data_});
    data_.clear();
    has_data_ = false;
    return;
  }
  const auto colon = text.find(':');
  if (colon == 0) return;  // a comment
  const auto name = text.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) next_id_ = value;
  } else if (name == "retry") {
    int ms = 0;
    const auto r = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (r.ec == std::errc{} && r.ptr == value.data() + value.size() && ms >= 0) retry_ms_ = ms;
  }
}

}  // namespace ry::app::client
