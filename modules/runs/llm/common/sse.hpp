// Reads server-sent events from bytes as they come. Sans-io; hostile input costs bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llm {

class sse_reader {
 public:
  explicit sse_reader(std::size_t max_event = 16 * 1024 * 1024) : max_event_(max_event) {}

  // Calls event(name, data) for each complete event with data; the views are valid during the call
  // and point into `bytes` where that is possible. `event` returns false to stop: the rest of
  // `bytes` is dropped. Returns false when an event is larger than the limit; feed nothing more
  // then.
  template <class F>
  bool feed(std::string_view bytes, F&& event) {
    if (split_end_ && !bytes.empty()) {
      split_end_ = false;
      if (bytes.front() == '\n') bytes.remove_prefix(1);
    }
    while (!bytes.empty()) {
      const auto end = line_end(bytes);
      if (end == std::string_view::npos) {
        line_.append(bytes);
        return line_.size() <= max_event_;
      }
      std::string_view line = bytes.substr(0, end);
      if (!line_.empty()) {
        line_.append(line);
        line = line_;
      }
      bytes.remove_prefix(end);
      drop_line_end(bytes);
      bool go_on = true;
      if (data_count_ == 0 && line.starts_with("data:") && !bytes.empty() &&
          (bytes[0] == '\n' || bytes[0] == '\r')) {
        // The data of an event is nearly always one line, and its end is here already.
        drop_line_end(bytes);
        go_on = event(std::string_view(name_), value_of(line, 5));
        name_.clear();
      } else if (!line.empty()) {
        take_field(line);
        if (data_.size() > max_event_) return false;
      } else {
        if (data_count_ > 0) go_on = event(std::string_view(name_), std::string_view(data_));
        name_.clear();
        data_.clear();
        data_count_ = 0;
      }
      line_.clear();
      if (!go_on) return true;
    }
    return true;
  }

 private:
  static std::string_view value_of(std::string_view line, std::size_t colon_end) {
    line.remove_prefix(colon_end);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  // Two searches for one byte are far quicker than one for either.
  static std::size_t line_end(std::string_view bytes) {
    const auto lf = bytes.find('\n');
    const auto cr = bytes.substr(0, lf).find('\r');
    return cr == std::string_view::npos ? lf : cr;
  }
  void drop_line_end(std::string_view& bytes) {
    const bool cr = bytes[0] == '\r';
    bytes.remove_prefix(1);
    if (!cr) return;
    if (bytes.empty())
      split_end_ = true;
    else if (bytes[0] == '\n')
      bytes.remove_prefix(1);
  }
  void take_field(std::string_view line);

  std::size_t max_event_;
  std::string line_;  // of the piece before
  std::string name_, data_;
  std::size_t data_count_ = 0;
  bool split_end_ = false;  // the last piece ended in CR: an LF that follows belongs to it
};

}  // namespace llm
