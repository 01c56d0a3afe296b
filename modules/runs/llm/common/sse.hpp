// Incremental parser of server-sent events. Sans-io; limits memory for hostile input. Beyond the standard: a field
// "error:", as llama-server writes it, is the data of an event "error", and a line of bare JSON is data. Does not use
// ry/cpp/sse_parser.hpp, because it runs for every token of a model: it copies nothing and calls no std::function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llm {

class sse_reader {
 public:
  explicit sse_reader(std::size_t max_event = 16 * 1024 * 1024) : max_event_(max_event) {}

  // Calls event(name, data) for each complete event with data. The views are valid during the call and point into
  // `bytes` where possible. If `event` returns false, the rest of `bytes` is dropped. Returns false if an event exceeds
  // the limit; do not call feed() again then.
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
        return fits(line_);
      }
      std::string_view line = bytes.substr(0, end);
      if (!line_.empty()) {
        line_.append(line);
        line = line_;
      }
      // Applies the same limit as to a line that arrives in parts.
      if (!fits(line)) return false;
      line = without_bom(line);
      bytes.remove_prefix(end);
      drop_line_end(bytes);
      bool proceed = true;
      if (data_count_ == 0 && line.starts_with("data:") && !bytes.empty() && (bytes[0] == '\n' || bytes[0] == '\r')) {
        // Fast path: the data of an event is nearly always one line, and its end is already here.
        drop_line_end(bytes);
        ++count_;
        proceed = event(std::string_view(name_), value_of(line, 5));
        name_.clear();
      } else if (!line.empty()) {
        read_field(line);
      } else {
        proceed = end_event(event);
      }
      line_.clear();
      if (!proceed) return true;
    }
    return true;
  }

  // End of the stream: delivers an event whose terminator is missing.
  template <class F>
  void finish(F&& event) {
    if (!line_.empty()) read_field(without_bom(line_));
    line_.clear();
    (void)end_event([&](std::string_view name, std::string_view data) {
      event(name, data);
      return true;
    });
  }
  std::size_t count() const { return count_; }  // events with data so far

 private:
  template <class F>
  bool end_event(F&& event) {
    bool proceed = true;
    if (data_count_ > 0) {
      ++count_;
      proceed = event(std::string_view(name_), std::string_view(data_));
    }
    name_.clear();
    data_.clear();
    data_count_ = 0;
    return proceed;
  }
  // Includes the line feed that would join the line to earlier data.
  bool fits(std::string_view line) const { return line.size() + data_.size() + (data_count_ > 0) <= max_event_; }
  // A stream may begin with a byte order mark.
  std::string_view without_bom(std::string_view line) {
    if (first_line_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    first_line_ = false;
    return line;
  }
  static std::string_view value_of(std::string_view line, std::size_t colon_end) {
    line.remove_prefix(colon_end);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  // Two searches for one byte each are much faster than one for either.
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
  void read_field(std::string_view line);

  std::size_t max_event_;
  std::string line_;  // incomplete line of the previous call
  std::string name_, data_;
  std::size_t data_count_ = 0, count_ = 0;
  bool first_line_ = true;
  bool split_end_ = false;  // the previous input ended in CR: a following LF belongs to it
};

}  // namespace llm
