#include "stream/remote_event_buffer.hpp"

#include <utility>

#include "stream/event_text.hpp"

namespace runs {

bool remote_event_buffer::add(std::string_view wire, std::uint64_t last) {
  const std::uint64_t first = sequence_of(wire);
  if (first == 0 || last < first) return false;
  std::uint64_t at = first;
  bool ends = false;
  for (std::string_view rest = wire; !rest.empty(); ++at) {
    const event_view e = next_event(rest);
    if (e.sequence != at) return false;
    ends = is_terminal(e.payload);
  }
  if (at != last + 1) return false;
  if (last_ != 0 && last <= last_) return true;
  const bool continues = last_ != 0 && first <= last_ + 1 && wire_.size() + wire.size() <= max_bytes;
  if (continues) {
    wire_ += text_from(wire, last_ + 1);
  } else {
    wire_ = wire.size() <= max_bytes ? wire : std::string_view();
    first_ = first;
  }
  last_ = wire_.empty() ? 0 : last;
  ends_run_ = ends;
  return true;
}

remote_event_buffer::text remote_event_buffer::take(std::uint64_t next) {
  text out;
  if (last_ == 0 || next < first_) return out;
  if (next <= last_) {
    out.wire = next == first_ ? std::move(wire_) : std::string(text_from(wire_, next));
    out.last = last_;
    out.ends_run = ends_run_;
  }
  wire_.clear();
  first_ = last_ = 0;
  return out;
}

}  // namespace runs
